/**
 * PapaParse's core parser, typed as it is used here: synchronous, on one block of text at a time.
 *
 * Not its Node stream (NODE_STREAM_INPUT): it drops the errors of a row, does not report where a row begins, and
 * buffers an unclosed quote without limit. With single blocks, the reader controls all three, and the consumer sets the
 * pace by pulling blocks. No `header` (names would become keys), no `dynamicTyping` (00012 has to stay unchanged).
 */
import Papa from 'papaparse';

export interface Dialect {
  readonly delimiter: string;
  /** Whether a space is after each delimiter, before the quote of the next cell. */
  readonly isSpaced?: boolean;
  readonly quote: string;
  /** `\n` even if lines end with `\r\n`: `withoutReturn` removes the `\r`. */
  readonly newline: '\n' | '\r';
}

export interface ParsedBlock {
  readonly rows: string[][];
  readonly faults: readonly QuoteFault[];
  /** The length of the parsed part of the block, in UTF-16 units. */
  readonly taken: number;
}

export interface QuoteFault {
  /** MissingQuotes: the quote is never closed. InvalidQuotes: the closing quote is followed by an invalid character. */
  readonly code: 'MissingQuotes' | 'InvalidQuotes';
  /** Index into `rows`. */
  readonly row: number;
  /** Where the quoted text begins, directly after its quote. */
  readonly index: number;
}

/** Parses the rows that end in this block or, with `isLast`, the whole block. At most `most` rows, if given. */
export function parseBlock(text: string, dialect: Dialect, isLast: boolean, most?: number): ParsedBlock {
  const { quote: quoteChar, newline } = dialect;
  const delimiter = dialect.isSpaced ? `${dialect.delimiter} ` : dialect.delimiter;
  const parser = new Papa.Parser({ delimiter, quoteChar, newline, preview: most });
  const result: Parsed = parser.parse(text, 0, !isLast); // its types are any; test/csv/read.test.ts checks the shape
  const rows = most !== undefined && result.data.length > most ? result.data.slice(0, most) : result.data;
  if (newline === '\n') for (const row of rows) withoutReturn(row);
  // Errors in an incomplete row are found again once the row is complete.
  const faults = result.errors.length === 0 ? NONE : result.errors.filter(({ row }) => row < rows.length);
  return { rows, faults, taken: result.meta.cursor };
}

interface Parsed {
  readonly data: string[][];
  readonly errors: readonly QuoteFault[];
  readonly meta: { readonly cursor: number };
}

const NONE: readonly QuoteFault[] = [];

function withoutReturn(row: string[]): void {
  const last = row.length - 1;
  const cell = row[last];
  if (cell?.endsWith('\r')) row[last] = cell.slice(0, -1);
}

/** At the end of files of DOS. */
const DOS_END = '\u001a';

/** Spaces, and the lines that reports and databases draw: `-----+-----`, `|---:|`, `=====`. */
const EMPTY = /^[\s\-+=_|*:]*$/;

/** Whether a row has no content. */
export function isBlank(cells: readonly string[]): boolean {
  for (const cell of cells) if (cell !== '' && cell !== DOS_END && !EMPTY.test(cell)) return false;
  return true;
}
