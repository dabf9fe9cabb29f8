/** `lockstep review export` and `lockstep review import`: decisions about many rows, in a CSV. */
import path from 'node:path';
import { plural } from '../../base/counts.ts';
import { type LockstepError, messageOf, wrongUse } from '../../base/errors.ts';
import { sentenceFor } from '../../base/reasons/reasons.ts';
import { withoutGuard } from '../../csv/formulas.ts';
import type { TextRow } from '../../csv/read.ts';
import { receive } from '../../csv/receive.ts';
import { examineTable, tableRows } from '../../csv/table.ts';
import { CHOICES, decide, lockDecisions, type NewDecision } from '../../engine/ledger/decisions.ts';
import { type ReviewItem, reviewItems } from '../../engine/ledger/views/review-items.ts';
import { type AskNeeds, type Checked, checkDecisions } from '../../operator/check-decisions.ts';
import { choicesFor, finderOf, oneNamed, reviewIds, reviewStatement } from '../../operator/review.ts';
import { decisionNamed, itemNamed, wrongDecisions } from '../../operator/review-decisions.ts';
import { csvLine } from '../../operator/row-export.ts';
import { didYouMean, oneOf, quote } from '../../settings/message-parts.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import type { Command } from '../command.ts';
import { FORCE, type Replacing } from '../export-file.ts';
import { evidenceLine } from '../print/review-lines.ts';
import type { Perform, Session } from '../session.ts';
import { thisPerson } from '../this-person.ts';
import { writeTable } from './runs-export.ts';

/** `version` changes with the evidence: an import refuses a row whose evidence its reader has not seen. */
const COLUMNS = [
  'id',
  'reason',
  'subject',
  'statement',
  'evidence',
  'choices',
  'choice',
  'record',
  'note',
  'version',
] as const;
type Column = (typeof COLUMNS)[number];
const NEEDED: readonly Column[] = ['id', 'choice', 'record', 'version'];
/** Bad rows that a message names, at most. */
const MOST_NAMED = 20;

export interface FilterOptions {
  readonly account?: string;
  readonly sync?: string;
  readonly reason?: string;
}

export function withFilters(command: Command): Command {
  return command
    .option('--account <name>', 'only rows of this account')
    .option('--sync <name>', 'only rows of this sync, or of this file')
    .option('--reason <code>', 'only rows with this reason, such as AMBIGUOUS_MATCH');
}

export function addExport(review: Command, perform: Perform): void {
  const command = review
    .command('export')
    .summary('write what waits for a person as CSV, to be filled in')
    .description(
      'Writes the rows that wait for a person as CSV, all or those that --account, --sync and --reason select. Fill in the ' +
        `columns choice (${oneOf(CHOICES)}) and, for use, record; then import the file. Rows without a choice stay undecided.`,
    )
    .requiredOption('--out <file>', 'where to write; - is stdout')
    .option(...FORCE);
  withFilters(command).action(perform(exportItems));
}

export function addImport(review: Command, perform: Perform): void {
  review
    .command('import')
    .summary('take the decisions from an exported CSV')
    .description(
      'Takes the decisions that were filled into an exported file. All rows are checked first: if one is wrong, it is ' +
        'named with its line and column, and nothing is decided. A row that was decided in the same way before stays decided, so ' +
        'a file can be imported again after a crash, or with more choices filled in.',
    )
    .argument('<file>', 'an exported CSV; - is stdin')
    .option('--dry-run', 'check everything, and decide nothing')
    .action(perform(importFile));
}

async function exportItems(
  session: Session,
  { out: target, force, ...filter }: FilterOptions & Replacing & { readonly out: string },
): Promise<void> {
  const { pool } = await session.openLedger();
  const named = [...reviewIds(await reviewItems(pool, filter))];
  session.out.result(await writeTable(session, target, COLUMNS, lines(named, session.hint), { force }));
}

