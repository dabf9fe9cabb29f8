/** Rows that a quote has swallowed: it opens in one row, is no quote but an inch sign or a misprint, and closes in a later row. */
import type { Dialect } from './parser.ts';

const NUMBER = /^[-+(]?[\d.,' ]*\d[\d.,' )]*$/;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/**
 * Whether each line of these cells is a row by itself: it has as many cells as the header, and most numbers and e-mail addresses
 * are in the columns in which the first line has them. An address or a note of several lines is not like that.
 */
export function areSwallowed(cells: readonly string[], width: number, { delimiter, newline }: Dialect): boolean {
  const lines = cells.join(delimiter).split(newline);
  if (lines.length < 2) return false;
  const [first = [], ...others] = lines.map((line) => line.split(delimiter));
  if (first.length !== width || others.some(({ length }) => length !== width)) return false;
  const known = first.flatMap((cell, index) => (kindOf(cell) === 'text' ? [] : [index]));
  const isLike = (other: readonly string[]) =>
    known.filter((index) => kindOf(first[index]) === kindOf(other[index])).length * 2 >= known.length;
  return known.length > 0 && others.every(isLike);
}

function kindOf(cell = ''): 'number' | 'email' | 'text' {
  const text = cell.trim();
  if (NUMBER.test(text)) return 'number';
  return EMAIL.test(text) ? 'email' : 'text';
}
