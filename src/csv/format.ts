/**
 * How a CSV is written: delimiter, quote, line ends, whether its first row is a header, and the decimal sign of its amounts.
 * Detected from its first MiB; every finding is shown and can be overridden.
 */
import { type AmountForm, type DecimalHint, type DecimalSign, decimalSignOf } from '../base/amount.ts';
import { headerAt, knownNamesIn, looksLikeHeader } from './header.ts';
import { type Dialect, isBlank, parseBlock } from './parser.ts';

export const DELIMITERS = [',', ';', '\t', '|'] as const;
const QUOTES = ['"', "'"] as const;

export interface Format extends Dialect {
  readonly lineEnd: 'LF' | 'CRLF' | 'CR';
  readonly hasHeader: boolean;
  /** Lines at the beginning of the file that are not rows: a title above the header, and Excel's `sep=;`. */
  readonly skippedLines: number;
}

export interface FormatChoices {
  readonly delimiter?: string;
  readonly quote?: string;
  readonly hasHeader?: boolean;
  /** The line of the header, from 1. */
  readonly headerLine?: number;
}

export interface DetectedDecimal {
  readonly sign: AmountForm['decimal'];
  /** For people: the cell that shows it, or why it could not be detected. */
  readonly why: string;
}

/** `isWhole`: the sample is the whole file, so its last line is complete. */
export function detectFormat(sample: string, isWhole: boolean, choices: FormatChoices = {}): Format {
  const separator = /^sep=(.)\r?(?:\n|\r|$)/i.exec(sample);
  const { newline, lineEnd } = lineEndOf(separator ? sample.slice(separator[0].length) : sample);
  const given = choices.headerLine === undefined ? 0 : choices.headerLine - 1;
  const above = Math.max(given, separator ? 1 : 0);
  const text = belowLines(sample, above, newline);
  const quote = choices.quote ?? quoteOf(text);
  const rowsBy = (delimiter: string) => parseBlock(text, { delimiter, quote, newline }, isWhole, MOST_ROWS).rows;
  const isTitled = choices.hasHeader !== false && choices.headerLine === undefined;
  const headerIn = (rows: readonly (readonly string[])[]) => (isTitled ? headerAt(rows) : rows.findIndex(isFilled));
  const bodyBy = (delimiter: string) => {
    const all = rowsBy(delimiter);
    return all.slice(Math.max(headerIn(all), 0)).filter(isFilled);
  };
  const delimiter = choices.delimiter ?? separator?.[1] ?? delimiterOf(bodyBy);
  const isSpaced = text.includes(`${delimiter} ${quote}`) && isSpacedBy(delimiter, bodyBy);
  const rows = rowsBy(isSpaced ? `${delimiter} ` : delimiter);
  const at = headerIn(rows);
  const hasHeader = choices.hasHeader ?? (choices.headerLine !== undefined || looksLikeHeader(rows[at] ?? []));
  const title = hasHeader && rows.slice(0, Math.max(at, 0)).some(isFilled) ? linesOf(rows.slice(0, at), newline) : 0;
  return { delimiter, quote, newline, lineEnd, isSpaced, hasHeader, skippedLines: above + title };
}

/** The text below this many lines; empty if there is none. */
export function belowLines(text: string, count: number, newline: string): string {
  let at = 0;
  for (let left = count; left > 0; left -= 1) {
    const end = text.indexOf(newline, at);
    if (end === -1) return '';
    at = end + 1;
  }
  return text.slice(at);
}

const isFilled = (row: readonly string[]) => !isBlank(row);

/** How many lines these rows take: a quoted cell may hold line breaks. */
function linesOf(rows: readonly (readonly string[])[], newline: string): number {
  return rows.reduce((lines, row) => lines + row.join('').split(newline).length, 0);
}

/**
 * The decimal sign of a column: the one that its cells agree on. With `unsure`, ambiguous cells are refused instead of
 * guessed. `name`: of the column.
 */
