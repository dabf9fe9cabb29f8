/**
 * The rows of a CSV as text, each with the line it begins on, in bounded memory whatever the file contains.
 *
 * An error in one row does not affect the next: an unclosed quote is reported on the line where it opens, and reading
 * continues on the next line; a row over the length limit is skipped to its end, and so are lines of a quoted cell over it that
 * cannot be rows. All of this takes time linear in the file.
 */
import type { Facts } from '../base/reasons/reason.ts';
import { breaksIn, breaksInCells, charsIn } from './lengths.ts';
import { type Dialect, isBlank, type ParsedBlock, parseBlock, type QuoteFault } from './parser.ts';
import type { ReadingTime } from './reading-time.ts';
import { areSwallowed } from './swallowed-rows.ts';

export interface TextRow {
  /** From 1, as an editor counts. A quoted cell may contain line breaks. */
  readonly line: number;
  readonly cells: readonly string[];
  readonly fault?: RowFault;
  /** The order_id that an earlier load gave to this row, in a file of results. */
  readonly label?: string;
  /** Whether the file ends in this row, without a line end. */
  readonly isUnended?: boolean;
}

export interface RowFault {
  readonly code: 'UNCLOSED_QUOTE' | 'BAD_QUOTES' | 'ROW_TOO_LONG' | 'NUL_BYTE';
  /** `line`: the line of the error, which is not always the row's first line. */
  readonly facts: Facts & { readonly line: number };
}

export interface ReadOptions {
  /** The limit for one row, in UTF-16 units; default 262,144. */
  readonly maxRowChars?: number;
  /** The line on which `text` begins; default 1. */
  readonly firstLine?: number;
  /** The time that is left for reading. The caller's own work on the rows does not count. */
  readonly time?: ReadingTime;
}

export const MAX_ROW_CHARS = 256 * 1024;
const SAMPLE_BLOCK = 64 * 1024;
const SPACE = 0x20;
const RETURN = 0x0d;

/** Reads `text` block by block. Each batch has rows in the order of the file, without blank rows (only empty cells). */
export async function* readRows(
  text: AsyncIterable<string>,
  dialect: Dialect,
  { maxRowChars = MAX_ROW_CHARS, firstLine = 1, time }: ReadOptions = {},
): AsyncGenerator<readonly TextRow[]> {
  const scanner = new RowScanner(dialect, maxRowChars, firstLine);
  time?.go();
  for await (const block of text) {
    const rows = scanner.add(block);
    time?.spend();
    if (rows.length === 0) continue;
    yield rows;
    time?.go();
  }
  const rows = scanner.end();
  if (rows.length > 0) yield rows;
}

/** The rows at a file's beginning, without blank rows. `isWhole`: the sample is the whole file, so its last line is complete. */
export function readSample(text: string, dialect: Dialect, isWhole: boolean): readonly TextRow[] {
  const scanner = new RowScanner(dialect, MAX_ROW_CHARS, 1);
  const batches: (readonly TextRow[])[] = [];
  for (let at = 0; at < text.length; at += SAMPLE_BLOCK) batches.push(scanner.add(text.slice(at, at + SAMPLE_BLOCK)));
  if (isWhole) batches.push(scanner.end());
  return batches.flat();
}

/** After this many characters were read twice because of bad quotes, each row ends with its line. */
const FREE_REREADING = 8 * 1024 * 1024;
/** Added to this limit for each character of the file, so that reading stays linear. */
const REREADING_PER_CHAR = 4;

class RowScanner {
  readonly #dialect: Dialect;
  readonly #maxRowChars: number;
  /** Text that is not part of a row yet, and the line it begins on. */
  #text = '';
  #line: number;
  /** The cells of the first row, which is the header if there is one. */
  #width: number | undefined;
  /** The same without empty cells at its end: a line with fewer cells cannot be a row. */
  #least = 1;
  /** True inside a row that is too long and already reported; lasts until the next line end. */
  #isSkipping = false;
  /** True inside a quoted cell that is too long and already reported; lasts until its quote closes, or a line may be a row. */
  #isInCell = false;
  #rereadChars = 0;
  #readChars = 0;
  #rows: TextRow[] = [];

  constructor(dialect: Dialect, maxRowChars: number, firstLine: number) {
    this.#line = firstLine;
    this.#dialect = dialect;
    this.#maxRowChars = maxRowChars;
  }

