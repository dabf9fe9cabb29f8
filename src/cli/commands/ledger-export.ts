/** `lockstep ledger export`: runs and their rows as NDJSON, for an archive or another program. */
import path from 'node:path';
import type { Command } from '../command.ts';
import { plural } from '../../base/counts.ts';
import { sentenceFor } from '../../base/reasons/reasons.ts';
import { allRuns, history } from '../../engine/ledger/retention/archive.ts';
import { reportRows } from '../../engine/ledger/views/row-pages.ts';
import { hintsFor } from '../../operator/hints.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { exportLines, FORCE, type Replacing, TO_STDOUT } from '../export-file.ts';
import type { Perform, Session } from '../session.ts';
import { toTime } from './arguments.ts';

interface ExportOptions extends Replacing {
  readonly out: string;
  readonly since?: Date;
}

export function addLedgerExport(ledger: Command, perform: Perform): void {
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
  const count = await exportLines(session, target, linesOf(pool, session, since), { force });
  const isFile = target !== TO_STDOUT;
  if (isFile) out.say(`Wrote ${plural(count, 'line')} to ${target}.`);
  out.result({ lines: count, file: isFile ? path.resolve(session.cwd, target) : null });
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
