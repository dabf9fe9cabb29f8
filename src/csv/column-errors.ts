/** Errors about the columns of a file: each says what is wrong, and how to continue on the command line. */
import { firstOf } from '../base/counts.ts';
import { LockstepError } from '../base/errors.ts';
import { shortened } from '../base/texts.ts';
import { likelyAmount } from './amount-words.ts';
import type { MappedColumn } from './cell-source.ts';
import type { Encoding } from './encoding.ts';

/** A text of a file, and the encoding in which it is this text. */
export interface Reading {
  readonly text: string;
  readonly encoding: Encoding;
}

/** What may be right: the column fills the field, or without one no column does. */
export interface ColumnChoice {
  readonly field: string;
  readonly column?: string;
  /** What becomes of several lines of one order then. */
  readonly combine?: 'first';
}

/** A file that can be read once a person has chosen columns, the line of the header or an encoding. */
export class UnclearFile extends LockstepError {
  /** The message without options of the command line. */
  readonly statement: string;
  /** The columns that fill a field, as far as they were found. */
  columns: readonly MappedColumn[] = [];
  /** If a person has to choose the encoding: one of the texts in each that is possible; the last one is as the file was read. */
  readings: readonly Reading[] = [];
  /** What `onCommandLine` names, to choose with one click. */
  readonly choices: readonly ColumnChoice[];

  constructor(code: string, statement: string, onCommandLine: string, choices: readonly ColumnChoice[] = []) {
    super(code, `${statement} ${onCommandLine}`.trim(), { exitCode: 2 });
    this.statement = statement;
    this.choices = choices;
  }
}

/** What an error says to people who are not on the command line. */
export function statementOf(error: LockstepError): string {
  return error instanceof UnclearFile ? error.statement : error.message;
}

/** `difference`: two of the columns, with cells that are not the same. */
export function ambiguous(
  field: string,
  names: readonly string[],
  line: number,
  difference?: readonly { readonly name: string; readonly cell: string }[],
): UnclearFile {
  const differ = difference
    ? `, and differ: ${difference.map(({ name, cell }) => `"${short(name)}" ${cell === '' ? 'is empty' : `has "${short(cell)}"`}`).join(' where ')}`
    : '';
  return new UnclearFile(
    'CSV_COLUMNS_AMBIGUOUS',
    `Line ${line}: the columns ${listColumns(names)} all look like ${field}${differ}.`,
    `Name one, as in ${mapOption(field, (field === 'amount' ? likelyAmount(names) : undefined) ?? names[0])}.`,
    names.map((column) => ({ field, column })),
  );
}

/** `--map field=Column`, as a shell takes it. */
export function mapOption(field: string, name = ''): string {
  const pair = `${field}=${name}`;
  return `--map ${/^[\w=.-]+$/.test(pair) ? pair : `"${pair}"`}`;
}

export function listColumns(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => `"${short(name)}"`);
  return firstOf(shown, names.length);
}

export const short = (name: string) => shortened(name, 40);