  add(block: string): readonly TextRow[] {
    this.#readChars += block.length;
    this.#text = this.#text === '' ? block : this.#text + block;
    this.#scan(false);
    return this.#take();
  }

  end(): readonly TextRow[] {
    const isUnended = this.#text !== '' && !this.#text.endsWith(this.#dialect.newline);
    this.#scan(true);
    const rows = this.#take();
    return isUnended ? rows.map((row, index) => (index === rows.length - 1 ? { ...row, isUnended } : row)) : rows;
  }

  #take(): readonly TextRow[] {
    const rows = this.#rows;
    this.#rows = [];
    return rows;
  }

  #scan(isLast: boolean): void {
    while (this.#text !== '') {
      if (this.#isSkipping && !this.#skipLine()) return;
      if (this.#isInCell && !this.#skipCell(isLast)) return;
      this.#skipBlankLines();
      const block = parseBlock(this.#text, this.#dialect, isLast);
      const bad = this.#badIn(block);
      if (bad) {
        this.#recover(block, bad, isLast);
        continue;
      }
      this.#accept(block);
      const isRowLeft = !isLast && this.#text.length > this.#maxRowChars;
      if (!isRowLeft) return;
      this.#cut();
    }
  }

  /** The first quote that is closed in a later row or never, so that rows below it can still be read. */
  #badIn({ rows, faults, taken }: ParsedBlock): Pick<QuoteFault, 'row' | 'index'> | undefined {
    const isOpen = (row: number) => rows[row]?.some((cell) => cell.includes(this.#dialect.newline)) === true;
    const fault = faults.find(({ row }) => isOpen(row));
    if (breaksIn(this.#text, this.#dialect.newline, taken) <= rows.length) return fault;
    const width = this.#width ?? rows.find((cells) => !isBlank(cells))?.length ?? 0;
    const row = rows.findIndex((cells, at) => isOpen(at) && areSwallowed(cells, width, this.#dialect));
    return row === -1 || (fault && fault.row <= row) ? fault : { row, index: 0 };
  }

  /**
   * Skips the blank lines at the beginning of the text. A parser makes a row of each, and a small archive can contain
   * millions.
   */
  #skipBlankLines(): void {
    const lineEnd = this.#dialect.newline.charCodeAt(0);
    let taken = 0;
    for (let at = 0; at < this.#text.length; at += 1) {
      const code = this.#text.charCodeAt(at);
      if (code === lineEnd) {
        taken = at + 1;
        this.#line += 1;
      } else if (code !== SPACE && code !== RETURN) break;
    }
    if (taken > 0) this.#text = this.#text.slice(taken);
  }

  /** Accepts all rows of a block. */
  #accept({ rows, faults, taken }: ParsedBlock): void {
    const hasNul = this.#text.includes('\0');
    // Rows without line breaks inside are counted, not searched.
    const isLineEach = faults.length === 0 && breaksIn(this.#text, this.#dialect.newline, taken) <= rows.length;
    for (const [index, cells] of rows.entries()) {
      const fault = faults.length === 0 ? undefined : faults.find(({ row }) => row === index);
      this.#add(cells, fault && faultAt(codeOf(fault), this.#line), hasNul);
      this.#line += isLineEach ? 1 : 1 + breaksInCells(cells, this.#dialect.newline);
    }
    this.#text = this.#text.slice(taken);
  }

  #add(cells: readonly string[], fault: RowFault | undefined, hasNul: boolean): void {
    const chars = charsIn(cells);
    if (!fault && (chars === 0 || isBlank(cells))) return;
    if (chars > this.#maxRowChars) {
      this.#addTooLong(cells.join(this.#dialect.delimiter));
      return;
    }
    const line = this.#line;
    if (this.#width === undefined) this.#least = cells.findLastIndex((cell) => cell.trim() !== '') + 1;
    this.#width ??= cells.length;
    const found =
      fault ?? (hasNul && cells.some((cell) => cell.includes('\0')) ? faultAt('NUL_BYTE', line) : undefined);
    this.#rows.push(found ? { line, cells, fault: found } : { line, cells });
  }

  #addTooLong(begins: string): void {
    // Copied, not sliced: a slice would keep the whole row in memory.
    const cells = [`${Buffer.from(begins.slice(0, 80)).toString()}…`];
    this.#rows.push({
      line: this.#line,
      cells,
      fault: { code: 'ROW_TOO_LONG', facts: { line: this.#line, most: this.#maxRowChars } },
    });
  }

  /** Accepts the rows before a bad one, reports the bad one, and continues after the line where its quote opens. */
  #recover(block: ParsedBlock, bad: Pick<QuoteFault, 'row' | 'index'>, isLast: boolean): void {
    const start = bad.row === 0 ? 0 : parseBlock(this.#text, this.#dialect, isLast, bad.row).taken;
    this.#accept({
      rows: block.rows.slice(0, bad.row),
      faults: block.faults.filter(({ row }) => row < bad.row),
      taken: start,
    });
    this.#rereadChars += this.#text.length;
    this.#unclosed(Math.max(bad.index - start, 0));
  }

  /** The text begins with a row that has an unclosed quote at `index`. */
  #unclosed(index: number): void {
    const { newline, delimiter } = this.#dialect;
    const at = this.#text.indexOf(newline, index);
    const end = at === -1 ? this.#text.length : at + 1;
    const row = this.#text.slice(0, at === -1 ? end : at).replace(/\r$/, '');
    const opensOn = this.#line + breaksIn(this.#text, newline, index);
    this.#add(row.split(delimiter), faultAt('UNCLOSED_QUOTE', opensOn), false);
    this.#line += breaksIn(row, newline, row.length) + 1;
    this.#text = this.#text.slice(end);
    if (this.#rereadChars > FREE_REREADING + REREADING_PER_CHAR * this.#readChars) this.#takeLineByLine();
  }

  /** The text begins with a row over the length limit that has not ended yet. */
  #cut(): void {
    const at = this.#text.indexOf(this.#dialect.newline);
    if (at !== -1 && at <= this.#maxRowChars) {
      const { faults } = parseBlock(this.#text, this.#dialect, true);
      this.#rereadChars += this.#text.length;
      this.#unclosed(faults[0]?.index ?? this.#text.indexOf(this.#dialect.quote) + 1);
      this.#isInCell = true;
      return;
    }
    this.#addTooLong(this.#text);
    this.#isSkipping = true;
  }

  /** False while the line continues. */
  #skipLine(): boolean {
    const at = this.#text.indexOf(this.#dialect.newline);
    this.#text = at === -1 ? '' : this.#text.slice(at + 1);
    this.#isSkipping = at === -1;
    if (at !== -1) this.#line += 1;
    return at !== -1;
  }

  /** False while the cell continues. A line that is too long ends it: as a row, it is reported. */
  #skipCell(isLast: boolean): boolean {
    const { newline, delimiter, quote } = this.#dialect;
    while (this.#isInCell && this.#text !== '') {
      const at = this.#text.indexOf(newline);
      if (at === -1 && !isLast && this.#text.length <= this.#maxRowChars) return false;
      const line = this.#text.slice(0, at === -1 ? undefined : at);
      const mayBeRow = line.split(delimiter, this.#least).length >= this.#least;
      this.#isInCell = !mayBeRow && !line.replaceAll(quote + quote, '').includes(quote);
      if (mayBeRow) return true;
      this.#text = at === -1 ? '' : this.#text.slice(at + 1);
      this.#line += 1;
    }
    return !this.#isInCell;
  }

  /** After too many failed reads, reads the rest again so that each row ends with its line. */
  #takeLineByLine(): void {
    const { newline } = this.#dialect;
    for (let at = this.#text.indexOf(newline); at !== -1; at = this.#text.indexOf(newline)) {
      const { rows, faults } = parseBlock(this.#text.slice(0, at), this.#dialect, true);
      const fault = faults[0];
      const found = fault && faultAt(codeOf(fault), this.#line);
      this.#add(rows[0] ?? [], found, this.#text.slice(0, at).includes('\0'));
      this.#line += 1;
      this.#text = this.#text.slice(at + 1);
    }
  }
}

const faultAt = (code: RowFault['code'], line: number): RowFault => ({ code, facts: { line } });

const codeOf = (fault: QuoteFault): RowFault['code'] =>
  fault.code === 'MissingQuotes' ? 'UNCLOSED_QUOTE' : 'BAD_QUOTES';
