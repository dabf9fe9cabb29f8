/**
 * A received CSV as a table of any kind: its format, its columns and its rows. And as a sheet of orders: which column
 * fills which field, and its checked rows.
 */
import { LockstepError } from '../base/errors.ts';
import type { AmountForm, DecimalSign } from './amount.ts';
import { type ColumnMapping, headerSignature, listColumns, mapColumns, numberedColumns } from './columns.ts';
import { type DetectedEncoding, decodeSample, decodeText, detectEncoding, type Encoding } from './encoding.ts';
import type { Field } from './fields.ts';
import {
  type DetectedDecimal,
  detectDecimal,
  detectFormat,
  type Format,
  type FormatChoices,
  knownNamesIn,
} from './format.ts';
import { withoutGuard } from './formulas.ts';
import { parseBlock } from './parser.ts';
import { MAX_ROW_CHARS, readRows, readSample, type TextRow } from './read.ts';
import type { Received } from './receive.ts';
import { addedColumnsOf } from './results.ts';
import { type CheckedRow, RowValidator } from './validate.ts';

export interface TableChoices extends FormatChoices {
  readonly encoding?: Encoding;
}

export interface Table {
  readonly encoding: DetectedEncoding;
  readonly format: Format;
  /** The original columns, without columns that Lockstep added to a file of results. Without a header they are numbered. */
  readonly columns: readonly string[];
  readonly addedColumns: number;
}

export interface SheetChoices extends TableChoices {
  readonly decimal?: DecimalSign;
  /** Whether (12.00) and 12.00- mean minus 12. */
  readonly accounting?: boolean;
  /** Field → a column's header or number. */
  readonly map?: ReadonlyMap<Field, string>;
  /** The mapping that was given earlier for this header signature. A mapping that is given now takes precedence. */
  readonly recall?: (signature: string) => ReadonlyMap<Field, string> | undefined;
}

export interface Sheet extends Table {
  /** Equal for files with the same header; the mapping is remembered under it. */
  readonly signature: string;
  readonly mapping: ColumnMapping;
  readonly decimal: DetectedDecimal;
  readonly amounts: AmountForm;
}

const MAX_COLUMNS = 1000;
/** The most blank lines that may be before the header. */
const MOST_BLANK_LINES = 1000;

/** Throws what `examineTable` and `mapColumns` throw (exit code 2). */
export function examineSheet(received: Received, choices: SheetChoices = {}): Sheet {
  const { firstRows, ...table } = examineTable(received, choices);
  const { columns, format } = table;
  const signature = headerSignature(columns);
  const told = new Map([...(choices.recall?.(signature) ?? []), ...(choices.map ?? [])]);
  const mapping = mapColumns({ names: columns, isGiven: format.hasHeader }, told, firstRows.slice(0, 20));
  const isSelection = table.addedColumns > 0 && choices.decimal === undefined;
  const decimal = isSelection ? OF_SELECTION : detectDecimal(amountCells(mapping, firstRows), choices.decimal);
  const amounts = { decimal: decimal.sign, accounting: choices.accounting ?? false };
  return { ...table, signature, mapping, decimal, amounts };
}

/** A file of results has only rows with certain problems, so it does not show the decimal sign of the original file. */
const OF_SELECTION: DetectedDecimal = { sign: 'unsure', why: 'a file of results has only some of the rows' };

/** Throws CSV_HEADER_INVALID, CSV_TOO_MANY_COLUMNS or CSV_NO_ROWS (exit code 2). `firstRows`: those of the sample. */
export function examineTable(
  received: Received,
  choices: TableChoices = {},
): Table & { readonly firstRows: readonly (readonly string[])[] } {
  const { name, sample, unpackedBytes } = received;
  const isWhole = sample.length === unpackedBytes;
  const encoding = detectEncoding(received, choices.encoding);
  const text = decodeSample(sample, encoding.encoding);
  const other = otherFormatOf(text);
  if (other)
    throw refuse('CSV_HEADER_INVALID', `${name} is ${other}, not CSV. Export it as CSV from the program that made it.`);
  const format = detectFormat(text, isWhole, choices);
  const rows = sampleRows(format.skippedLines === 0 ? text : withoutFirstLine(text), format, isWhole, name);
  const [first = [], ...others] = rows;
  const added = format.hasHeader ? addedColumnsOf(first.map((cell) => cell.trim())) : 0;
  const columns = format.hasHeader
    ? first.slice(added).map((cell) => kept(cell, added))
    : numberedColumns(first.length);
  const firstRows = (format.hasHeader ? others : rows).map((row) => row.slice(added));
  if (format.hasHeader && knownNamesIn(columns) > 0 && knownNamesIn(firstRows[0] ?? []) >= SECOND_HEADER)
    throw refuse(
      'CSV_HEADER_INVALID',
      `${name}: the header has a second line, ${listColumns(firstRows[0] ?? [])}. Delete one of them.`,
    );
  if (firstRows.length === 0 && isWhole)
    throw refuse('CSV_NO_ROWS', `${name} has a header and no rows. Nothing to load.`);
  return { encoding, format, columns, addedColumns: added, firstRows };
}

