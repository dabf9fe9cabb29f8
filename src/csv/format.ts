/**
 * How a CSV is written: delimiter, quote, line ends, whether its first row is a header, and the decimal sign of its amounts.
 * Detected from its first MiB; every finding is shown and can be overridden.
 */
import { type AmountForm, type DecimalHint, type DecimalSign, decimalSignOf } from './amount.ts';
import { recognise } from './columns.ts';
import { type Dialect, parseBlock } from './parser.ts';

export const DELIMITERS = [',', ';', '\t', '|'] as const;
const QUOTES = ['"', "'"] as const;

export interface Format extends Dialect {
  readonly lineEnd: 'LF' | 'CRLF' | 'CR';
  readonly hasHeader: boolean;
  /** 1 if the first line is Excel's `sep=;`, which is not a row; otherwise 0. */
  readonly skippedLines: 0 | 1;
}

export interface FormatChoices {
  readonly delimiter?: string;
  readonly quote?: string;
  readonly hasHeader?: boolean;
}

export interface DetectedDecimal {
  readonly sign: AmountForm['decimal'];
  /** For people: the cell that shows it, or why it could not be detected. */
  readonly why: string;
}

/** `isWhole`: the sample is the whole file, so its last line is complete. */
export function detectFormat(sample: string, isWhole: boolean, choices: FormatChoices = {}): Format {
  const separator = /^sep=(.)\r?(?:\n|\r|$)/i.exec(sample);
  const text = separator ? sample.slice(separator[0].length) : sample;
  const { newline, lineEnd } = lineEndOf(text);
  const quote = choices.quote ?? quoteOf(text);
  const rowsBy = (delimiter: string) => firstRows(text, { delimiter, quote, newline }, isWhole);
  const delimiter = choices.delimiter ?? separator?.[1] ?? delimiterOf(rowsBy);
  const hasHeader = choices.hasHeader ?? looksLikeHeader(rowsBy(delimiter)[0] ?? []);
  return { delimiter, quote, newline, lineEnd, hasHeader, skippedLines: separator ? 1 : 0 };
}

/** The first rows of a sample that are not blank, at most 200. */
function firstRows(text: string, dialect: Dialect, isWhole: boolean): readonly (readonly string[])[] {
  const { rows } = parseBlock(text, dialect, isWhole, MOST_ROWS);
  return rows.filter((row) => row.some((cell) => cell.trim() !== ''));
}

/**
 * The decimal sign of a column: the one that its cells agree on. With `unsure`, ambiguous cells are refused instead of
 * guessed.
 */
export function detectDecimal(cells: readonly string[], chosen?: DecimalSign): DetectedDecimal {
  if (chosen) return { sign: chosen, why: 'as chosen' };
  const told = new Map<DecimalHint, string>();
  for (const cell of cells) {
    const says = decimalSignOf(cell);
    if (says !== undefined && !told.has(says)) told.set(says, cell.trim());
  }
  const [point, comma, either] = [told.get('.'), told.get(','), told.get('either')];
  const [notPoint, notComma] = [told.get('not .'), told.get('not ,')];
  if (point !== undefined && comma !== undefined) {
    return { sign: 'unsure', why: `"${point}" has a decimal point, "${comma}" a decimal comma` };
  }
  if (point !== undefined && notPoint !== undefined) {
    return { sign: 'unsure', why: `"${point}" has a decimal point, "${notPoint}" points between thousands` };
  }
  if (comma !== undefined && notComma !== undefined) {
    return { sign: 'unsure', why: `"${comma}" has a decimal comma, "${notComma}" commas between thousands` };
  }
  if (point !== undefined) return { sign: '.', why: `"${point}"` };
  if (comma !== undefined) return { sign: ',', why: `"${comma}"` };
  if (either !== undefined) return { sign: 'unsure', why: `"${either}" may have decimals or thousands` };
  const grouped = notPoint ?? notComma;
  if (grouped !== undefined) return { sign: 'unsure', why: `"${grouped}" has thousands and no decimals` };
  return { sign: '.', why: 'no amount has a decimal sign' };
}

const MOST_ROWS = 200;

function lineEndOf(text: string): Pick<Format, 'newline' | 'lineEnd'> {
  const feeds = text.split('\n').length - 1;
  if (feeds === 0) return text.includes('\r') ? { newline: '\r', lineEnd: 'CR' } : { newline: '\n', lineEnd: 'LF' };
  const pairs = text.split('\r\n').length - 1;
  return { newline: '\n', lineEnd: pairs * 2 > feeds ? 'CRLF' : 'LF' };
}

/**
 * The apostrophe, only if there is no double quote and cells begin and end with the apostrophe next to a delimiter or a
 * line's end.
 */
function quoteOf(text: string): string {
  if (text.includes('"')) return QUOTES[0];
  const quoted = text.match(/(?:^|[,;\t|\n])'[^'\n]*'(?=[,;\t|\r\n]|$)/g)?.length ?? 0;
  return quoted >= 2 && quoted * 2 > text.split('\n').length ? QUOTES[1] : QUOTES[0];
}

/** The delimiter with the most known header names; then the one with rows of equal width; then the one with the most columns. */
function delimiterOf(rowsBy: (delimiter: string) => readonly (readonly string[])[]): string {
  let best: string = DELIMITERS[0];
  let most = 0;
  for (const delimiter of DELIMITERS) {
    const rows = rowsBy(delimiter);
    const widths = new Map<number, number>();
    for (const { length } of rows) widths.set(length, (widths.get(length) ?? 0) + 1);
    const [width, count] = [...widths].sort((one, other) => other[1] - one[1])[0] ?? [1, 0];
    if (width < 2) continue;
    const known = knownNamesIn(rows[0] ?? []);
    const score = known * 100 + (count / rows.length) * 10 + Math.min(width, 100) / 100;
    if (score > most) [best, most] = [delimiter, score];
  }
  return best;
}

function looksLikeHeader(first: readonly string[]): boolean {
  if (knownNamesIn(first) > 0) return true;
  return !first.some((cell) => /@|^[-+(]?[\d.,' ]*\d/.test(cell.trim()));
}

/** How many of these cells are names of columns. Only the beginning of a long row is checked. */
export function knownNamesIn(cells: readonly string[]): number {
  return cells.slice(0, 200).filter((name) => !['fuzzy', undefined].includes(recognise(name)?.how)).length;
}
