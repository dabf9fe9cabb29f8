/** What must not be treated as the number of an order, although its name and its cells fit. */
import { LABEL } from './by-content.ts';
import { indexesOf } from './cell-source.ts';
import { ambiguous, mapOption, short, UnclearFile } from './column-errors.ts';
import { CUSTOMER_REFERENCES } from './fields.ts';
import type { FirstCells } from './first-cells.ts';
import type { MappedColumn } from './mapped-column.ts';

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

/**
 * Refuses lines that seem to be items of one order, in a file in which no column is known to have the numbers of the orders:
 * each of them would be an order with the whole amount. Lines of one order have the same customer, amount, number and dates,
 * and differ in something else. Throws CSV_NO_ORDER_COLUMN.
 */
export function refuseItems(columns: readonly MappedColumn[], firstCells: FirstCells): void {
  const amount = columns.find(({ field }) => field === 'amount');
  const customer = columns.find(({ field }) => CUSTOMER_REFERENCES.some((one) => one === field));
  if (!amount || !customer || firstCells.isSelection) return;
  const { names, line } = firstCells.header;
  const all = names.map((_, index) => firstCells.cells({ index }));
  const isSame = (cells: readonly string[], row: number) => cells[row] === cells[row - 1];
  const same = [firstCells.cells(amount), firstCells.cells(customer)];
  const areItems = (row: number) => {
    const others = all.flatMap((cells) => (isSame(cells, row) ? [] : [cells[row] ?? '']));
    return same.every((cells) => isSame(cells, row)) && others.length > 0 && !others.some((cell) => DATE.test(cell));
  };
  for (const [index, cells] of all.entries()) {
    if (columns.some((column) => indexesOf(column).includes(index))) continue;
    const starts = cells.filter((_, row) => !isSame(cells, row));
    const isLabel = cells.every((cell) => LABEL.test(cell)) && new Set(starts).size === starts.length;
    if (!isLabel || starts.length === 1 || starts.length === cells.length) continue;
    if (!cells.every((_, row) => !isSame(cells, row) || areItems(row))) continue;
    const name = names[index] ?? '';
    throw new UnclearFile(
      'CSV_NO_ORDER_COLUMN',
      `Line ${line}: no column has a name that means the order_id, and lines with the same "${short(name)}" (${short(cells.find((_, row) => isSame(cells, row)) ?? '')}) also have the same customer and amount: they may be items of one order.`,
      `If they are items, add ${mapOption('order_id', name)} --combine-lines first; if each line is an order, add --map order_id=.`,
    );
  }
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
  );
}
