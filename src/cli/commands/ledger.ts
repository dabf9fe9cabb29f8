/** `lockstep ledger …`: how much the ledger holds, deleting old data, and exporting runs and rows. */
import { formatCount, plural } from '../../base/counts.ts';
import { sentenceFor } from '../../base/reasons/reasons.ts';
import { allRuns, history } from '../../engine/ledger/retention/archive.ts';
import { ledgerSize, type TableSize } from '../../engine/ledger/retention/size.ts';
import { reportRows } from '../../engine/ledger/views/row-pages.ts';
import { formatBytes } from '../../operator/format.ts';
import { hintsFor } from '../../operator/hints.ts';
import { formatDuration } from '../../settings/durations.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Command } from '../command.ts';
import { exportLines, FORCE, type Replacing, TO_STDOUT } from '../export-file.ts';
import type { Perform, Session } from '../session.ts';
import { type Pruned, planPrune, prune } from '../workspace/retention.ts';
import { toTime } from './arguments.ts';

export function define(ledger: Command, perform: Perform): void {
  ledger
    .description(
      'Shows how much the ledger holds, deletes data that is older than `retention` in the settings allows, and exports ' +
        'runs and rows.',
    )
    .examples(`
  $ lockstep ledger size
  $ lockstep ledger export --out ledger.ndjson
  $ lockstep ledger prune --dry-run`);
  ledger
    .command('size')
    .summary('show the rows and bytes of each table')
    .description(
      'Shows the rows and bytes (with indexes) of each table of the ledger that has rows, and the sums by kind.',
    )
    .action(perform(size));
  ledger
    .command('prune')
    .summary('delete data that is older than the settings allow')
    .description(
      'Deletes data that is older than `retention` in the settings allows, as the role worker does every hour. The counts ' +
        'of runs are kept. Links, unfinished runs, rows that wait for a person, unknown outcomes, open audits and loaded ' +
        'files are kept at any age.',
    )
    .option('--dry-run', 'only count what would be deleted')
    .action(perform(pruneNow));
  addLedgerExport(ledger, perform);
}

async function size(session: Session): Promise<void> {
  const { out } = session;
  const { pool } = await session.openLedger();
  const tables = await ledgerSize(pool);
  const kinds = [...new Set(tables.map(({ kind }) => kind))].map((kind) => sumOf(kind, tables));
  const line = ({ kind, table, rows, isEstimate, bytes }: TableSize) => [
    kind,
    table,
    `${isEstimate ? 'about ' : ''}${formatCount(rows)}`,
    formatBytes(bytes),
  ];
  const shown = tables.filter(({ rows }) => rows > 0).map(line);
  out.table(['KIND', 'TABLE', 'ROWS', 'SIZE'], shown, { right: [2, 3], none: 'The ledger is empty.' });
  out.say('');
  const sums = kinds.toSorted((a, b) => b.bytes - a.bytes).map(({ kind, bytes }) => [kind, formatBytes(bytes)]);
  out.table(['KIND', 'SIZE'], [...sums, ['in all', formatBytes(bytesOf(tables))]], { right: [1] });
  out.result({ tables, kinds, bytes: bytesOf(tables) });
}

function sumOf(kind: string, tables: readonly TableSize[]) {
  return { kind, bytes: bytesOf(tables.filter((one) => one.kind === kind)) };
}

function bytesOf(tables: readonly TableSize[]): number {
  return tables.reduce((sum, { bytes }) => sum + bytes, 0);
}

async function pruneNow(session: Session, { dryRun = false }: { readonly dryRun?: boolean }): Promise<void> {
  const { out } = session;
  const settings = await session.settings();
  const signal = session.untilStopped(
    'Finishing the batch in progress, then stopping. What was deleted stays deleted.',
  );
  const { pool } = await session.openLedger();
  const pruned = dryRun ? await planPrune(pool, settings) : await prune(pool, settings, signal);
  const lines = KINDS.map((kind) => [kind, keptFor(settings, kind), formatCount(pruned[kind])]);
  out.table(['KIND', 'KEPT FOR', dryRun ? 'WOULD BE DELETED' : 'DELETED'], lines, { right: [2] });
  out.result({ dryRun, ...pruned });
}

const KINDS = ['rows', 'runs', 'deliveries', 'inbox'] as const satisfies readonly (keyof Pruned)[];

function keptFor({ retention }: Settings, kind: keyof Pruned): string {
  const ms = retention[`${kind}Ms`];
  return ms === undefined ? 'forever' : formatDuration(ms);
}

interface ExportOptions extends Replacing {
  readonly out: string;
  readonly since?: Date;
}

function addLedgerExport(ledger: Command, perform: Perform): void {
  ledger
    .command('export')
    .summary('write runs and rows as NDJSON')
    .description(
      'Writes one JSON object per line: each run with its counts (`"kind": "run"`), after it its rows with verdict and ' +
        'reason (`"kind": "row"`), and at the end the counts of runs that were deleted (`"kind": "history"`).',
    )
    .requiredOption('--out <file>', `where to write; ${TO_STDOUT} is stdout`)
    .option(...FORCE)
    .option('--since <time>', 'only runs that started since then: 2026-11-21, 2026-11-21T02:00Z, or 30d', toTime)
    .examples(`
  $ lockstep ledger export --out ledger.ndjson
  $ lockstep ledger export --since 30d --out - | gzip > last-month.ndjson.gz`)
    .action(perform(exportLedger));
}

async function exportLedger(session: Session, { out: target, since, force }: ExportOptions): Promise<void> {
  const { out } = session;
  const { pool } = await session.openLedger();
  const written = await exportLines(session, target, linesOf(pool, session, since), { force });
  if (written.file !== null) out.say(`Wrote ${plural(written.lines, 'line')} to ${target}.`);
  out.result(written);
}

async function* linesOf(db: Queryable, { hint }: Session, since: Date | undefined): AsyncGenerator<string> {
  for await (const { run, counts } of allRuns(db, since)) {
    const { id, sync, title, type, account, status, dryRun, createdAt, endedAt, calls, errorCode, error } = run;
    const shown = {
      id,
      sync,
      title,
      type,
      job: type, // its former name
      account,
      status,
      dryRun,
      createdAt,
      endedAt,
      calls,
      errorCode,
      error,
      counts,
    };
    yield line('run', shown);
    const hints = hintsFor(hint, run);
    for await (const { facts, ...row } of reportRows(db, id))
      yield line('row', { run: id, ...row, detail: sentenceFor(row.reason, facts, hints) });
  }
  for (const entry of await history(db)) yield line('history', entry);
}

const line = (kind: string, content: object) => `${JSON.stringify({ kind, ...content })}\n`;
