/** A received CSV as a table of any kind: its format, what is above its header, its columns and its rows. */
import { wrongUse } from '../base/errors.ts';
import { listColumns, UnclearFile } from './column-errors.ts';
import { namelessColumn, numberedColumns } from './column-names.ts';
import { type DetectedEncoding, decodeSample, decodeText, detectEncoding, type Encoding } from './encoding.ts';
import { belowLines, DELIMITERS, detectFormat, type Format, type FormatChoices } from './format.ts';
import { withoutGuard } from './formulas.ts';
import { knownNamesIn } from './header.ts';
import { isBlank, parseBlock } from './parser.ts';
import { MAX_ROW_CHARS, readRows, readSample, type TextRow } from './read.ts';
import type { Received } from './receive.ts';
import { addedColumnsOf, LABEL_COLUMN } from './result-files.ts';

export interface TableChoices extends FormatChoices {
  readonly encoding?: Encoding;
  /** Whether a header without rows is a table. */
  readonly canBeEmpty?: boolean;
}

export interface Table {
  readonly encoding: DetectedEncoding;
  readonly format: Format;
  /**
   * The original columns, without columns that Lockstep added to a file of results. Without a header they are numbered; so is a
   * column without a name (`#4`).
   */
  readonly columns: readonly string[];
  readonly added: AddedColumns | undefined;
  /** The line of the header, or of the first row. */
  readonly headerLine: number;
  /** The rows above the header. */
  readonly title: readonly (readonly string[])[];
}

/** The columns that Lockstep added to a file of results. */
interface AddedColumns {
  readonly indexes: ReadonlySet<number>;
  /** The column with the order_id that an earlier load gave to a row; -1 if a person deleted it. */
  readonly label: number;
}

const MAX_COLUMNS = 1000;
/** The most blank lines that may be before the header. */
const MOST_BLANK_LINES = 1000;

/** Throws CSV_HEADER_INVALID, CSV_TOO_MANY_COLUMNS or CSV_NO_ROWS (exit code 2). `firstRows`: those of the sample. */
export function examineTable(
  received: Received,
  choices: TableChoices = {},
): Table & { readonly firstRows: readonly (readonly string[])[] } {
  const { name, sample, unpackedBytes } = received;
  const isWhole = sample.length === unpackedBytes;
  const encoding = detectEncoding(received, choices.encoding);
  const text = decodeSample(sample, encoding.encoding);
  const otherFormat = otherFormatOf(text);
  if (otherFormat)
    throw wrongUse(
      `${name} is ${otherFormat}, not CSV. Export it as CSV from the program that made it.`,
      'CSV_HEADER_INVALID',
    );
  const format = detectFormat(text, isWhole, choices);
  const body = belowLines(text, format.skippedLines, format.newline);
  if (choices.headerLine !== undefined && body === '')
    throw wrongUse(
      `Line ${choices.headerLine} cannot be the header: ${name} has fewer lines${isWhole ? '' : ' in its first MiB'}.`,
      'CSV_HEADER_INVALID',
    );
  const { rows, line: headerLine } = sampleRows(body, format, isWhole, name);
  if (choices.headerLine !== undefined && choices.headerLine !== headerLine)
    throw wrongUse(`Line ${choices.headerLine} of ${name} cannot be the header: it is empty.`, 'CSV_HEADER_INVALID');
  const [first = [], ...others] = rows;
  const added = format.hasHeader ? addedTo(first) : undefined;
  const columns = format.hasHeader
    ? without(added, first).map((cell, index) => kept(cell, added) || namelessColumn(index))
    : numberedColumns(first.length);
  const firstRows = (format.hasHeader ? others : rows).map((row) => without(added, row));
  if (format.hasHeader && knownNamesIn(columns) > 0 && knownNamesIn(firstRows[0] ?? []) >= SECOND_HEADER)
    throw new UnclearFile(
      'CSV_HEADER_INVALID',
      `${name}: the header has a second line, ${listColumns(firstRows[0] ?? [])}. Delete one of them.`,
      'Or name the line of the header with --header-row.',
    );
  if (firstRows.length === 0 && isWhole && !choices.canBeEmpty)
    throw wrongUse(`${name} has a header and no rows. It needs at least one row.`, 'CSV_NO_ROWS');
  const above = text.slice(0, text.length - body.length);
  const other = choices.headerLine === undefined ? tableIn(above, format) : undefined;
  if (other)
    throw new UnclearFile(
      'CSV_HEADER_INVALID',
      `${name}: above the header in line ${headerLine} is another table, with the columns ${listColumns(other)}. Load each table as a file of its own.`,
      'Or name the line of the header with --header-row.',
    );
  const title = titleRows(above, format, added);
  return { encoding, format, columns, added, headerLine, title, firstRows };
}

/** The columns of a table in the text above the header, also with another delimiter: a header with a row of its length below. */
function tableIn(above: string, { quote, newline }: Format): readonly string[] | undefined {
  for (const delimiter of DELIMITERS) {
    const { rows } = parseBlock(above, { delimiter, quote, newline }, true);
    const header = rows.find(
      (row, at) =>
        knownNamesIn(row) >= HEADER_ABOVE && !isBlank(rows[at + 1] ?? []) && rows[at + 1]?.length === row.length,
    );
    if (header) return header;
  }
  return undefined;
}

