/** Which columns of a wide file pages show. */

const MOST_COLUMNS = 40;

/** `used`: the columns (from 0) that fill a field. They are shown wherever they are; the others are the first ones. */
export function columnsToShow(used: readonly number[]): readonly number[] {
  const shown = new Set(used.filter((column) => column >= 0));
  for (let column = 0; shown.size < MOST_COLUMNS; column++) shown.add(column);
  return [...shown].toSorted((a, b) => a - b);
}
