/** Columns that may have the numbers of the orders, or seem to. */
import { COUNT_WORDS, MONEY_WORDS } from './amount-words.ts';
import { LABEL } from './by-content.ts';
import { indexesOf, type MappedColumn } from './cell-source.ts';
import { ambiguous, mapOption, short, UnclearFile } from './column-errors.ts';
import { PRODUCT_ID } from './customer-columns.ts';
import { CUSTOMER_REFERENCES } from './fields.ts';
import type { FirstCells } from './first-cells.ts';
import { plainWords } from './words.ts';

/** A "PO Number" that only some orders have is not the number of all of them, where another column has one in each line. */
export function besideFuller(
  column: MappedColumn,
  columns: readonly MappedColumn[],
  firstCells: FirstCells,
): UnclearFile | undefined {
  if (column.field !== 'order_id' || column.how === 'exact') return undefined;
  const gap = firstCells.orderCells(column).indexOf('');
  const full = gap === -1 ? undefined : columns.find((one) => !firstCells.orderCells(one).includes(''));
  if (!full) return undefined;
  const difference = [full, column].map((one) => ({ name: one.name, cell: firstCells.orderCells(one)[gap] ?? '' }));
  return ambiguous(column.field, [full.name, column.name], firstCells.header.line, difference);
}

