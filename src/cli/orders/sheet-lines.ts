/** Describes how a file was understood: people check this first when a load looks wrong. */
import type { MappedColumn, UnusedColumn } from '../../csv/columns.ts';
import type { CombineLines } from '../../csv/combine.ts';
import type { Field } from '../../csv/fields.ts';
import type { Fits } from '../../csv/fits.ts';
import type { Preset } from '../../csv/presets.ts';
import type { Received } from '../../csv/receive.ts';
import type { Sheet } from '../../csv/sheet.ts';
import { formatCount, formatShare, plural } from '../words.ts';

const DELIMITER_WORDS: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' };

export function sheetLines(sheet: Sheet, { name, sizeBytes, isGzip, sha256 }: Received): readonly string[] {
  const { encoding, format, mapping, decimal, preset, combine, limit, headerLine } = sheet;
  const size = `${plural(sizeBytes, 'byte')}${isGzip ? ', gzip' : ''}`;
  const header = format.hasHeader ? `header on line ${headerLine}` : 'without a header';
  const by = DELIMITER_WORDS[format.delimiter] ?? JSON.stringify(format.delimiter);
  const sign = decimal.sign === 'unsure' ? 'decimal sign not clear' : `decimal sign ${JSON.stringify(decimal.sign)}`;
  const has = (wanted: Field) => mapping.columns.some(({ field }) => field === wanted);
  const width = Math.max(...mapping.columns.map(({ field }) => field.length));
  return [
    `${name}: ${size}, sha256 ${sha256.slice(0, 12)}…`,
    `  ${encoding.encoding}, columns by ${by}, quotes ${format.quote}, lines by ${format.lineEnd}, ${header}; ${sign} (${decimal.why})`,
    ...(preset ? [presetLine(preset)] : []),
    ...mapping.columns.map((column) => `  ${column.field.padEnd(width)}  ← ${matchOf(column, sheet.columns)}`),
    ...(mapping.none.length === 0 ? [] : [`  no column, as you said: ${mapping.none.join(', ')}`]),
    ...unusedLines(mapping.unmapped),
    ...(combine ? [combineLine(combine)] : []),
    ...(limit === undefined ? [] : [`  at most ${plural(limit, 'order')}, because of --limit ${limit}`]),
    ...(has('order_id') ? [] : NO_ORDER_ID),
    ...(has('amount') ? [] : NO_AMOUNT),
  ];
}

function presetLine({ name, title, header }: Preset): string {
  return `  preset ${name} (${title}), because the header has ${header.join(', ')}; --preset none turns it off`;
}

/** So many columns that are not used are named. */
const MOST_UNUSED = 12;
const PARTS = { email: 'e-mail', name: 'name' } as const;
const HOW: Readonly<Record<Exclude<MappedColumn['how'], 'fuzzy'>, string>> = {
  told: 'as you said',
  remembered: 'as you said before',
  preset: 'preset',
  exact: 'same name',
  synonym: 'synonym',
  shared: 'shared',
};

function matchOf({ name, how, confidence, fits, also = [], take }: MappedColumn, names: readonly string[]): string {
  const columns = [name, ...also.map((index) => names[index] ?? '')].map((one) => JSON.stringify(one)).join(' and ');
  const why = how === 'fuzzy' ? `similar name, ${formatShare(confidence)}` : HOW[how];
  return `${columns}${take === undefined ? '' : `, its ${PARTS[take]}`} (${why}; ${fitWords(fits)})`;
}

/** Columns whose name fits a field go first. */
function unusedLines(unused: readonly UnusedColumn[]): readonly string[] {
  if (unused.length === 0) return [];
  const sorted = [...unused.filter(({ unfit }) => unfit), ...unused.filter(({ unfit }) => !unfit)];
  const more = sorted.length > MOST_UNUSED ? ` and ${sorted.length - MOST_UNUSED} more` : '';
  return [`  not used: ${sorted.slice(0, MOST_UNUSED).map(unusedWords).join(', ')}${more}`];
}

function unusedWords({ name, unfit }: UnusedColumn): string {
  const why = unfit ? ` (not ${unfit.field}: ${fitWords(unfit.fits)})` : '';
  return `${JSON.stringify(name)}${why}`;
}

function fitWords({ fit, of }: Fits): string {
  return of === 0 ? 'its cells are empty' : `${formatCount(fit)} of ${plural(of, 'cell')} fit`;
}

function combineLine({ amount, description }: CombineLines): string {
  const amounts = amount === 'sum' ? 'amounts are added' : 'the first amount counts';
  const texts = description === 'join' ? 'descriptions are joined' : 'the first description counts';
  return `  neighbouring lines with the same order_id become one order: ${amounts}, ${texts}`;
}

/** Labels distinguish the rows of this file, but not the same order in another file. */
const NO_ORDER_ID = [
  'Note: no column fills order_id, so the orders get labels such as LS-1a2b3c4d-1, and an order that is also in another ' +
    'file is not recognised as the same order. If a column has their numbers, add --map order_id=Column.',
];

const NO_AMOUNT = [
  'Note: no column fills amount, so the orders get no amount. If a column has it, add --map amount=Column.',
];
