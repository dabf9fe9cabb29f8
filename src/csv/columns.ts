/**
 * Which column fills which field: as given by `--map`, otherwise by the header's exact name, a synonym, or a similar name.
 *
 * Headers are untrusted, so they are never keys of an object: `__proto__` and `constructor` are ordinary names.
 */
import type { LockstepError } from '../base/errors.ts';
import { sentenceFor } from '../base/reasons/reasons.ts';
import { refuseDoubtfulAmount } from './amount-column.ts';
import { isPrice, isTaxed, isUntaxed } from './amount-words.ts';
import { areCodes, areLabels, byContent, isOfAddress, isOfPerson, mostFit } from './by-content.ts';
import { indexesOf, type MappedColumn } from './cell-source.ts';
import { ambiguous, listColumns, mapOption, short, UnclearFile } from './column-errors.ts';
import { columnIndex, type Header, namelessColumn, refuseDuplicates } from './column-names.ts';
import { findNamePair, yieldToBetter } from './customer-columns.ts';
import { CUSTOMER_REFERENCES, FIELDS, type Field } from './fields.ts';
import { FirstCells } from './first-cells.ts';
import { type Fits, isEssential, isTaken, problemIn } from './fits.ts';
import { besideFuller, refuseCutNumbers, refuseUnnamed } from './order-column.ts';
import { type Preset, sourcesOf } from './presets.ts';
import { CONFIDENCE, recognise } from './recognise.ts';

export interface UnusedColumn {
  readonly index: number;
  readonly name: string;
  /** Set if the name fits a field, and the cells do not, or if it is not used because of `why`. */
  readonly unfit?: { readonly field: Field; readonly fits: Fits; readonly why?: string };
}

type UnusedCandidate = MappedColumn & { readonly why?: string };

export interface ColumnMapping {
  /** At most one per field, in the order of FIELDS. */
  readonly columns: readonly MappedColumn[];
  /** Columns of the file that fill no field. */
  readonly unmapped: readonly UnusedColumn[];
  /** Fields that no column fills, because a person said so. */
  readonly none: readonly Field[];
}

export interface MappingChoices {
  /** `--map`: field → a column's header or number (from 1: `4` or `#4`); empty where no column fills it. */
  readonly told?: ReadonlyMap<Field, string>;
  /** What was told for this header before. */
  readonly remembered?: ReadonlyMap<Field, string>;
  /** A preset is complete: a column that it does not name fills no field unless it was told. */
  readonly preset?: Preset;
  readonly firstRows?: readonly (readonly string[])[];
  /** The rows were chosen by what is wrong with them, so bad cells say nothing about their column. */
  readonly isSelection?: boolean;
  /** Of the cells. */
  readonly delimiter?: string;
}

/**
 * A column is found by its name and by its cells (fits.ts). What was told is taken as it is.
 * Throws CSV_DUPLICATE_HEADER, CSV_UNKNOWN_COLUMN, CSV_COLUMNS_AMBIGUOUS, CSV_CELLS_DO_NOT_FIT, CSV_NO_AMOUNT_COLUMN,
 * CSV_NO_CUSTOMER_COLUMN or CSV_NO_ORDER_COLUMN.
 */
export function mapColumns(header: Header, choices: MappingChoices = {}): ColumnMapping {
  const found = new Map<Field, MappedColumn>();
  try {
    return mapInto(found, header, choices);
  } catch (error) {
    if (error instanceof UnclearFile) error.columns = inOrder(found);
    throw error;
  }
}

const inOrder = (found: ReadonlyMap<Field, MappedColumn>) => FIELDS.flatMap((field) => found.get(field) ?? []);