const DATE = /\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\b[12]\d{3}\b/;
const COMPACT_DATE = /^(?:19|20)\d\d[01]\d[0-3]\d$/;
/** `INV-2026-0001`, and an id such as an API makes. */
const LONG_LABEL = /^(?=.*\d)(?=.*\p{L})[\p{L}\d#._/-]{10,}$/u;
/** Counts, small amounts and places in a list are no longer. */
const SHORT = /^\d{1,4}$/;
/** In fewer lines, any column may rise or fall by chance. */
const ENOUGH_LINES = 5;

/** A column that fills no field. Its cells may be numbers of orders: lines with the same one are neighbours. */
interface UnusedLabels {
  readonly name: string;
  readonly cells: readonly string[];
  /** How many of the cells differ. */
  readonly count: number;
}

/**
 * Refuses a file in which no column is known to have the numbers of the orders, and another column may have them: an order
 * without its number would be created again by another file that has it, and its items would be orders with the whole amount.
 * `columns`: those that fill fields. `unused`: those that have the name of a field, and do not fit it. Throws CSV_NO_ORDER_COLUMN.
 */
export function refuseUnnamed(
  columns: readonly MappedColumn[],
  unused: readonly MappedColumn[],
  firstCells: FirstCells,
): void {
  const amount = columns.find(({ field }) => field === 'amount');
  const customer = columns.find(({ field }) => CUSTOMER_REFERENCES.some((one) => one === field));
  if (!amount || !customer || firstCells.isSelection) return;
  const labels = unusedLabels([...columns, ...unused], firstCells);
  refuseItems(labels, [amount, customer], firstCells);
  refuseNumbers(labels, firstCells.orderCells(customer), firstCells);
}

function unusedLabels(used: readonly MappedColumn[], firstCells: FirstCells): readonly UnusedLabels[] {
  const isUsed = (index: number) => used.some((column) => indexesOf(column).includes(index));
  return firstCells.header.names.flatMap((name, index) => {
    const cells = firstCells.orderCells({ index });
    const starts = cells.filter((cell, row) => cell !== cells[row - 1]);
    const count = new Set(starts).size;
    const areLabels = cells.every((cell) => LABEL.test(cell)) && count === starts.length && count > 1;
    return areLabels && !isUsed(index) ? [{ name, cells, count }] : [];
  });
}

/** Lines of one order have the same customer, amount, number and dates, and differ in something else. */
function refuseItems(labels: readonly UnusedLabels[], shared: readonly MappedColumn[], firstCells: FirstCells): void {
  const { names, line } = firstCells.header;
  const all = names.map((_, index) => firstCells.orderCells({ index }));
  const isSame = (cells: readonly string[], row: number) => cells[row] === cells[row - 1];
  const same = shared.map((column) => firstCells.orderCells(column));
  const areItems = (row: number) => {
    const others = all.flatMap((cells) => (isSame(cells, row) ? [] : [cells[row] ?? '']));
    return same.every((cells) => isSame(cells, row)) && others.length > 0 && !others.some((cell) => DATE.test(cell));
  };
  for (const { name, cells, count } of labels) {
    if (count === cells.length || !cells.every((_, row) => !isSame(cells, row) || areItems(row))) continue;
    throw new UnclearFile(
      'CSV_NO_ORDER_COLUMN',
      `Line ${line}: no column has a name that means the order_id, and lines with the same "${short(name)}" (${short(cells.find((_, row) => isSame(cells, row)) ?? '')}) also have the same customer and amount: they may be items of one order.`,
      `If they are items, add ${mapOption('order_id', name)} --combine-lines first; if each line is an order, add --map order_id=.`,
      [{ field: 'order_id', column: name, combine: 'first' }, { field: 'order_id' }],
    );
  }
}

function refuseNumbers(
  labels: readonly UnusedLabels[],
  customers: readonly string[],
  { header: { line } }: FirstCells,
): void {
  const numbers = labels.find((one) => one.count === one.cells.length && areNumbers(one, customers));
  if (!numbers) return;
  const name = short(numbers.name);
  throw new UnclearFile(
    'CSV_NO_ORDER_COLUMN',
    `Line ${line}: no column has a name that means the order_id, but "${name}" is different in each line, as in ${short(numbers.cells[0] ?? '')}, so it may have the numbers of the orders. Without them, another file with the same orders would create them again.`,
    `If it has them, add ${mapOption('order_id', numbers.name)}; if not, add --map order_id=.`,
    [{ field: 'order_id', column: numbers.name }, { field: 'order_id' }],
  );
}

/** Whether different labels are those of the lines, not of their customers, amounts, products or days. */
function areNumbers({ name, cells }: UnusedLabels, customers: readonly string[]): boolean {
  const words = plainWords(name);
  if (MONEY_WORDS.test(words) || COUNT_WORDS.test(words) || PRODUCT_ID.test(words)) return false;
  if (cells.every((cell) => COMPACT_DATE.test(cell))) return false;
  const isOfLine = new Set(customers).size < customers.length && !cells.some((cell) => SHORT.test(cell));
  return isOfLine || cells.every((cell) => LONG_LABEL.test(cell)) || areInOrder(cells);
}

/** Whether they rise or fall from line to line, and do not just count the lines. */
function areInOrder(cells: readonly string[]): boolean {
  if (cells.length < ENOUGH_LINES) return false;
  const numbers = cells.map((cell) => BigInt(cell.replace(/\D/g, '')));
  const steps = numbers.slice(1).map((number, row) => number - (numbers[row] ?? 0n));
  const isCounting = (numbers[0] ?? 0n) <= 1n && steps.every((step) => step === 1n);
  return !isCounting && (steps.every((step) => step > 0n) || steps.every((step) => step < 0n));
}

/** Spreadsheets keep 15 digits of a number. */
const LONG = /^\d{16,}$/;
const CUT = /^\d{15}0+$/;
/** That so many digits are zeros is no chance. */
const ENOUGH_ZEROS = 4;

/**
 * Refuses numbers of which a spreadsheet has replaced the last digits by zeros: different orders may have the same one.
 * Throws CSV_CELLS_DO_NOT_FIT.
 */
export function refuseCutNumbers(columns: readonly MappedColumn[], firstCells: FirstCells): void {
  const column = columns.find(({ field, how }) => field === 'order_id' && how !== 'told' && how !== 'remembered');
  if (!column || firstCells.isSelection) return;
  const long = [...new Set(firstCells.orderCells(column))].filter((cell) => LONG.test(cell));
  const zeros = long.reduce((count, { length }) => count + length - 15, 0);
  if (zeros < ENOUGH_ZEROS || !long.every((cell) => CUT.test(cell))) return;
  throw new UnclearFile(
    'CSV_CELLS_DO_NOT_FIT',
    `Line ${firstCells.header.line}: a spreadsheet has replaced the last digits of "${short(column.name)}" by zeros, as in ${long[0]}, so different orders may have the same number. Export the file again, and load it before a spreadsheet saves it.`,
    `If the numbers are right, add ${mapOption('order_id', column.name)}.`,
    [{ field: 'order_id', column: column.name }],
  );
}
