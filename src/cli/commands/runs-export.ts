/** `lockstep runs export`: a run's rows as CSV, for a spreadsheet or another program. */
import { randomBytes } from 'node:crypto';
import { open, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { type Command, Option } from 'commander';
import { codeOf, LockstepError, messageOf } from '../../base/errors.ts';
import { type Hints, sentenceFor } from '../../base/reasons/reasons.ts';
import { guarded } from '../../csv/formulas.ts';
import { type ReportedRow, reportRows, VERDICTS, type Verdict } from '../../engine/ledger/rows.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { WRONG_USE } from '../errors.ts';
import { hintsFor } from '../reasons.ts';
import type { Perform, Session } from '../session.ts';
import { plural } from '../words.ts';
import { withParentOptions } from './arguments.ts';

const TITLES = ['source_id', 'label', 'verdict', 'reason', 'detail', 'record_id', 'action', 'sends'];
const CHUNK_LENGTH = 64 * 1024;
const TO_STDOUT = '-';

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
  const lines = csvLines(reportRows(pool, id, verdict), hintsFor(session.hint, await readRun(pool, id)));
  out.result({ run: id, verdict: verdict ?? null, ...(await writeTable(session, target, TITLES, lines)) });
}

/** Writes lines under their titles to a file, or to stdout, and says how many. */
export async function writeTable(
  { out, cwd }: Session,
  target: string,
  titles: readonly string[],
  lines: AsyncIterable<string>,
): Promise<{ readonly rows: number; readonly file: string | null }> {
  const head = csvLine(titles);
  if (target === TO_STDOUT) return { rows: await writeCsv(head, lines, (text) => out.content(text)), file: null };
  const file = path.resolve(cwd, target);
  const rows = await writeFile(file, head, lines);
  out.say(`Wrote ${plural(rows, 'row')} to ${target}.`);
  return { rows, file };
}

/** Replaces the file only once the last row is written. A pipe or a device is written to directly. */
async function writeFile(file: string, head: string, lines: AsyncIterable<string>): Promise<number> {
  const draft = path.join(path.dirname(file), `.lockstep-${randomBytes(8).toString('hex')}`);
  try {
    const before = await stat(file).catch(() => undefined);
    const isReplaced = before === undefined || before.isFile() || before.isDirectory();
    const handle = await (isReplaced ? open(draft, 'wx', 0o600) : open(file, 'w'));
    try {
      const count = await writeCsv(head, lines, (text) => handle.appendFile(text));
      await handle.close();
      if (isReplaced) await rename(draft, file);
      return count;
    } finally {
      await handle.close();
    }
  } catch (error) {
    await rm(draft, { force: true });
    if (!isFileProblem(error)) throw error;
    const message = `The rows cannot be written to ${file}: ${messageOf(error)}. Choose another file with --out`;
    throw new LockstepError('EXPORT_NOT_WRITABLE', message, { cause: error, exitCode: WRONG_USE });
  }
}

function isFileProblem(error: unknown): boolean {
  return ['ENOENT', 'EACCES', 'EPERM', 'EISDIR', 'ENOTDIR', 'ENOSPC', 'EROFS', 'EDQUOT', 'ENAMETOOLONG'].includes(
    codeOf(error) ?? '',
  );
}

async function* csvLines(rows: AsyncIterable<ReportedRow>, hints: Hints): AsyncGenerator<string> {
  for await (const { sourceId, label, verdict, reason, facts, recordId, action, sends } of rows) {
    yield csvLine([sourceId, label, verdict, reason, sentenceFor(reason, facts, hints), recordId, action, sends]);
  }
}

async function writeCsv(
  head: string,
  lines: AsyncIterable<string>,
  write: (text: string) => Promise<void>,
): Promise<number> {
  let text = head;
  let count = 0;
  for await (const line of lines) {
    text += line;
    count += 1;
    if (text.length < CHUNK_LENGTH) continue;
    await write(text);
    text = '';
  }
  await write(text);
  return count;
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