function mapInto(found: Map<Field, MappedColumn>, header: Header, choices: MappingChoices): ColumnMapping {
  const { told = [], remembered = [], preset } = choices;
  if (header.isGiven) refuseDuplicates(header, fieldsByName(header, choices));
  const firstCells = new FirstCells(header, choices);
  const given = new Map([...remembered, ...told]);
  const isLeftOut = (field: Field) => given.get(field)?.trim() === '';
  const isOpen = (field: Field) => !found.has(field) && !isLeftOut(field);
  addChosen(found, firstCells, given, choices);
  const hasNames = header.isGiven && !preset;
  const unfit = hasNames ? recogniseAll(firstCells, found, isOpen) : [];
  if (hasNames && !isLeftOut('customer_name')) findNamePair(found, firstCells);
  const yielding = yieldToBetter(found, isLeftOut, firstCells);
  const unused = [...yielding, ...unfit];
  if (!CUSTOMER_REFERENCES.some((field) => found.has(field))) throw noCustomer(firstCells, unused);
  const columns = inOrder(found);
  if (!preset && !isLeftOut('amount')) refuseDoubtfulAmount(columns, firstCells);
  if (hasNames && isOpen('order_id')) refuseUnnamed(columns, unused, firstCells);
  if (!preset) refuseCutNumbers(columns, firstCells);
  return { columns, unmapped: unusedOf(header, columns, unused), none: FIELDS.filter(isLeftOut) };
}

/** Adds the columns that a person has chosen, and those of the preset for the other fields. */
function addChosen(
  found: Map<Field, MappedColumn>,
  firstCells: FirstCells,
  given: ReadonlyMap<Field, string>,
  { told, preset }: MappingChoices,
): void {
  const { header } = firstCells;
  for (const [field, column] of given) {
    if (column.trim() === '') continue;
    const source = { index: columnIndex(header, `--map ${field}=${column}`, column) };
    const how = told?.has(field) ? 'told' : 'remembered';
    found.set(field, firstCells.column(field, source, { how, confidence: 1 }));
  }
  const hasCells = (index: number) => firstCells.cells({ index }).some((cell) => cell !== '');
  for (const [field, source] of preset ? sourcesOf(preset, header.names, hasCells) : []) {
    if (!given.has(field)) found.set(field, firstCells.column(field, source, { how: 'preset', confidence: 1 }));
  }
}

/** The field that a name fills. A header may repeat a name that no field has: the exports of Wix have two columns called `Delivery city`. */
function fieldsByName(
  { names }: Header,
  { told, remembered, preset }: MappingChoices,
): (name: string) => Field | false {
  const chosen = [...(told ?? []), ...(remembered ?? [])].map(([field, column]) => [column, field] as const);
  const sources = preset ? [...sourcesOf(preset, names)] : [];
  const read = sources.flatMap(([field, source]) => indexesOf(source).map((index) => [names[index], field] as const));
  const known = new Map<string | undefined, Field>([...read, ...chosen]);
  const recognised = (name: string) => {
    const field = (byContent(name, []) ?? recognise(name))?.field;
    return field === undefined || told?.has(field) || remembered?.has(field) ? false : field;
  };
  return (name) => known.get(name) ?? (preset ? false : recognised(name));
}

function unusedOf(
  { names }: Header,
  columns: readonly MappedColumn[],
  unfit: readonly UnusedCandidate[],
): readonly UnusedColumn[] {
  const used = new Set(columns.flatMap(indexesOf));
  return names.flatMap((name, index): UnusedColumn[] => {
    if (used.has(index)) return [];
    const bad = unfit.find((column) => column.index === index);
    return [{ index, name, ...(bad && { unfit: { field: bad.field, fits: bad.fits, why: bad.why } }) }];
  });
}

