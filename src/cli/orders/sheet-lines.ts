/** Describes how a file was understood: people check this first when a load looks wrong. */
import type { Field } from '../../csv/fields.ts';
import type { Received } from '../../csv/receive.ts';
import type { Sheet } from '../../csv/sheet.ts';
import { formatShare, plural } from '../words.ts';

const DELIMITER_WORDS: Readonly<Record<string, string>> = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' };

export function sheetLines(sheet: Sheet, { name, sizeBytes, isGzip, sha256 }: Received): readonly string[] {
  const { encoding, format, mapping, decimal } = sheet;
  const size = `${plural(sizeBytes, 'byte')}${isGzip ? ', gzip' : ''}`;
  const header = format.hasHeader ? 'with a header' : 'without a header';
  const by = DELIMITER_WORDS[format.delimiter] ?? JSON.stringify(format.delimiter);
  const sign = decimal.sign === 'unsure' ? 'decimal sign not clear' : `decimal sign ${JSON.stringify(decimal.sign)}`;
  const has = (wanted: Field) => mapping.columns.some(({ field }) => field === wanted);
  const width = Math.max(...mapping.columns.map(({ field }) => field.length));
  return [
    `${name}: ${size}, sha256 ${sha256.slice(0, 12)}…`,
    `  ${encoding.encoding}, columns by ${by}, quotes ${format.quote}, lines by ${format.lineEnd}, ${header}; ${sign} (${decimal.why})`,
    ...mapping.columns.map(
      ({ field, name: column, how, confidence }) =>
        `  ${field.padEnd(width)}  ← ${JSON.stringify(column)} (${how === 'fuzzy' ? `guessed, confidence ${formatShare(confidence)}` : how})`,
    ),
    ...(mapping.unmapped.length === 0
      ? []
      : [`  not used: ${mapping.unmapped.map(({ name: column }) => JSON.stringify(column)).join(', ')}`]),
    ...(has('order_id') ? [] : NO_ORDER_ID),
    ...(has('amount') ? [] : NO_AMOUNT),
  ];
}

/** Labels distinguish the rows of this file, but not the same order in another file. */
const NO_ORDER_ID = [
  'Note: no column fills order_id, so the orders get labels such as LS-1a2b3c4d-1, and an order that is also in another ' +
    'file is not recognised as the same order. If a column has their numbers, add --map order_id=Column.',
];

const NO_AMOUNT = [
  'Note: no column fills amount, so the orders get no amount. If a column has it, add --map amount=Column.',
];