function titleRows(text: string, format: Format, added: AddedColumns | undefined): readonly (readonly string[])[] {
  if (text === '') return [];
  const { rows } = parseBlock(text.slice(0, -1), format, true);
  return added ? rows.map((row) => row.map(withoutGuard)) : rows;
}

/** Every row of the file except its header and blank lines, without added columns, in batches in the order of the file. */
export async function* tableRows(received: Received, table: Table): AsyncGenerator<readonly TextRow[]> {
  const { format, encoding, added } = table;
  const decoded = decodeText(received.read(), encoding.encoding);
  const text = format.skippedLines === 0 ? decoded : below(decoded, format.skippedLines, format.newline);
  let isHeaderDue = format.hasHeader;
  for await (const rows of readRows(text, format, { firstLine: 1 + format.skippedLines, time: received.time })) {
    const body = isHeaderDue ? rows.slice(1) : rows;
    isHeaderDue = false;
    if (body.length > 0) yield added ? body.map((row) => original(row, added)) : body;
  }
}

function sampleRows(
  text: string,
  format: Format,
  isWhole: boolean,
  name: string,
): { readonly rows: readonly (readonly string[])[]; readonly line: number } {
  const { rows, faults } = parseBlock(text, format, isWhole, MOST_BLANK_LINES);
  const at = rows.findIndex((row) => !isBlank(row));
  const first = rows[at];
  const line = Math.max(at, 0) + 1 + format.skippedLines;
  const where = `${name}, line ${line}`;
  if (!first && rows.length >= MOST_BLANK_LINES)
    throw wrongUse(
      `${name} begins with ${MOST_BLANK_LINES} blank lines or more. Delete them, or name the line of the header with --header-row.`,
      'CSV_HEADER_INVALID',
    );
  if (!first && isWhole)
    throw wrongUse(`${name} has only blank lines. It needs a header and at least one row.`, 'CSV_EMPTY');
  if (!first && !text.includes(format.newline)) {
    throw wrongUse(`${where}: the first line does not end within 1 MiB. Check that it is a CSV.`, 'CSV_HEADER_INVALID');
  }
  if (!first || faults.some(({ row }) => row === at)) {
    throw wrongUse(`${where}: a quote in the first line is not closed correctly. Correct it.`, 'CSV_HEADER_INVALID');
  }
  if (first.length > MAX_COLUMNS) {
    const message = `${where}: ${first.length} columns; at most ${MAX_COLUMNS} are allowed. Delete the columns that are not needed.`;
    throw wrongUse(message, 'CSV_TOO_MANY_COLUMNS');
  }
  if (first.reduce((chars, cell) => chars + cell.length, 0) > MAX_ROW_CHARS) {
    throw wrongUse(
      `${where}: the first line has more than ${MAX_ROW_CHARS} characters. Check that it is a CSV.`,
      'CSV_HEADER_INVALID',
    );
  }
  // Read as the file will be read: a bad row does not hide the rows after it.
  const others = readSample(text, format, isWhole).slice(1);
  return { rows: [first, ...others.map(({ cells }) => cells)], line };
}

const OTHER_FORMATS: readonly (readonly [start: RegExp, format: string])[] = [
  [/^\s*<(?:!doctype|html|table|\?xml|div|head|meta|body|style)\b/i, 'HTML or XML'],
  [/^\s*MIME-Version:/i, 'a web page'],
  [/^\s*(?:\{\s*"|\[\s*\{)/, 'JSON'],
  [/^\s*BEGIN:V(?:CARD|CALENDAR)\b/i, 'vCard or iCalendar'],
  [/^\s*(?:OFXHEADER:|!Type:)/i, 'OFX or QIF'],
  [/^\s*\{\\rtf/, 'RTF'],
];

/** The format of a text that is not CSV but may have its name; undefined for anything else. */
export function otherFormatOf(text: string): string | undefined {
  return OTHER_FORMATS.find(([start]) => start.test(text))?.[1];
}

/** A row with this many names of columns is a header. */
const SECOND_HEADER = 3;
/** Titles seldom have so many names of columns. */
const HEADER_ABOVE = 2;

/** A cell of the header: copied, because a slice would keep the whole sample in memory. */
function kept(cell: string, added: AddedColumns | undefined): string {
  return Buffer.from(added ? withoutGuard(cell.trim()) : cell.trim()).toString();
}

function addedTo(header: readonly string[]): AddedColumns | undefined {
  const indexes = new Set(addedColumnsOf(header));
  const label = header.findIndex((name) => name.trim() === LABEL_COLUMN);
  return indexes.size === 0 ? undefined : { indexes, label };
}

function without(added: AddedColumns | undefined, cells: readonly string[]): readonly string[] {
  return added ? cells.filter((_, index) => !added.indexes.has(index)) : cells;
}

/** The original row of a file that Lockstep wrote. */
function original(row: TextRow, added: AddedColumns): TextRow {
  const label = withoutGuard(row.cells[added.label] ?? '').trim();
  const cells = without(added, row.cells).map(withoutGuard);
  return label === '' ? { ...row, cells } : { ...row, cells, label };
}

/** The lines below the first `count`; blocks may cut a line. */
async function* below(text: AsyncIterable<string>, count: number, newline: string): AsyncGenerator<string> {
  let left = count;
  for await (const block of text) {
    let at = 0;
    while (left > 0) {
      const end = block.indexOf(newline, at);
      if (end === -1) break;
      at = end + 1;
      left -= 1;
    }
    if (left === 0 && at < block.length) yield at === 0 ? block : block.slice(at);
  }
}
