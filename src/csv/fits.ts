/** How many cells of a column can be values of a field: a name alone does not tell what a column holds. */
import { unitsOf } from '../base/amount.ts';
import type { CellCode } from '../base/reasons/cells.ts';
import { cellReaders, isMasked } from './cells.ts';
import type { Field } from './fields.ts';

export interface Fits {
  readonly fit: number;
  /** The cells that are not empty. */
  readonly of: number;
}

/** How many rows of a file are checked. */
export const MOST_LOOKED_AT = 1_000;

/** An id as the service gives it: digits, or a UUID. */
const SERVICE_ID = /^(?:\d+|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12})$/i;

/** Lenient, because the decimal sign of the file is not known yet: `1,234` is an amount by either sign. */
const READERS = cellReaders({ decimal: 'unsure', accounting: true });

const READINGS = (['.', ','] as const).map((decimal) => cellReaders({ decimal, accounting: true }).amount);
const sizeOf = (units: bigint) => (units < 0n ? -units : units);

/**
 * The amount of a cell in units that can be added exactly; undefined if the cell is empty or no amount. Of two readings, the
 * larger one: the sign in 1,234 nearly always groups thousands. Good enough to compare columns, not to load an amount.
 */
export function unitsIn(cell: string): bigint | undefined {
  const units = READINGS.map((read) => read(cell).value).flatMap((value) =>
    value === undefined ? [] : [unitsOf(value)],
  );
  return units.reduce<bigint | undefined>((most = 0n, one) => (sizeOf(one) > sizeOf(most) ? one : most), undefined);
}

const isName = (cell: string) => /\p{L}/u.test(cell) && !cell.includes('@') && !isMasked(cell);
const SPECIAL: Partial<Record<Field, (cell: string) => boolean>> = {
  amount: (cell) => READERS.amount(cell).value !== undefined || isAmbiguous(cell),
  client_id: (cell) => SERVICE_ID.test(cell),
  customer_name: isName,
  full_name: isName,
};

/** `cells`: without spaces around them. */
export function fitsOf(field: Field, cells: readonly string[]): Fits {
  const isFit = SPECIAL[field] ?? ((cell: string) => READERS[field](cell).value !== undefined);
  const filled = cells.filter((cell) => cell !== '');
  return { fit: filled.filter(isFit).length, of: filled.length };
}

/** Why the first cell that does not fit does not. */
export function problemIn(
  field: Field,
  cells: readonly string[],
): { readonly cell: string; readonly code: CellCode } | undefined {
  return cells.flatMap((cell) => {
    const { problem } = cell === '' ? {} : READERS[field](cell);
    return problem ? [{ cell, code: problem.code }] : [];
  })[0];
}

/**
 * Whether a column that has the name of a field is used for it: half of its cells have to fit. One cell is enough for the
 * order's number and its amount, because an order without them would be another order: a bad cell costs its row only.
 */
export function isTaken(field: Field, { fit, of }: Fits): boolean {
  return of === 0 || (isEssential(field) ? fit > 0 : fit * 2 >= of);
}

export function isEssential(field: Field): boolean {
  return field === 'order_id' || field === 'amount';
}

const isAmbiguous = (cell: string) => READERS.amount(cell).problem?.code === 'AMOUNT_AMBIGUOUS';
