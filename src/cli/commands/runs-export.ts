/** `lockstep runs export`: a run's rows as CSV, for a spreadsheet or another program. */
import path from 'node:path';
import { type Command, Option } from 'commander';
import { type Hints, sentenceFor } from '../../base/reasons/reasons.ts';
import { guarded } from '../../csv/formulas.ts';
import { type ReportedRow, reportRows, VERDICTS, type Verdict } from '../../engine/ledger/rows.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { exportLines, TO_STDOUT } from '../export-file.ts';
import { hintsFor } from '../reasons.ts';
import type { Perform, Session } from '../session.ts';
import { plural, prunedNote } from '../words.ts';
import { withParentOptions } from './arguments.ts';

const TITLES = ['source_id', 'label', 'verdict', 'reason', 'detail', 'record_id', 'action', 'sends'];

interface ExportOptions {
  readonly verdict?: Verdict;
  readonly out: string;
}

export function addExport(runs: Command, perform: Perform): void {
  runs
    .command('export')
    .summary('write the rows of a run as CSV')
    .description(
      `Writes all rows of a run, or the rows of one verdict, as CSV with the columns ${TITLES.join(', ')}. A cell that a ` +
        'spreadsheet would run as a formula, with any list separator, gets an apostrophe in front.',
    )
    .argument('<run>', 'id of the run')
    .addOption(new Option('--verdict <verdict>', 'only rows of this verdict').choices(VERDICTS))
    .requiredOption('--out <file>', `where to write; ${TO_STDOUT} is stdout`)
    .addHelpText(
      'after',
      `
Examples:
  $ lockstep runs export run-261121-0200-1a2b3c --verdict rejected --out rejected.csv
  $ lockstep runs export run-261121-0200-1a2b3c --out -`,
    )
    .action(perform(exportRows));
}

async function exportRows(session: Session, id: string, _: unknown, command: Command): Promise<void> {
  const { out } = session;
  const { verdict, out: target } = withParentOptions<ExportOptions>(command);
  const { pool } = await session.openLedger();
  const run = await readRun(pool, id);
  const lines = csvLines(reportRows(pool, id, verdict), hintsFor(session.hint, run));
  const written = await writeTable(session, target, TITLES, lines);
  if (target !== TO_STDOUT) out.say(...prunedNote(run));
  out.result({ run: id, verdict: verdict ?? null, ...written });
}

/** Writes lines under their titles to a file, or to stdout, and says how many. */
export async function writeTable(
  session: Session,
  target: string,
  titles: readonly string[],
  lines: AsyncIterable<string>,
): Promise<{ readonly rows: number; readonly file: string | null }> {
  const rows = (await exportLines(session, target, under(titles, lines))) - 1;
  if (target === TO_STDOUT) return { rows, file: null };
  session.out.say(`Wrote ${plural(rows, 'row')} to ${target}.`);
  return { rows, file: path.resolve(session.cwd, target) };
}

async function* under(titles: readonly string[], lines: AsyncIterable<string>): AsyncGenerator<string> {
  yield csvLine(titles);
  yield* lines;
}

async function* csvLines(rows: AsyncIterable<ReportedRow>, hints: Hints): AsyncGenerator<string> {
  for await (const { sourceId, label, verdict, reason, facts, recordId, action, sends } of rows) {
    yield csvLine([sourceId, label, verdict, reason, sentenceFor(reason, facts, hints), recordId, action, sends]);
  }
}

const TO_QUOTE = /[",\r\n]|^\s|\s$/;

/** One line of CSV (RFC 4180) that a spreadsheet shows and never executes. */
export function csvLine(cells: readonly (string | number | null)[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: string | number | null): string {
  const text = guarded(String(cell ?? ''));
  return TO_QUOTE.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
