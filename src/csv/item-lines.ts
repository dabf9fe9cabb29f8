/** Lines that seem to be items of one order, in a file in which no column is known to have the numbers of the orders. */
import { mapOption, short, UnclearFile } from './column-errors.ts';
import { CUSTOMER_REFERENCES } from './fields.ts';
import type { FirstCells } from './first-cells.ts';
import type { MappedColumn } from './mapped-column.ts';

/** `2026000001` and `A-12`, neither a date nor an amount. */
const NUMBER = /^(?!\d{1,4}[./-]\d{1,2}[./-]\d{1,4}$)(?!\d+[.,]\d{1,2}$)[\p{L}\d#._/-]*\d[\p{L}\d._/-]*$/u;

/** Each of these lines would be an order with the whole amount. Throws CSV_NO_ORDER_COLUMN. */
export function refuseItems(columns: readonly MappedColumn[], firstCells: FirstCells): void {
  const amount = columns.find(({ field }) => field === 'amount');
  const customer = columns.find(({ field }) => CUSTOMER_REFERENCES.some((one) => one === field));
  if (!amount || !customer || firstCells.isSelection) return;
  const [amounts, customers] = [firstCells.cells(amount), firstCells.cells(customer)];
  const isSame = (row: number) =>
    amounts[row] !== '' && amounts[row] === amounts[row - 1] && customers[row] === customers[row - 1];
  for (const [index, name] of firstCells.header.names.entries()) {
    if (columns.some((column) => column.index === index || column.also?.includes(index))) continue;
    const cells = firstCells.cells({ index });
    const starts = cells.filter((cell, row) => cell !== cells[row - 1]);
    const isLabel = cells.every((cell) => NUMBER.test(cell)) && new Set(starts).size === starts.length;
    if (!isLabel || starts.length === 1 || starts.length === cells.length) continue;
    if (!cells.every((cell, row) => cell !== cells[row - 1] || isSame(row))) continue;
    const example = cells.find((cell, row) => cell === cells[row - 1]) ?? '';
    throw new UnclearFile(
      'CSV_NO_ORDER_COLUMN',
      `Line ${firstCells.header.line}: no column has a name that means the order_id, and lines with the same "${short(name)}" (${short(example)}) also have the same customer and amount: they may be items of one order.`,
      `If they are items, add ${mapOption('order_id', name)} --combine-lines first; if each line is an order, add --map order_id=.`,
    );
  }
}
