/** A received CSV as a sheet of orders: which column fills what (all to be shown), and its checked rows. */
import type { AmountForm, DecimalSign } from '../base/amount.ts';
import type { LockstepError } from '../base/errors.ts';
import { cellFrom } from './cell-source.ts';
import { UnclearFile } from './column-errors.ts';
import { headerSignature } from './column-names.ts';
import { type ColumnMapping, mapColumns } from './columns.ts';
import { type CombineChoice, type CombineLines, combinationOf, combined } from './combine.ts';
import type { Field } from './fields.ts';
import { type DetectedDecimal, detectDecimal } from './format.ts';
import { Overview } from './overview.ts';
import {
  currencyIndexOf,
  type Preset,
  presetFor,
  type ReversalColumns,
  reversalColumnsOf,
  type Where,
} from './presets.ts';
import type { Received } from './receive.ts';
import { examineTable, type Table, type TableChoices, tableRows } from './table.ts';
import { type CheckedRow, RowValidator } from './validate.ts';
import { type ColumnCondition, conditionsOn } from './where.ts';
import { WordCheck } from './word-check.ts';

export interface SheetChoices extends TableChoices {
  readonly decimal?: DecimalSign;
  /** Whether (12.00) and 12.00- mean minus 12. */
  readonly accounting?: boolean;
  /** Field → a column's header or number. */
  readonly map?: ReadonlyMap<Field, string>;
  /** The mapping that was given earlier for this header signature. A mapping that is given now takes precedence. */
  readonly recall?: (signature: string) => ReadonlyMap<Field, string> | undefined;
  /** The presets that there are. Default: none. */
  readonly presets?: readonly Preset[];
  /** The name of a preset, or `none`. Default: the one that is recognised by the header. */
  readonly preset?: string;
  readonly combineLines?: CombineChoice;
  /** Which orders are loaded, instead of what the preset says. */
  readonly where?: Where;
  /** The maximum number of orders to read. Default: all. */
  readonly limit?: number;
}

export interface Sheet extends Table {
  /** Equal for files with the same header; the mapping is remembered under it. */
  readonly signature: string;
  readonly mapping: ColumnMapping;
  readonly decimal: DetectedDecimal;
  readonly amounts: AmountForm;
  readonly preset: Preset | undefined;
  readonly combine: CombineLines | undefined;
  /** Conditions that hold for every order that is loaded. */
  readonly where: readonly ColumnCondition[];
  /** The column with the currency of the amounts, from 0. */
  readonly currencyIndex: number | undefined;
  readonly reversals: ReversalColumns;
  readonly limit: number | undefined;
}

/** Throws what `examineTable`, `presetFor` and `mapColumns` throw, CSV_ENCODING_UNCLEAR and CSV_LINES_WITHOUT_ORDER (exit code 2). */
export function examineSheet(received: Received, choices: SheetChoices = {}): Sheet {
  const { firstRows, ...table } = examineTable(received, choices);
  const { columns, format, headerLine: line } = table;
  const words = wordsAbove(table);
  for (const row of firstRows) words.add(row);
  words.refuse(received.name);
  const signature = headerSignature(columns);
  const preset = presetFor(format.hasHeader ? columns : [], choices.presets ?? [], choices.preset);
  const header = { names: columns, isGiven: format.hasHeader, line };
  const mapping = mapColumns(header, {
    ...{ preset, firstRows, isSelection: table.added !== undefined, delimiter: format.delimiter },
    ...{ told: choices.map, remembered: choices.recall?.(signature) },
  });
  const isSelection = table.added !== undefined && choices.decimal === undefined;
  const decimal = isSelection ? OF_SELECTION : detectAmounts(mapping, firstRows, choices.decimal);
  const amounts = { decimal: decimal.sign, accounting: choices.accounting ?? false };
  const combine = combinationOf(choices.combineLines, preset?.combineLines);
  if (choices.combineLines !== undefined && combine && orderIdIndex(mapping) === undefined) throw withoutOrder();
  const where = choices.where
    ? conditionsOn(header, choices.where, '--where')
    : conditionsOn(header, preset?.where ?? new Map(), `where in the preset ${preset?.name}:`);
  return {
    ...table,
    signature,
    mapping,
    decimal,
    amounts,
    preset,
    combine,
    where,
    currencyIndex: currencyIndexOf(columns, preset),
    reversals: reversalColumnsOf(columns, preset),
    limit: choices.limit,
  };
}

/** A file of results may have only rows with certain problems, so it does not show the decimal sign of the original file. */
const OF_SELECTION: DetectedDecimal = {
  sign: 'unsure',
  why: 'a file that Lockstep made may have only some of the rows',
};

/**
 * The orders of the file that the sheet selects, checked, in batches in the file's order; lines are combined if it says so.
 * Throws CSV_ENCODING_UNCLEAR at the end.
 */
export async function* checkedRows(
  received: Received,
  sheet: Sheet,
  validator = new RowValidator(sheet),
  overview = new Overview(sheet),
): AsyncGenerator<readonly CheckedRow[]> {
  const index = orderIdIndex(sheet.mapping);
  const lines = checkedLines(received, sheet, validator);
  const where = { orderIdIndex: index ?? 0, width: sheet.columns.length };
  const rows = sheet.combine && index !== undefined ? combined(lines, sheet.combine, where) : lines;
  let left = sheet.limit ?? Number.POSITIVE_INFINITY;
  for await (const batch of rows) {
    const taken: CheckedRow[] = [];
    for (const row of batch) if (taken.length < left && overview.takes(row)) taken.push(row);
    if (taken.length > 0) yield taken;
    left -= taken.length;
    if (left <= 0) return;
  }
}

async function* checkedLines(
  received: Received,
  sheet: Sheet,
  validator: RowValidator,
): AsyncGenerator<readonly CheckedRow[]> {
  const words = wordsAbove(sheet);
  for await (const rows of tableRows(received, sheet)) {
    for (const { cells } of rows) words.add(cells);
    yield rows.map((row) => validator.check(row));
  }
  words.refuse(received.name);
}

/** Checks how the title and the header were decoded; the caller adds the rows. */
function wordsAbove({ encoding, title, columns }: Table): WordCheck {
  const words = new WordCheck(encoding);
  for (const cells of [...title, columns]) words.add(cells);
  return words;
}

function orderIdIndex({ columns }: ColumnMapping): number | undefined {
  return columns.find(({ field }) => field === 'order_id')?.index;
}

function detectAmounts(
  { columns }: ColumnMapping,
  rows: readonly (readonly string[])[],
  chosen?: DecimalSign,
): DetectedDecimal {
  const column = columns.find(({ field }) => field === 'amount');
  return detectDecimal(column ? rows.map((row) => cellFrom(row, column)) : [], chosen, column?.name);
}

function withoutOrder(): LockstepError {
  return new UnclearFile(
    'CSV_LINES_WITHOUT_ORDER',
    'Lines are combined by their order_id, and no column fills it.',
    'Name the column with --map order_id=Column, or leave out --combine-lines.',
  );
}
