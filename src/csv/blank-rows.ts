/** Rows without any content. */

/** At the end of files of DOS. */
const DOS_END = '\u001a';

/** Spaces, and the lines that reports and databases draw: `-----+-----`, `|---:|`, `=====`. */
const EMPTY = /^[\s\-+=_|*:]*$/;

export function isBlank(cells: readonly string[]): boolean {
  for (const cell of cells) if (cell !== '' && cell !== DOS_END && !EMPTY.test(cell)) return false;
  return true;
}
