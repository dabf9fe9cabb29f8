/** `lockstep ledger …`: how much the ledger holds, deleting old data, and exporting runs and rows. */

import { formatCount } from '../../base/counts.ts';
import { ledgerSize, type TableSize } from '../../engine/ledger/retention/size.ts';
import { formatBytes } from '../../operator/format.ts';
import { formatDuration } from '../../settings/durations.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import type { Perform, Session } from '../session.ts';
import { type Pruned, planPrune, prune } from '../workspace/retention.ts';
import { addLedgerExport } from './ledger-export.ts';

export function define(ledger: Command, perform: Perform): void {
  ledger
    .description(
      'Shows how much the ledger holds, deletes data that is older than the settings keep it (`retention`), and exports ' +
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
    .summary('delete data that is older than the settings keep it')
    .description(
      'Deletes data that is older than `retention` in the settings keeps it, as the role worker does every hour. The counts ' +
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