async function* lines(
  named: readonly (readonly [id: string, item: ReviewItem])[],
  hint: (command: string) => string,
): AsyncGenerator<string> {
  for (const [id, item] of named) {
    const cells: Readonly<Record<Column, string>> = {
      id,
      reason: item.reason,
      subject: item.label ?? item.subject,
      statement: reviewStatement(item, hint),
      evidence: evidenceLine(item),
      choices: choicesFor(item).join(' '),
      choice: '',
      record: '',
      note: '',
      version: item.version,
    };
    yield csvLine(COLUMNS.map((column) => cells[column]));
  }
}

interface Filled {
  readonly line: number;
  readonly cells: Readonly<Record<Column, string>>;
}

interface Bad {
  readonly line: number;
  readonly column: Column;
  readonly why: string;
}

async function importFile(session: Session, file: string, { dryRun = false }: { dryRun?: boolean }): Promise<void> {
  const { out } = session;
  const signal = session.untilStopped('Stopping. Press Ctrl-C again to stop at once.');
  const rows = await readFilled(session, file, signal);
  const { pool } = await session.openLedger();
  const read = async (db: Queryable, judge: Judge) => {
    const { bad, ...checked } = await check(db, rows, judge, session.hint);
    if (bad.length > 0) throw refused(file, bad);
    return checked;
  };
  let isUnasked: Checked['isUnasked'] = () => false;
  await read(pool, async (decisions) => {
    const checked = await checkDecisions(askNeeds(session, pool, signal), decisions);
    ({ isUnasked } = checked);
    return checked.wrong;
  });
  const { decisions: decided, before } = await inTransaction(pool, async (db) => {
    await lockDecisions(db);
    const checked = await read(db, (made) => wrongDecisions(db, made));
    if (!dryRun) await decide(db, checked.decisions, thisPerson());
    signal.throwIfAborted();
    return checked;
  });
  const counts = Object.fromEntries(CHOICES.map((one) => [one, decided.filter(({ choice }) => choice === one).length]));
  const words = CHOICES.map((choice) => `${counts[choice]} ${choice}`).join(', ');
  const open = rows.length - decided.length - before;
  out.say(`${dryRun ? 'Dry run: nothing was decided. ' : ''}${plural(decided.length, 'decision')}: ${words}.`);
  const unasked = decided.filter(isUnasked).length;
  if (unasked > 0) {
    const records = plural(unasked, 'chosen record');
    out.say(`The service could not be asked for ${records}: that is checked when the decisions are applied.`);
  }
  if (before > 0) out.say(`${plural(before, 'row was', 'rows were')} decided in the same way before.`);
  if (open > 0) out.say(`${plural(open, 'row')} without a choice.`);
  out.result({ dryRun, rows: rows.length, decided: decided.length, counts, before, undecided: open });
}

/** The workspace, with the embedded service, is opened only if a record is asked for. */
export function askNeeds(session: Session, pool: Queryable, signal?: AbortSignal): AskNeeds {
  let opening: ReturnType<Session['openWorkspace']> | undefined;
  return {
    pool,
    async openAccount(name) {
      opening ??= session.openWorkspace();
      return (await opening).accounts.use(name);
    },
    ...(signal && { signal }),
  };
}

/** @throws LockstepError REVIEW_FILE_INVALID if a column is missing or a row is damaged */
async function readFilled({ cwd, dataDir }: Session, file: string, signal: AbortSignal): Promise<readonly Filled[]> {
  const spoolDir = path.join(dataDir, 'received');
  const received = await receive(file === '-' ? file : path.resolve(cwd, file), { spoolDir, signal });
  try {
    const table = examineTable(received, { hasHeader: true, canBeEmpty: true });
    const at = new Map(COLUMNS.map((column) => [column, table.columns.indexOf(column)]));
    const missing = NEEDED.filter((column) => at.get(column) === -1);
    if (missing.length > 0) {
      const message = `${received.name}: line 1 has no column ${oneOf(missing)}. Import a file that \`lockstep review export\` wrote.`;
      throw wrongUse(message, 'REVIEW_FILE_INVALID');
    }
    const rows: Filled[] = [];
    for await (const batch of tableRows(received, table))
      rows.push(...batch.map((row) => filled(received.name, row, at)));
    return rows;
  } finally {
    await received.close();
  }
}