export function detectDecimal(cells: readonly string[], chosen?: DecimalSign, name = ''): DetectedDecimal {
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
  const decimal = besideThousands(cells, told, name);
  if (decimal !== undefined) return decimal;
  if (either !== undefined) return { sign: 'unsure', why: `"${either}" may have decimals or thousands` };
  const grouped = notPoint ?? notComma;
  if (grouped !== undefined) return { sign: 'unsure', why: `"${grouped}" has thousands and no decimals` };
  // Not a point: 1.234 in a later row may be a thousand.
  return { sign: 'unsure', why: 'the first amounts have no decimals' };
}

/** No language of East Asia has a decimal comma. */
const EAST_ASIAN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** In 250.000 beside 1.250.000, the point groups thousands too; so does the comma in 15,000 in languages of East Asia. */
function besideThousands(
  cells: readonly string[],
  told: ReadonlyMap<DecimalHint, string>,
  name: string,
): DetectedDecimal | undefined {
  const ambiguous = cells.filter((cell) => decimalSignOf(cell) === 'either');
  const [example] = ambiguous;
  if (example === undefined) return undefined;
  const [points, commas] = [told.get('not .'), told.get('not ,')];
  const areAll = (sign: '.' | ',') =>
    ambiguous.every((cell) => /\d([.,])\d/.exec(cell.normalize('NFKC'))?.[1] === sign);
  if (areAll('.') && points !== undefined && commas === undefined)
    return { sign: ',', why: `"${points}" has points between thousands` };
  if (areAll(',') && points === undefined && (commas !== undefined || EAST_ASIAN.test(name)))
    return { sign: '.', why: `"${commas ?? example}" has commas between thousands` };
  return undefined;
}

const MOST_ROWS = 200;

function lineEndOf(text: string): Pick<Format, 'newline' | 'lineEnd'> {
  const rows = text.replace(/"[^"]*"/g, ''); // a cell may have line ends of another kind
  const count = (end: string) => rows.split(end).length - 1;
  const [feeds, pairs] = [count('\n'), count('\r\n')];
  if (count('\r') - pairs > feeds) return { newline: '\r', lineEnd: 'CR' };
  return { newline: '\n', lineEnd: pairs * 2 > feeds ? 'CRLF' : 'LF' };
}

/** The apostrophe, only if most lines have cells that begin and end with it next to a delimiter or a line's end. */
function quoteOf(text: string): string {
  const quoted = (form: RegExp) => text.match(form)?.length ?? 0;
  const single = quoted(/(?:^|[,;\t|\n])'[^'\n]*'(?=[,;\t|\r\n]|$)/g);
  if (single < 2 || single * 2 <= text.split('\n').length) return QUOTES[0];
  return single > quoted(/(?:^|[,;\t|\n])"[^"]*"(?=[,;\t|\r\n]|$)/g) ? QUOTES[1] : QUOTES[0];
}

/** The header and the rows, without blank ones, as this delimiter makes them. */
type BodyBy = (delimiter: string) => readonly (readonly string[])[];

/** The delimiter with the most known header names; then the one with rows of equal width; then the one with the most columns. */
function delimiterOf(bodyBy: BodyBy): string {
  let best: string = DELIMITERS[0];
  let most = 0;
  for (const delimiter of DELIMITERS) {
    const rows = bodyBy(delimiter);
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

/** `"1001", "Lee, Ann"`: a quote after a space would be a part of the cell, and the comma in it would end the cell. */
function isSpacedBy(delimiter: string, bodyBy: BodyBy): boolean {
  const [plain, spaced] = [delimiter, `${delimiter} `].map((by) => {
    const rows = bodyBy(by);
    const width = rows[0]?.length ?? 0;
    return { width, fitting: rows.filter(({ length }) => length === width).length };
  });
  return plain?.width === spaced?.width && (spaced?.fitting ?? 0) >= (plain?.fitting ?? 0);
}
