/**
 * PapaParse's core parser, typed as it is used here: synchronous, on one block of text at a time.
 *
 * Not its Node stream (NODE_STREAM_INPUT): that drops what it found wrong with a row, does not say where a row begins, and
 * keeps an unclosed quote growing out of reach. Block by block the reader sees all three, and the
 * consumer controls the pace by pulling blocks. No `header` (names would become keys), no `dynamicTyping` (00012 has to stay).
 */
import Papa from 'papaparse';

export interface Dialect {
  readonly delimiter: string;
  readonly quote: string;
  /** `\n` also where lines end with `\r\n`: `withoutReturn` takes the `\r` off. */
  readonly newline: '\n' | '\r';
}

export interface ParsedBlock {
  readonly rows: string[][];
  readonly faults: readonly QuoteFault[];
  /** How much of the block the rows took, in UTF-16 units. */
  readonly taken: number;
}

export interface QuoteFault {
  /** MissingQuotes: never closed. InvalidQuotes: followed by what may not follow a closed one. */
  readonly code: 'MissingQuotes' | 'InvalidQuotes';
  /** Index into `rows`. */
  readonly row: number;
  /** Where the quoted text begins, just behind its quote. */
  readonly index: number;
}

/** Parses rows that end in this block, or, with `isLast`, all of it. At most `most` rows, if given. */
export function parseBlock(text: string, dialect: Dialect, isLast: boolean, most?: number): ParsedBlock {
  const { delimiter, quote: quoteChar, newline } = dialect;
  const parser = new Papa.Parser({ delimiter, quoteChar, newline, preview: most });
  const result: Parsed = parser.parse(text, 0, !isLast); // its types say any; the shape is pinned by test/csv/read.test.ts
  const rows = most !== undefined && result.data.length > most ? result.data.slice(0, most) : result.data;
  if (newline === '\n') for (const row of rows) withoutReturn(row);
  // What is wrong with a row that is not complete yet is found again when it is.
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
