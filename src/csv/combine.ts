/**
 * Combines several lines of one order into one row. Only neighbouring lines are combined, so memory stays flat: lines of one
 * order that are apart stay rows of their own, and are refused as repeats once the whole file is staged.
 */
import { sumOf } from '../base/amount.ts';
import type { CellCode } from '../base/reasons/cells.ts';
import type { Facts } from '../base/reasons/reason.ts';
import { cellFrom } from './cell-source.ts';
import { MAX_LONG } from './cells.ts';
import { CUSTOMER_REFERENCES, FIELDS, type Field, type OrderValues, type Values } from './fields.ts';
import { type CheckedRow, type Problem, shownCell } from './validate.ts';

export interface CombineLines {
  /** The sum of all lines, or the first amount that is not empty. */
  readonly amount: 'sum' | 'first';
  /** The different descriptions of all lines, or the first one that is not empty. */
  readonly description: 'join' | 'first';
}

export const COMBINE = ['sum', 'first', 'none'] as const;
export type CombineChoice = (typeof COMBINE)[number];

/** `--combine-lines`; undefined: as the preset says, otherwise not. */
export function combinationOf(chosen: CombineChoice | undefined, preset?: CombineLines): CombineLines | undefined {
  if (chosen === undefined) return preset;
  if (chosen === 'none') return undefined;
  return chosen === 'sum' ? { amount: 'sum', description: 'join' } : { amount: 'first', description: 'first' };
}

/** More lines than any order has: a column with one value throughout is no order_id. */
const MOST_LINES = 1_000;

interface Columns {
  /** The column of the order_id, which may be readable in a row that is not. */
  readonly orderIdIndex: number;
  /** The number of columns. */
  readonly width: number;
}

export async function* combined(
  batches: AsyncIterable<readonly CheckedRow[]>,
  how: CombineLines,
  columns: Columns,
): AsyncGenerator<readonly CheckedRow[]> {
  const order = new OpenOrder(how, columns);
  for await (const batch of batches) {
    const whole = batch.flatMap((row) => order.add(row));
    if (whole.length > 0) yield whole;
  }
  const last = order.end();
  if (last.length > 0) yield last;
}

/** The lines of one order, while more of them may follow. */
class OpenOrder {
  readonly #how: CombineLines;
  readonly #columns: Columns;
  #lines: CheckedRow[] = [];
  /** How the lines name their customer. */
  #customer: Values = {};
  /** The unreadable lines next to these lines. */
  #unreadable: number[] = [];

  constructor(how: CombineLines, columns: Columns) {
    this.#how = how;
    this.#columns = columns;
  }

  /** The rows that are whole once this line follows. */
  add(row: CheckedRow): readonly CheckedRow[] {
    const isSummed = this.#how.amount === 'sum';
    const order = this.#orderIdOf(row);
    if (isSummed && !order && this.#lines.length > 0 && hasAmountOnly(row)) {
      this.#lines.push(withDoubt(row));
      return [];
    }
    if (this.#has(row, order)) {
      this.#add(row);
      return [];
    }
    if (isSummed && mayBeOfAny(row, this.#columns.width, order)) {
      this.#unreadable.push(row.line);
      const above = this.end();
      this.#unreadable = [row.line];
      return [...above, row];
    }
    const above = this.end();
    this.#add(row);
    return above;
  }

  #add(row: CheckedRow): void {
    this.#lines.push(row);
    for (const field of CUSTOMER_REFERENCES) this.#customer[field] ??= row.values[field];
  }

