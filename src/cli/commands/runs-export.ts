/** `lockstep runs export`: a run's rows as CSV, for a spreadsheet or another program. */
import { plural } from '../../base/counts.ts';
import { VERDICTS, type Verdict } from '../../engine/ledger/rows.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { prunedNote } from '../../operator/format.ts';
import { EXPORT_TITLES, exportedLines, titled } from '../../operator/row-export.ts';
import type { Command } from '../command.ts';
import { exportLines, FORCE, type Replacing, TO_STDOUT } from '../export-file.ts';
import type { Perform, Session } from '../session.ts';

interface ExportOptions extends Replacing {
  readonly verdict?: Verdict;
  readonly out: string;
}

export function addExport(runs: Command, perform: Perform): void {
  runs
    .command('export')
    .summary('write the rows of a run as CSV')
    .description(
      `Writes all rows of a run, or the rows of one verdict, as CSV with the columns ${EXPORT_TITLES.join(', ')}. Contacts and ` +
        'tasks that have not changed are counted, and have no row. Cells that a spreadsheet would execute as formulas get ' +
        'an apostrophe in front.',
    )
    .argument('<run>', 'id of the run')
    .choice(
      '--verdict <verdict>',
      'only rows of this verdict; unknown: rows that have no verdict yet, also those that wait for approval',
      VERDICTS,
    )
    .requiredOption('--out <file>', `where to write; ${TO_STDOUT} is stdout`)
    .option(...FORCE)
    .examples(`
  $ lockstep runs export run-261121-0200-1a2b3c --verdict rejected --out rejected.csv
  $ lockstep runs export run-261121-0200-1a2b3c --out -`)
    .action(perform(exportRows));
}

async function exportRows(session: Session, id: string, { verdict, out: target, force }: ExportOptions): Promise<void> {
  const { out } = session;
  const { pool } = await session.openLedger();
  const run = await readRun(pool, id);
  const lines = exportedLines(pool, run, verdict, session.hint);
  const written = await writeTable(session, target, EXPORT_TITLES, lines, { force });
  if (target !== TO_STDOUT) out.say(...prunedNote(run));
  out.result({ run: id, verdict: verdict ?? null, ...written });
}

/** Writes lines under their titles to a file, or to stdout, and says how many. */
export async function writeTable(
  session: Session,
  target: string,
  titles: readonly string[],
  lines: AsyncIterable<string>,
  how: Replacing,
): Promise<{ readonly rows: number; readonly file: string | null }> {
  const written = await exportLines(session, target, titled(titles, lines), how);
  const rows = written.lines - 1;
  if (written.file !== null) session.out.say(`Wrote ${plural(rows, 'row')} to ${target}.`);
  return { rows, file: written.file };
}
