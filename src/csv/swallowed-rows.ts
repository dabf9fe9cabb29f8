/** Rows that a quote has swallowed: it opens in one row, is no quote but an inch sign or a misprint, and closes in a later row. */
import type { Dialect } from './parser.ts';

const NUMBER = /^[-+(]?[\d.,' ]*\d[\d.,' )]*$/;
const EMAIL = /^[^\s@]+@[^\s@]+$/;
const CODE = /^[^\s"]*\d[^\s"]*$/;
/** In fewer columns, such lines may be a note with delimiters. */
const ENOUGH = 2;

/**
 * Whether each line of these cells is a row by itself: it has as many cells as the header, and most numbers, codes and e-mail
 * addresses are in the columns in which the first line has them. An address or a note of several lines is not like that.
 */
export function areSwallowed(cells: readonly string[], width: number, { delimiter, newline }: Dialect): boolean {
  if (cells.some((cell) => cell.includes(delimiter) && !cell.includes(newline))) return false; // a quote that is one
  const lines = cells.join(delimiter).split(newline);
  if (lines.length < 2) return false;
  const [first = [], ...others] = lines.map((line) => line.split(delimiter));
  if (first.length !== width || others.some(({ length }) => length !== width)) return false;
  const known = first.flatMap((cell, index) => (kindOf(cell) === 'text' ? [] : [index]));
  const isLike = (other: readonly string[]) =>
    known.filter((index) => kindOf(first[index]) === kindOf(other[index])).length * 2 >= known.length;
  return known.length >= ENOUGH && others.every(isLike);
}

function kindOf(cell = ''): 'number' | 'code' | 'email' | 'text' {
  const text = cell.trim();
  if (NUMBER.test(text)) return 'number';
  if (EMAIL.test(text)) return 'email';
  return CODE.test(text) ? 'code' : 'text';
}
