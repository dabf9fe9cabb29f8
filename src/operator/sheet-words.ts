/** How a file was read, in words for people: the command line and the console show the same. */
import { conditionWords } from '../base/condition.ts';
import { formatCount, plural } from '../base/counts.ts';
import type { MappedColumn } from '../csv/cell-source.ts';
import { namelessColumn, referenceTo } from '../csv/column-names.ts';
import type { UnusedColumn } from '../csv/columns.ts';
import type { CombineLines } from '../csv/combine.ts';
import type { Fits } from '../csv/fits.ts';
import type { Preset } from '../csv/presets.ts';
import type { Sheet } from '../csv/sheet.ts';
import type { ColumnCondition } from '../csv/where.ts';
import { formatShare } from './format.ts';

const DELIMITER_WORDS: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' };
const PARTS = { email: 'e-mail', name: 'name' } as const;
const HOW: Readonly<Record<Exclude<MappedColumn['how'], 'fuzzy'>, string>> = {
  told: 'as chosen',
  remembered: 'as chosen before',
  preset: 'by the preset',
  exact: 'has the name of the field',
  synonym: 'a common name for it',
  content: 'by its cells',
  shared: 'used to find and to create customers',
};

export function delimiterWords(delimiter: string): string {
  return DELIMITER_WORDS[delimiter] ?? JSON.stringify(delimiter);
}

export function decimalWords({ mapping, decimal: { sign, why } }: Pick<Sheet, 'mapping' | 'decimal'>): string {
  if (!mapping.columns.some(({ field }) => field === 'amount')) return 'no amounts';
  if (sign !== 'unsure') return `decimal sign ${JSON.stringify(sign)} (${why})`;
  return `the decimal sign of each amount is its own; an amount that can be read in two ways, such as 1.234, is not valid (${why})`;
}

export function presetWords({ name, title, header }: Preset): string {
  return `${name} (${title}), because the header has ${header.join(', ')}`;
}

/** `"Amount"`; `"Amount" (column 4)` if another column has the same name. */
export function columnLabel(index: number, names: readonly string[]): string {
  const name = JSON.stringify(names[index] ?? '');
  return referenceTo(index, names) === names[index] ? name : `${name} (column ${index + 1})`;
}

/** The columns that fill a field, in quotes. `names`: all columns of the file. */
export function columnWords({ index, also = [], take, ifNegative }: MappedColumn, names: readonly string[]): string {
  const columns = [index, ...also].map((one) => columnLabel(one, names)).join(' and ');
  if (ifNegative) return `${columns}, for negative amounts ${columnLabel(ifNegative.index, names)}`;
  return take === undefined ? columns : `${columns}, its ${PARTS[take]}`;
}

export function howWords({ how, confidence }: MappedColumn): string {
  return how === 'fuzzy' ? `a similar name, ${formatShare(confidence)} equal` : HOW[how];
}

export function fitWords({ fit, of }: Fits): string {
  return of === 0 ? 'its cells are empty' : `${formatCount(fit)} of ${plural(of, 'cell fits', 'cells fit')}`;
}

export function combineWords({ amount, description }: CombineLines): string {
  const amounts = amount === 'sum' ? 'amounts are added' : 'the first amount counts';
  const texts = description === 'join' ? 'descriptions are joined' : 'the first description counts';
  return `neighbouring lines with the same order_id become one order: ${amounts}, ${texts}`;
}

/** `Checked 4 lines and combined them into 3 rows`. `rows`: an order of several lines is one, and so is a line that is no order. */
export function checkedWords({ rows, lines = rows }: { readonly rows: number; readonly lines?: number | undefined }) {
  if (lines === rows) return `Checked ${plural(rows, 'row')}`;
  return `Checked ${plural(lines, 'line')} and combined them into ${plural(rows, 'row')}`;
}

/** `only orders where "Status" is Paid and "Currency" is EUR` */
export function whereWords(where: readonly ColumnCondition[]): string {
  return `only orders where ${where.map(({ name, condition }) => `${JSON.stringify(name)} ${conditionWords(condition)}`).join(' and ')}`;
}

export function unusedWords({ name, index, unfit }: UnusedColumn): string {
  if (name === namelessColumn(index)) return `${name} (column ${index + 1}, which has no name)`;
  const why = unfit ? ` (not ${unfit.field}: ${unfit.why ?? fitWords(unfit.fits)})` : '';
  return `${JSON.stringify(name)}${why}`;
}