/** Every row of the file except its header and blank lines, checked, in batches in the order of the file. */
export async function* checkedRows(
  received: Received,
  sheet: Sheet,
  validator: RowValidator,
): AsyncGenerator<readonly CheckedRow[]> {
  for await (const rows of tableRows(received, sheet)) yield rows.map((row) => validator.check(row));
}

/** Every row of the file except its header and blank lines, without added columns, in batches in the order of the file. */
export async function* tableRows(received: Received, table: Table): AsyncGenerator<readonly TextRow[]> {
  const { format, encoding, addedColumns } = table;
  const decoded = decodeText(received.read(), encoding.encoding);
  const text = format.skippedLines === 0 ? decoded : withoutFirst(decoded);
  let isHeaderDue = format.hasHeader;
  for await (const rows of readRows(text, format, { firstLine: 1 + format.skippedLines, time: received.time })) {
    const body = isHeaderDue ? rows.slice(1) : rows;
    isHeaderDue = false;
    if (body.length > 0) yield addedColumns === 0 ? body : body.map((row) => original(row, addedColumns));
  }
}

/** The validator for a sheet's rows. */
export function validatorOf({ columns, mapping, amounts }: Sheet): RowValidator {
  return new RowValidator({ width: columns.length, mapping, amounts });
}

function sampleRows(text: string, format: Format, isWhole: boolean, name: string): readonly (readonly string[])[] {
  const { rows, faults } = parseBlock(text, format, isWhole, MOST_BLANK_LINES);
  const at = rows.findIndex((row) => row.some((cell) => cell.trim() !== ''));
  const first = rows[at];
  const where = `${name}, line ${Math.max(at, 0) + 1 + format.skippedLines}`;
  if (!first && isWhole)
    throw refuse('CSV_EMPTY', `${name} has only blank lines. It needs a header and at least one row.`);
  if (!first && !text.includes(format.newline)) {
    throw refuse('CSV_HEADER_INVALID', `${where}: the first line does not end within 1 MiB. Check that it is a CSV.`);
  }
  if (!first || faults.some(({ row }) => row === at)) {
    throw refuse('CSV_HEADER_INVALID', `${where}: a quote in the first line is not closed correctly. Correct it.`);
  }
  if (first.length > MAX_COLUMNS) {
    const message = `${where}: ${first.length} columns; at most ${MAX_COLUMNS} are allowed. Delete the columns that are not needed.`;
    throw refuse('CSV_TOO_MANY_COLUMNS', message);
  }
  if (first.reduce((chars, cell) => chars + cell.length, 0) > MAX_ROW_CHARS) {
    throw refuse(
      'CSV_HEADER_INVALID',
      `${where}: the first line has more than ${MAX_ROW_CHARS} characters. Check that it is a CSV.`,
    );
  }
  // Read as the file will be read: a bad row does not hide the rows after it.
  return [
    first,
    ...readSample(text, format, isWhole)
      .slice(1)
      .map(({ cells }) => cells),
  ];
}

/** The format of a file that is not a CSV but has its name; undefined for anything else. */
function otherFormatOf(text: string): string | undefined {
  if (/^\s*<(?:!doctype|html|table|\?xml|div|head|body|style)\b/i.test(text)) return 'HTML or XML';
  return /^\s*(?:\{\s*"|\[\s*\{)/.test(text) ? 'JSON' : undefined;
}

/** A row with this many names of columns is a header. */
const SECOND_HEADER = 3;

function amountCells({ columns }: ColumnMapping, rows: readonly (readonly string[])[]): readonly string[] {
  const column = columns.find(({ field }) => field === 'amount');
  return column ? rows.map((row) => row[column.index] ?? '') : [];
}

/** A cell of the header: copied, because a slice would keep the whole sample in memory. */
function kept(cell: string, added: number): string {
  return Buffer.from(added > 0 ? withoutGuard(cell.trim()) : cell.trim()).toString();
}

/** The original row of a file that Lockstep wrote. */
function original(row: TextRow, addedColumns: number): TextRow {
  return { ...row, cells: row.cells.slice(addedColumns).map(withoutGuard) };
}

function withoutFirstLine(text: string): string {
  return text.replace(/^[^\r\n]*(?:\r\n|\r|\n|$)/, '');
}

/** The first block of a decoded file contains the whole first line, `sep=;`. */
async function* withoutFirst(text: AsyncIterable<string>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const block of text) {
    yield isFirst ? withoutFirstLine(block) : block;
    isFirst = isFirst && block === '';
  }
}

const refuse = (code: string, message: string) => new LockstepError(code, message, { exitCode: 2 });
