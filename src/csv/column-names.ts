/** The names of a file's columns: which column a name means, and what columns without a name are called. */
import { createHash } from 'node:crypto';
import { closest } from '../base/closest.ts';
import { type LockstepError, wrongUse } from '../base/errors.ts';
import { listColumns, mapOption, short, UnclearFile } from './column-errors.ts';
import { plainWords } from './words.ts';

export interface Header {
  readonly names: readonly string[];
  /** Without a header, columns are named by number only. */
  readonly isGiven: boolean;
  /** Its line in the file. */
  readonly line: number;
}

/** The signature of a header, under which its mapping is remembered: equal for equal names in equal order. */
export function headerSignature(names: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(names.map((name) => name.trim())))
    .digest('hex')
    .slice(0, 16);
}

/** What a column is called that has no name, or shares it: `#4`. `index`: from 0. */
export function namelessColumn(index: number): string {
  return `#${index + 1}`;
}

/** What names a column for `--map`: its name, or its number if another column has the same name. */
export function referenceTo(index: number, names: readonly string[]): string {
  const name = names[index] ?? '';
  return names.indexOf(name) === names.lastIndexOf(name) ? name : namelessColumn(index);
}

/** Names for the columns of a file without a header. */
export function numberedColumns(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `column_${index + 1}`);
}

/** From 0. `given`: what names the column, for the message. Throws CSV_UNKNOWN_COLUMN. */
export function columnIndex({ names, isGiven }: Header, given: string, column: string): number {
  const wanted = column.trim();
  const byName = isGiven ? names.indexOf(wanted) : -1;
  if (byName !== -1) return byName;
  const number = /^#?(\d{1,4})$/.exec(wanted);
  const at = number ? Number(number[1]) - 1 : -1;
  const isNumber = at >= 0 && at < names.length;
  if (isNumber && wanted.startsWith('#')) return at;
  const folded = isGiven ? names.filter((name) => plainWords(name) === plainWords(wanted)) : [];
  if (folded.length === 1) return names.indexOf(folded[0] ?? '');
  if (isNumber) return at;
  const guess = isGiven ? closest(wanted, names) : undefined;
  const has = isGiven
    ? `${guess === undefined ? '' : `Did you mean "${short(guess)}"? `}It has ${listColumns(names)}`
    : `It has no header: name a column by its number, 1 to ${names.length}`;
  throw wrongUse(`${given}: the file has no such column. ${has}.`, 'CSV_UNKNOWN_COLUMN');
}

/**
 * Two columns of one name are refused if it may matter which of them is read. `useOf`: the field that columns of this name fill, or
 * whether they are read. Throws CSV_DUPLICATE_HEADER.
 */
export function refuseDuplicates({ names, line }: Header, useOf: (name: string) => string | boolean): void {
  const first = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const before = first.get(name);
    const use = name === '' || before === undefined ? false : useOf(name);
    if (before !== undefined && use !== false) throw duplicate(name, [before, index], line, use);
    first.set(name, index);
  }
}

function duplicate(
  name: string,
  [one, other]: readonly [number, number],
  line: number,
  use: string | true,
): LockstepError {
  const code = 'CSV_DUPLICATE_HEADER';
  const statement = `Line ${line}: columns ${one + 1} and ${other + 1} are both called "${short(name)}".`;
  if (use === true) return wrongUse(`${statement} Rename one of them.`, code);
  const choices = [one, other].map((index) => ({ field: use, column: namelessColumn(index) }));
  const option = mapOption(use, namelessColumn(one));
  return new UnclearFile(code, statement, `Name the one to read by its number, as in ${option}.`, choices);
}
