/** Lengths of cells, and the line breaks in them. */

export function charsIn(cells: readonly string[]): number {
  let chars = 0;
  for (const cell of cells) chars += cell.length;
  return chars;
}

export function breaksInCells(cells: readonly string[], newline: string): number {
  let count = 0;
  for (const cell of cells) count += breaksIn(cell, newline, cell.length);
  return count;
}

export function breaksIn(text: string, newline: string, end: number): number {
  let count = 0;
  for (let at = text.indexOf(newline); at !== -1 && at < end; at = text.indexOf(newline, at + 1)) count += 1;
  return count;
}
