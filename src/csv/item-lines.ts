/** Lines that seem to be items of one order, in a file in which no column is known to have the numbers of the orders. */
import { mapOption, short, UnclearFile } from './column-errors.ts';
import { CUSTOMER_REFERENCES } from './fields.ts';
import type { FirstCells } from './first-cells.ts';
import type { MappedColumn } from './mapped-column.ts';

/** `2026000001` and `A-12`, neither a date nor an amount. */
const NUMBER = /^(?!\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$)(?!\d+[.,]\d{1,2}$)[\p{L}\d#._/-]*\d[\p{L}\d._/-]*$/u;
const DATE = /\d{1,4}[./-]\d{1,2}[./-]\d{1,4}|\b[12]\d{3}\b/;

/**
 * Each of these lines would be an order with the whole amount. Lines of one order have the same customer, amount, number and dates,
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
    if (columns.some((column) => column.index === index || column.also?.includes(index))) continue;
    const starts = cells.filter((_, row) => !isSame(cells, row));
    const isLabel = cells.every((cell) => NUMBER.test(cell)) && new Set(starts).size === starts.length;
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
