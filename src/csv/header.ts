/** Finds the header of a file below its title: people and reports write lines above it. */

import type { ColumnMapping } from './columns.ts';
import { isBlank } from './parser.ts';
import { isColumnName, recogniseExactly } from './recognise.ts';
import { addedColumnsOf } from './result-files.ts';

/** A title has fewer rows than this. */
const MOST_ROWS = 30;
/** A row with this many names of columns is not a title; one with fewer is no header further down. */
const ENOUGH_NAMES = 2;
/** A row below titles of one cell is a header if it has this many cells. */
const ENOUGH_CELLS = 3;

/**
 * The index of the header in `rows`, or else of the first row that is not blank; -1 if there is none. A row below others is
 * the header if all rows above it have fewer cells, and if it has names of columns, or they have one cell each, or no names and
 * less than half of its cells; or if it has the columns that Lockstep adds to results. It is too below one line of another length that describes the file, as in DATEV.
 */
export function headerAt(rows: readonly (readonly string[])[]): number {
  let [mostCells, mostNames, first] = [0, 0, -1];
  for (const [index, row] of rows.slice(0, MOST_ROWS).entries()) {
    if (isBlank(row)) continue;
    const cells = row.filter((cell) => cell.trim() !== '').length;
    const names = knownNamesIn(row);
    const isNamed = names >= ENOUGH_NAMES && names > mostNames;
    const isBelowTitle = mostCells > 0 && mostCells <= mostOfTitle(cells, mostNames) && looksLikeHeader(row);
    // A row of data has as many cells as the header, so none is treated as a description.
    const isBelowDescription =
      index === first + 1 && mostNames === 0 && names >= ENOUGH_CELLS && row.length !== rows[first]?.length;
    if (isBelowDescription && first !== -1) return index;
    if (addedColumnsOf(row).length > 0) return index;
    if (cells > mostCells && (isNamed || isBelowTitle)) return belowGroups(rows, index, names);
    if (first === -1) first = index;
    [mostCells, mostNames] = [Math.max(mostCells, cells), Math.max(mostNames, names)];
  }
  return first === -1 ? rows.findIndex((row) => !isBlank(row)) : first;
}

/** The header of columns that the row at `index` groups, as in `Sale,,,Buyer,`; otherwise `index`. `names`: of columns in the row. */
function belowGroups(rows: readonly (readonly string[])[], index: number, names: number): number {
  const [groups = 0, cells = 0] = [index, index + 1].map((at) => rows[at]?.filter((cell) => cell.trim() !== '').length);
  const below = names < ENOUGH_NAMES && cells >= groups * 2 ? knownNamesIn(rows[index + 1] ?? []) : 0;
  return below >= ENOUGH_NAMES ? index + 1 : index;
}

/** The most cells of a title above a row of so many cells, if the title has so many names of columns. */
function mostOfTitle(cells: number, names: number): number {
  if (cells < ENOUGH_CELLS) return 0;
  return names === 0 ? Math.floor((cells - 1) / 2) : 1;
}

export function looksLikeHeader(row: readonly string[]): boolean {
  if (knownNamesIn(row) > 0) return true;
  return !row.some((cell) => /@|^[-+(]?[\d.,' ]*\d/.test(cell.trim()));
}

/** How many of these cells are names of columns. Only the beginning of a long row is checked. */
export function knownNamesIn(cells: readonly string[]): number {
  return cells.slice(0, 200).filter(recogniseExactly).length;
}

/** What begins with a digit or a sign, or is an e-mail address: most rows have such a cell, and need no closer look. */
const VALUE = /^[^\p{L}]*\d|@/u;

/**
 * Whether a row is a header further down in a file that was joined from several, with other columns: most of its cells that fill
 * fields are names of columns of this file, or of any other.
 */
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