  /** The order as one row, if it has a line. */
  end(): readonly CheckedRow[] {
    const [first] = this.#lines;
    if (first === undefined) return [];
    const order = this.#orderIdOf(first);
    const whole = asOne(first, this.#lines, this.#how, order);
    const unreadable = order ? this.#unreadable : [];
    this.#lines = [];
    this.#customer = {};
    this.#unreadable = [];
    return [unreadable.reduce(withUnreadable, whole)];
  }

  #has(row: CheckedRow, order: string | undefined): boolean {
    const [first] = this.#lines;
    if (first === undefined || !order || order !== this.#orderIdOf(first)) return false;
    return this.#lines.length < MOST_LINES && !differInCustomer(this.#customer, row.values);
  }

  #orderIdOf({ values, cells }: CheckedRow): string | undefined {
    return values.order_id ?? cells[this.#columns.orderIdIndex]?.trim();
  }
}

/** Whether it is unknown which order a line belongs to: its cells are not in their columns, or it lacks the order_id. */
function mayBeOfAny(row: CheckedRow, width: number, order: string | undefined): boolean {
  const code = row.status === 'invalid' ? row.problems[0]?.code : undefined;
  const { length } = row.cells;
  if (code === 'RAGGED') return length > width || (!order && length > 1); // a line with one cell is a footer
  const isBroken = code === 'UNCLOSED_QUOTE' || code === 'BAD_QUOTES' || code === 'ROW_TOO_LONG';
  return isBroken && (length !== width || !order || /["']/.test(order));
}

/** An order is not sent with a part of its sum. */
function withUnreadable(row: CheckedRow, other: number): CheckedRow {
  const { line, cells, lines, values } = row;
  const doubt = { code: 'LINE_UNREADABLE', severity: 'error', field: undefined, facts: { line, other } } as const;
  const problems = [...(row.status === 'valid' ? row.warnings : row.problems), doubt];
  return { status: 'invalid', line, cells, ...(lines && { lines }), values, problems };
}

/**
 * Whether a line has an amount and no customer, and is no line of totals. Some exports name an order and its customer on the first of
 * its lines only.
 */
export function hasAmountOnly({ values, ...row }: CheckedRow): boolean {
  const problems = row.status === 'invalid' ? row.problems : [];
  const isTotals = problems.some(({ code }) => code === 'TOTALS_ROW');
  const isAmount = ({ field, facts }: Problem) => field === 'amount' && /\d/.test(`${facts.cell}`);
  const hasAmount = values.amount !== undefined || problems.some(isAmount);
  return hasAmount && !isTotals && CUSTOMER_REFERENCES.every((field) => values[field] === undefined);
}

/** The sum of an order is sent only if all of its lines are known. */
function withDoubt(row: CheckedRow): CheckedRow {
  const { line, cells, values } = row;
  const doubt = { code: 'LINE_WITHOUT_ORDER', severity: 'error', field: undefined, facts: { line } } as const;
  return { status: 'invalid', line, cells, values, problems: [doubt] };
}

/** The cell of an order in a column: of its first line that has one. Without spaces around it. */
export function cellOf({ lines, cells }: Pick<CheckedRow, 'lines' | 'cells'>, index: number): string {
  for (const line of lines ?? [{ cells }]) {
    const cell = cellFrom(line.cells, { index });
    if (cell !== '') return cell;
  }
  return '';
}

/** Two customers cannot have one order. */
function differInCustomer(one: OrderValues, other: OrderValues): boolean {
  return CUSTOMER_REFERENCES.some(
    (field) => one[field] !== undefined && other[field] !== undefined && one[field] !== other[field],
  );
}

function asOne(first: CheckedRow, rows: readonly CheckedRow[], how: CombineLines, order?: string): CheckedRow {
  if (rows.length === 1) return first;
  const { line, cells } = first;
  const lines = rows.map((row) => ({ line: row.line, cells: row.cells }));
  const values: Values = {};
  for (const field of FIELDS) {
    const value = rows.find((row) => row.values[field] !== undefined)?.values[field];
    if (value !== undefined) values[field] = value;
  }
  const found = [
    ...problemsOf(rows, values, how),
    ...differencesOf(rows, how),
    ...(how.description === 'join' ? joinDescriptions(values, rows) : []),
    ...(how.amount === 'sum' ? sumAmounts(values, rows) : []),
  ];
  const problems = found.map((problem) => ({ ...problem, facts: { ...problem.facts, ...(order && { order }) } }));
  if (problems.some(({ severity }) => severity === 'error'))
    return { status: 'invalid', line, cells, lines, values, problems };
  return { status: 'valid', line, cells, lines, values, warnings: problems };
}

/** What one line lacks and another line has is no problem. What several lines repeat is one problem, of the first of them. */
function problemsOf(rows: readonly CheckedRow[], values: OrderValues, { amount }: CombineLines): Problem[] {
  const found = rows.flatMap((row) => (row.status === 'valid' ? row.warnings : row.problems));
  const isOfLine = ({ code, field }: Problem) =>
    code === 'AMOUNT_EMPTY' ? amount === 'sum' : field === undefined && code !== 'NO_CUSTOMER';
  const hasAmount = values.amount !== undefined || found.some((one) => one.field === 'amount' && !isEmpty(one));
  const hasCustomer = CUSTOMER_REFERENCES.some((field) => values[field] !== undefined);
  const problems = new Map<string, Problem>();
  for (const problem of found) {
    const { code, field, facts } = problem;
    const isElsewhere = isEmpty(problem) && hasAmount;
    if (isElsewhere && amount === 'first') continue;
    if (code === 'NO_CUSTOMER' && hasCustomer) continue;
    const key = `${code} ${field} ${isOfLine(problem) ? facts.line : facts.cell}`;
    if (!problems.has(key)) problems.set(key, isElsewhere ? { ...problem, facts: { ...facts, isElsewhere } } : problem);
  }
  return [...problems.values()];
}

/** Values of which an order has one, and its lines have several. */
function differencesOf(rows: readonly CheckedRow[], { amount }: CombineLines): readonly Problem[] {
  const single = FIELDS.filter((field) => field !== 'description' && (field !== 'amount' || amount === 'first'));
  return single.flatMap((field) => {
    const different = [...new Set(rows.flatMap((row) => row.values[field] ?? []))];
    if (different.length < 2) return [];
    return [{ ...problemOf('LINES_DIFFER', field, rows, different.join(', '), { field }), severity: 'warning' }];
  });
}

const isEmpty = ({ code }: Problem) => code === 'AMOUNT_EMPTY';

function joinDescriptions(values: Values, rows: readonly CheckedRow[]): readonly Problem[] {
  const text = [...new Set(rows.flatMap((row) => row.values.description ?? []))].join('; ');
  if (text !== '') values.description = text;
  if (text.length <= MAX_LONG) return [];
  return [problemOf('TOO_LONG', 'description', rows, text, { length: text.length, most: MAX_LONG })];
}

function sumAmounts(values: Values, rows: readonly CheckedRow[]): readonly Problem[] {
  const amounts = rows.flatMap((row) => row.values.amount ?? []);
  if (amounts.length === 0) return [];
  const sum = sumOf(amounts);
  if (sum.status === 'refused') return [problemOf(sum.code, 'amount', rows, amounts.join(' + '), sum.facts)];
  values.amount = sum.value;
  return [];
}

function problemOf(
  code: CellCode,
  field: Field,
  rows: readonly CheckedRow[],
  text: string,
  more: Facts | undefined,
): Problem {
  const [line, last] = [rows[0]?.line ?? 0, rows.at(-1)?.line ?? 0];
  return { code, severity: 'error', field, facts: { line, lines: `${line}-${last}`, cell: shownCell(text), ...more } };
}
