/** A header further down in a file that was joined from several: the rows below it have their cells in other columns. */
import type { ColumnMapping } from './columns.ts';
import { isColumnName } from './recognise.ts';

/** A row with fewer names is no header. */
const ENOUGH_NAMES = 2;

/** What begins with a digit or a sign, or is an e-mail address: most rows have such a cell, and need no closer look. */
const VALUE = /^[^\p{L}]*\d|@/u;

/** Whether the cells that fill fields are names of columns, most of them: of this file, or of any other. */
export function isLaterHeader(
  cells: readonly string[],
  { columns: mapped }: ColumnMapping,
  names: ReadonlySet<string>,
): boolean {
  const indexes = new Set(mapped.flatMap(({ index, also = [] }) => [index, ...also]));
  const filled = [...indexes].map((index) => (cells[index] ?? '').trim()).filter((cell) => cell !== '');
  if (filled.some((cell) => VALUE.test(cell))) return false;
  let others = filled.length - Math.max(ENOUGH_NAMES, filled.length / 2);
  if (others < 0) return false;
  for (const cell of filled) {
    if (names.has(cell) || isColumnName(cell)) continue;
    others -= 1;
    if (others < 0) return false;
  }
  return true;
}