function filled(file: string, { line, cells, fault }: TextRow, at: ReadonlyMap<Column, number>): Filled {
  if (fault) throw refused(file, [{ line, column: 'id', why: sentenceFor(fault.code, fault.facts) }]);
  const cell = (column: Column) => withoutGuard(cells[at.get(column) ?? -1] ?? '').trim();
  // Safe: every column is in it.
  return { line, cells: Object.fromEntries(COLUMNS.map((column) => [column, cell(column)])) as Filled['cells'] };
}

type Judge = (decisions: readonly NewDecision[]) => ReturnType<typeof wrongDecisions>;

async function check(db: Queryable, rows: readonly Filled[], judge: Judge, hint: (command: string) => string) {
  const find = finderOf(await reviewItems(db));
  const good: { readonly line: number; readonly decision: NewDecision }[] = [];
  const bad: Bad[] = [];
  let before = 0;
  const lineOf = new Map<ReviewItem, number>();
  for (const row of rows) {
    const read = await readRow(db, row, { find, lineOf, hint });
    if (read === 'decided') before++;
    else if (read && 'why' in read) bad.push(read);
    else if (read) good.push({ line: row.line, decision: read });
  }
  const decisions = good.map(({ decision }) => decision);
  const wrong = await judge(decisions);
  const judged = wrong.map(({ at, column, why }) => ({ line: good[at]?.line ?? 0, column, why }));
  return { decisions, before, bad: [...bad, ...judged] };
}

interface Reading {
  readonly find: (id: string) => readonly ReviewItem[];
  /** The lines of the items that were read before. */
  readonly lineOf: Map<ReviewItem, number>;
  readonly hint: (command: string) => string;
}

/** Undefined for a row without a choice; `decided` for one that was decided in the same way before. */
async function readRow(
  db: Queryable,
  { line, cells }: Filled,
  { find, lineOf, hint }: Reading,
): Promise<NewDecision | Bad | 'decided' | undefined> {
  const { id, choice: word, record, note, version } = cells;
  const bad = (column: Column, why: string): Bad => ({ line, column, why });
  if (word === '') return record === '' ? undefined : bad('choice', 'it is empty, and a record is given.');
  const choice = CHOICES.find((one) => one === word.toLowerCase());
  if (choice === undefined)
    return bad('choice', `${quote(word)} is not a choice${didYouMean(word, CHOICES) || `: use ${oneOf(CHOICES)}.`}`);
  if (choice === 'use' && record === '') return bad('record', 'the choice is use, and no record is given.');
  if (choice !== 'use' && record !== '') return bad('record', `the choice ${choice} takes no record.`);
  try {
    const among = find(id);
    const made = oneNamed(among, id) === undefined ? await decisionNamed(db, id) : undefined;
    if (made?.choice === choice && (made.record ?? '') === record) return 'decided';
    const item = await itemNamed(db, among, id, hint);
    const earlier = lineOf.get(item);
    lineOf.set(item, line);
    if (earlier !== undefined) return bad('id', `line ${earlier} decides about the same row.`);
    if (item.version !== version) return bad('version', 'the evidence has changed since the export. Export it again.');
    return { item, choice, record: record || undefined, note: note || undefined };
  } catch (error) {
    return bad('id', messageOf(error));
  }
}

function refused(file: string, bad: readonly Bad[]): LockstepError {
  const inOrder = [...bad].sort((a, b) => a.line - b.line);
  const named = inOrder
    .slice(0, MOST_NAMED)
    .map(({ line, column, why }) => `\n  Line ${line}, column ${column}: ${why}`);
  const more = bad.length > MOST_NAMED ? `\n  … and ${bad.length - MOST_NAMED} more` : '';
  const message = `${file}: ${plural(bad.length, 'row is', 'rows are')} wrong, so nothing was decided.${named.join('')}${more}`;
  return wrongUse(message, 'REVIEW_FILE_INVALID');
}
