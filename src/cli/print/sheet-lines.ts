/** Describes how a file was understood: people check this first when a load looks wrong. */
import { firstOf, plural } from '../../base/counts.ts';
import type { MappedColumn } from '../../csv/cell-source.ts';
import type { UnusedColumn } from '../../csv/columns.ts';
import type { Received } from '../../csv/receive.ts';
import type { Sheet } from '../../csv/sheet.ts';
import {
  columnWords,
  combineWords,
  decimalWords,
  delimiterWords,
  fitWords,
  howWords,
  presetWords,
  unusedWords,
  whereWords,
} from '../../operator/sheet-words.ts';

export function sheetLines(sheet: Sheet, { name, sizeBytes, isGzip, sha256 }: Received): readonly string[] {
  const { encoding, format, mapping, preset, combine, where, limit, headerLine } = sheet;
  const size = `${plural(sizeBytes, 'byte')}${isGzip ? ', gzip' : ''}`;
  const header = format.hasHeader ? `header on line ${headerLine}` : 'without a header';
  const by = delimiterWords(format.delimiter);
  const width = Math.max(...mapping.columns.map(({ field }) => field.length));
  return [
    `${name}: ${size}, sha256 ${sha256.slice(0, 12)}…`,
    `  ${encoding.encoding}, delimiter ${by}, quote ${format.quote}, line end ${format.lineEnd}, ${header}; ${decimalWords(sheet)}`,
    ...(preset ? [`  preset ${presetWords(preset)}; --preset none turns it off`] : []),
    ...mapping.columns.map((column) => `  ${column.field.padEnd(width)}  ← ${matchOf(column, sheet.columns)}`),
    ...(mapping.none.length === 0 ? [] : [`  no column, as chosen: ${mapping.none.join(', ')}`]),
    ...unusedLines(mapping.unmapped),
    ...(combine ? [`  ${combineWords(combine)}`] : []),
    ...(where.length > 0 ? [`  ${whereWords(where)}`] : []),
    ...(limit === undefined ? [] : [`  at most ${plural(limit, 'order')}, because of --limit ${limit}`]),
  ];
}

/** Unused columns that are named, at most. */
const MOST_UNUSED = 12;

function matchOf(column: MappedColumn, names: readonly string[]): string {
  return `${columnWords(column, names)} (${howWords(column)}; ${fitWords(column.fits)})`;
}

/** Columns whose name fits a field go first. */
function unusedLines(unused: readonly UnusedColumn[]): readonly string[] {
  if (unused.length === 0) return [];
  const sorted = [...unused.filter(({ unfit }) => unfit), ...unused.filter(({ unfit }) => !unfit)];
  return [`  not used: ${firstOf(sorted.slice(0, MOST_UNUSED).map(unusedWords), sorted.length)}`];
}