/** Adds what the names and cells tell, and returns the columns whose cells do not fit their name. */
function recogniseAll(
  firstCells: FirstCells,
  found: Map<Field, MappedColumn>,
  isOpen: (field: Field) => boolean,
): readonly MappedColumn[] {
  const { header, isSelection } = firstCells;
  const taken = new Set([...found.values()].map(({ index }) => index));
  const named = header.names.flatMap((_, index) => (taken.has(index) ? [] : (namedAt(index, firstCells) ?? [])));
  const candidates = named.filter(({ field }) => isOpen(field));
  // A column with exactly the field's name is used, so its bad cells are reported one by one.
  const isUnfit = ({ name, field, fits, ...source }: MappedColumn) =>
    name !== field &&
    !isTaken(field, fits) &&
    (!isSelection || (field === 'client_id' && areCodes(firstCells.cells(source))));
  const unfit = candidates.filter(isUnfit);
  const fitting = candidates.filter((column) => !isUnfit(column));
  const choices = [...new Set(fitting.map(({ field }) => field))].flatMap((field) => {
    const columns = fitting.filter((column) => column.field === field);
    return choose(columns, firstCells) ?? [];
  });
  for (const choice of choices) if (!(choice instanceof UnclearFile)) found.set(choice.field, choice);
  const unclear = choices.find((choice) => choice instanceof UnclearFile);
  if (unclear) throw unclear;
  const missing = unfit.find(({ field }) => isEssential(field) && !found.has(field));
  if (missing) throw doesNotFit(missing, firstCells);
  return unfit;
}

/** The column as the field that its name and its cells tell. */
function namedAt(index: number, firstCells: FirstCells): MappedColumn | undefined {
  const { names } = firstCells.header;
  const [name = '', cells] = [names[index], firstCells.cells({ index })];
  const known = byContent(name, firstCells.orderCells({ index }), names[index - 1]) ?? recognise(name);
  if (!known) return undefined;
  const beside = [names[index - 1] ?? '', names[index + 1] ?? ''];
  if (known.field === 'description' && isOfPerson(name, cells, beside)) return undefined;
  if (known.field === 'status' && isOfAddress(name, beside)) return undefined;
  if (known.field === 'order_id' && known.confidence < CONFIDENCE.vague && !areLabels(cells)) return undefined;
  const column = firstCells.column(known.field, { index }, known);
  const isUntold = known.how === 'fuzzy' && column.fits.of === 0 && firstCells.hasRows; // neither its name nor a cell tells
  return isUntold ? undefined : column;
}

/** The column of a field: the only one of those that fit, or the one with the best name, unless others differ from it. */
function choose(fitting: readonly MappedColumn[], firstCells: FirstCells): MappedColumn | UnclearFile | undefined {
  const filled = fitting.filter(({ fits }) => fits.of > 0);
  const columns = withoutNet(filled.length > 0 ? filled : fitting);
  const most = Math.max(...columns.map(weightOf));
  const best = columns.filter((column) => weightOf(column) === most);
  const [column, ...others] = best.toSorted((one, other) => other.confidence - one.confidence);
  if (column === undefined) return undefined;
  const gap = besideFuller(column, columns, firstCells);
  if (gap || others.length === 0) return gap ?? column;
  const difference = others.map((other) => firstCells.difference(column, other)).find((one) => one !== undefined);
  const hasCells = column.fits.of > 0;
  if (!difference && hasCells) return column;
  const names = best.map(({ name }) => name);
  return ambiguous(column.field, names, firstCells.header.line, difference);
}

/** What is called an amount without taxes gives way to one with taxes. */
function withoutNet(columns: readonly MappedColumn[]): readonly MappedColumn[] {
  const isAmount = ({ field, name }: MappedColumn) =>
    field === 'amount' && isTaxed(name) && !isUntaxed(name) && !isPrice(name);
  return columns.some(isAmount) ? columns.filter(({ name }) => !isUntaxed(name)) : columns;
}

/** "Amount" may be the net amount, or a quantity, beside the "Total": its name says no more. */
function weightOf({ field, how, confidence, fits }: MappedColumn): number {
  return field === 'amount' && how === 'exact' && fits.of > 0 ? CONFIDENCE.synonym : confidence;
}

function doesNotFit(column: MappedColumn, firstCells: FirstCells): LockstepError {
  const { field, name } = column;
  const { cell = '', code = null } = problemIn(field, firstCells.cells(column)) ?? {};
  return new UnclearFile(
    'CSV_CELLS_DO_NOT_FIT',
    `Line ${firstCells.header.line}: ${unfitWords(column)}: "${short(cell)}" ${sentenceFor(code, { cell })}`,
    `If it is right, add ${mapOption(field, name)}; if no column has the ${field}, add --map ${field}=.`,
    [{ field, column: name }, { field }],
  );
}

const unusedWords = (column: UnusedCandidate) =>
  column.why === undefined ? unfitWords(column) : `"${short(column.name)}" is not used, because ${column.why}`;

function unfitWords({ field, name, how, fits: { fit, of } }: MappedColumn): string {
  const says = how === 'content' ? 'looks like' : 'has the name of';
  return `the column "${short(name)}" ${says} ${field}, but ${fit} of ${of} ${of === 1 ? 'cell fits' : 'cells fit'}`;
}

function oneColumn({ header: { names, isGiven } }: FirstCells, need: string, above: string): UnclearFile {
  const sign = /[,;\t|]/.exec(names[0] ?? '')?.[0];
  const perhaps = sign === undefined ? '' : '; perhaps each line is in quotes as a whole';
  return new UnclearFile(
    'CSV_NO_CUSTOMER_COLUMN',
    `${need}, but the file has one column only${isGiven ? `, ${listColumns(names)}` : ''}${perhaps}.`,
    sign === undefined
      ? `If another sign than comma, semicolon, tab or bar is between its cells, name it with --delimiter. ${above}.`
      : `Export the file again without these quotes, or name the sign between its cells, as in --delimiter ${JSON.stringify(sign)}.`,
  );
}

function noCustomer(firstCells: FirstCells, unused: readonly UnusedCandidate[]): LockstepError {
  const { names, isGiven } = firstCells.header;
  const need = `An order needs its customer: a column for one of ${CUSTOMER_REFERENCES.join(', ')}`;
  const has = isGiven
    ? `none of the columns ${listColumns(names)} looks like it${unused.map((column) => `; ${unusedWords(column)}`).join('')}`
    : 'the file has no header';
  const withEmails = names.flatMap((_, index) =>
    mostFit('customer_email', firstCells.cells({ index })) ? [index] : [],
  );
  const column = withEmails.find((index) => /mail/i.test(names[index] ?? '')) ?? withEmails[0] ?? -1; // not those of a seller
  const name = isGiven ? names[column] || namelessColumn(column) : `${column + 1}`;
  const seen = column === -1 ? '' : ` Column ${column + 1} has e-mail addresses.`;
  const doubtful = unused.find(({ why }) => why !== undefined);
  const example = doubtful
    ? mapOption('customer_name', doubtful.name)
    : `--map customer_email=${isGiven ? 'Column' : '2'}`;
  const remedy =
    column === -1
      ? `Name the column, as in ${example}`
      : `If they are the customers', add ${mapOption('customer_email', name)}`;
  const above = `If the header is ${isGiven ? 'further down' : 'below other lines'}, name its line with --header-row`;
  if (names.length === 1) return oneColumn(firstCells, need, above);
  const [heading] = firstCells.headings;
  if (heading !== undefined)
    return new UnclearFile(
      'CSV_NO_CUSTOMER_COLUMN',
      `${need}, but the lines of this report are grouped under headings such as "${short(heading)}". Export a report that names the customer in each line, such as a list of invoices.`,
      '',
    );
  const ofNames = doubtful ? [{ field: 'customer_name', column: doubtful.name }] : [];
  const ofEmails = withEmails.map((index) => ({ field: 'customer_email', column: names[index] ?? '' }));
  const choices = ofEmails.length > 0 ? ofEmails : ofNames;
  return new UnclearFile('CSV_NO_CUSTOMER_COLUMN', `${need}, but ${has}.${seen}`, `${remedy}. ${above}.`, choices);
}
