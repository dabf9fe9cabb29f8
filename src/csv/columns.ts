/**
 * Which column fills which field: as given by `--map`, otherwise by the header's exact name, a synonym, or a similar name.
 *
 * Headers are untrusted, so they are never keys of an object: `__proto__` and `constructor` are ordinary names.
 */
import { createHash } from 'node:crypto';
import { closest } from '../base/closest.ts';
import { LockstepError } from '../base/errors.ts';
import { byContent, mostFit } from './by-content.ts';
import { type CellSource, cellFrom } from './cell-source.ts';
import { CUSTOMER_REFERENCES, FIELDS, type Field, SHARED } from './fields.ts';
import { type Fits, fitsOf, isEssential, isTaken, MOST_LOOKED_AT } from './fits.ts';
import { type Preset, sourcesOf } from './presets.ts';
import { plainWords, recognise } from './recognise.ts';

export interface MappedColumn extends CellSource {
  readonly field: Field;
  readonly name: string;
  readonly how: 'told' | 'remembered' | 'preset' | 'exact' | 'synonym' | 'fuzzy' | 'shared';
  /** Of the name, from 0 to 1. */
  readonly confidence: number;
  /** Of the cells that were looked at. */
  readonly fits: Fits;
}

export interface UnusedColumn {
  readonly index: number;
  readonly name: string;
  /** Set if the name fits a field, and the cells do not. */
  readonly unfit?: { readonly field: Field; readonly fits: Fits };
}

export interface ColumnMapping {
  /** At most one per field, in the order of FIELDS. */
  readonly columns: readonly MappedColumn[];
  /** Columns of the file that fill no field. */
  readonly unmapped: readonly UnusedColumn[];
  /** Fields that no column fills, because a person said so. */
  readonly none: readonly Field[];
}

export interface Header {
  readonly names: readonly string[];
  /** Without a header, columns are named by number only. */
  readonly isGiven: boolean;
  /** Its line in the file. */
  readonly line: number;
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
}

/**
 * A column is found by its name and by its cells (fits.ts). What was told is taken as it is.
 * Throws CSV_DUPLICATE_HEADER, CSV_UNKNOWN_COLUMN, CSV_COLUMNS_AMBIGUOUS, CSV_CELLS_DO_NOT_FIT or CSV_NO_CUSTOMER_COLUMN.
 */
export function mapColumns(header: Header, choices: MappingChoices = {}): ColumnMapping {
  const { told = new Map(), remembered = new Map(), preset } = choices;
  if (header.isGiven) refuseDuplicates(header);
  const firstCells = new FirstCells(header, choices);
  const found = new Map<Field, MappedColumn>();
  const given = new Map([...remembered, ...told]);
  const isLeftOut = (field: Field) => given.get(field)?.trim() === '';
  for (const [field, column] of given) {
    if (isLeftOut(field)) continue;
    const how = told.has(field) ? 'told' : 'remembered';
    const source = { index: columnIndex(header, `--map ${field}=${column}`, column) };
    found.set(field, firstCells.column(field, source, { how, confidence: 1 }));
  }
  for (const [field, source] of preset ? sourcesOf(preset, header.names) : []) {
    if (found.has(field) || isLeftOut(field)) continue;
    found.set(field, firstCells.column(field, source, { how: 'preset', confidence: 1 }));
  }
  const unfit = header.isGiven && !preset ? recogniseAll(firstCells, found, isLeftOut) : [];
  for (const [one, other] of SHARED) {
    if (!isLeftOut(one)) share(found, one, other);
    if (!isLeftOut(other)) share(found, other, one);
  }
  if (!CUSTOMER_REFERENCES.some((field) => found.has(field))) throw noCustomer(firstCells, unfit);
  const columns = FIELDS.flatMap((field) => found.get(field) ?? []);
  return { columns, unmapped: unusedOf(header, columns, unfit), none: FIELDS.filter(isLeftOut) };
}

/** The cells of a file's first rows, by column. */
class FirstCells {
  readonly header: Header;
  readonly isSelection: boolean;
  readonly #rows: readonly (readonly string[])[];

  constructor(header: Header, { firstRows = [], isSelection = false }: MappingChoices) {
    this.header = header;
    this.isSelection = isSelection;
    this.#rows = firstRows.slice(0, MOST_LOOKED_AT);
  }

  /** Without spaces around them. */
  cells(source: CellSource): readonly string[] {
    return this.#rows.map((row) => cellFrom(row, source));
  }

  column(field: Field, source: CellSource, by: Pick<MappedColumn, 'how' | 'confidence'>): MappedColumn {
    const name = this.header.names[source.index] ?? '';
    return { ...source, ...by, field, name, fits: fitsOf(field, this.cells(source)) };
  }
}

function unusedOf(
  { names }: Header,
  columns: readonly MappedColumn[],
  unfit: readonly MappedColumn[],
): readonly UnusedColumn[] {
  const used = new Set(columns.flatMap(({ index, also = [] }) => [index, ...also]));
  return names.flatMap((name, index): UnusedColumn[] => {
    if (used.has(index)) return [];
    const bad = unfit.find((column) => column.index === index);
    return [{ index, name, ...(bad && { unfit: { field: bad.field, fits: bad.fits } }) }];
  });
}

/** The signature of a header, under which its mapping is remembered: equal for equal names in equal order. */
export function headerSignature(names: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(names.map((name) => name.trim())))
    .digest('hex')
    .slice(0, 16);
}

/** What a column without a name is called: `#4`. `index`: from 0. */
export function namelessColumn(index: number): string {
  return `#${index + 1}`;
}

/** Names for the columns of a file without a header. */
export function numberedColumns(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `column_${index + 1}`);
}

/** Adds what the names and cells tell, and returns the columns whose cells do not fit their name. */
function recogniseAll(
  firstCells: FirstCells,
  found: Map<Field, MappedColumn>,
  isLeftOut: (field: Field) => boolean,
): readonly MappedColumn[] {
  const { header, isSelection } = firstCells;
  const taken = new Set([...found.values()].map(({ index }) => index));
  const candidates = new Map<Field, MappedColumn[]>();
  const unfit: MappedColumn[] = [];
  for (const [index, name] of header.names.entries()) {
    const known = taken.has(index) ? undefined : (byContent(name, firstCells.cells({ index })) ?? recognise(name));
    if (!known || found.has(known.field) || isLeftOut(known.field)) continue;
    const { field } = known;
    const column = firstCells.column(field, { index }, known);
    // A column with exactly the field's name is used, so its bad cells are reported one by one.
    if (name !== field && !isSelection && !isTaken(field, column.fits)) unfit.push(column);
    else candidates.set(field, [...(candidates.get(field) ?? []), column]);
  }
  for (const [field, columns] of candidates) {
    const best = Math.max(...columns.map(({ confidence }) => confidence));
    const [column, ...rivals] = columns.filter(({ confidence }) => confidence === best);
    if (column && rivals.length === 0) found.set(field, column);
    else throw ambiguous(field, columns, header);
  }
  const missing = unfit.find(({ field }) => isEssential(field) && !found.has(field));
  if (missing) throw doesNotFit(missing, header);
  return unfit;
}

function share(found: Map<Field, MappedColumn>, missing: Field, present: Field): void {
  const column = found.get(present);
  if (column && !found.has(missing)) found.set(missing, { ...column, field: missing, how: 'shared' });
}

/** From 0. `given`: what names the column, for the message. Throws CSV_UNKNOWN_COLUMN. */
export function columnIndex({ names, isGiven }: Header, given: string, column: string): number {
  const wanted = column.trim();
  const byName = isGiven ? names.indexOf(wanted) : -1;
  if (byName !== -1) return byName;
  const number = /^#?(\d{1,4})$/.exec(wanted);
  const at = number ? Number(number[1]) - 1 : -1;
  const isNumber = at >= 0 && at < names.length;
  if (isNumber && wanted.startsWith('#')) return at;
  const folded = isGiven ? names.filter((name) => plainWords(name) === plainWords(wanted)) : [];
  if (folded.length === 1) return names.indexOf(folded[0] ?? '');
  if (isNumber) return at;
  const guess = isGiven ? closest(wanted, names) : undefined;
  const has = isGiven
    ? `${guess === undefined ? '' : `Did you mean "${short(guess)}"? `}It has ${listColumns(names)}`
    : `It has no header: name a column by its number, 1 to ${names.length}`;
  throw refuse('CSV_UNKNOWN_COLUMN', `${given}: the file has no such column. ${has}.`);
}

/** Throws CSV_DUPLICATE_HEADER. */
export function refuseDuplicates({ names, line }: Header): void {
  const first = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const before = first.get(name);
    if (name !== '' && before !== undefined) {
      const where = `columns ${before + 1} and ${index + 1} are both called "${short(name)}"`;
      throw refuse('CSV_DUPLICATE_HEADER', `Line ${line}: ${where}. Rename one of them.`);
    }
    first.set(name, index);
  }
}

export function ambiguous(
  field: string,
  columns: readonly { readonly name: string }[],
  { line }: Header,
): LockstepError {
  const names = columns.map(({ name }) => name);
  return refuse(
    'CSV_COLUMNS_AMBIGUOUS',
    `Line ${line}: the columns ${listColumns(names)} all look like ${field}. Name one with ${mapOption(field, names[0])}.`,
  );
}

function doesNotFit(column: MappedColumn, { line }: Header): LockstepError {
  const { field, name } = column;
  return refuse(
    'CSV_CELLS_DO_NOT_FIT',
    `Line ${line}: ${unfitWords(column)}. If it is right, add ${mapOption(field, name)}; if no column has the ${field}, add --map ${field}=.`,
  );
}

function unfitWords({ field, name, fits: { fit, of } }: MappedColumn): string {
  return `the column "${short(name)}" has the name of ${field}, but ${fit} of ${of} cells fit`;
}

function mapOption(field: string, name = ''): string {
  const pair = `${field}=${name}`;
  return `--map ${/^[\w=.-]+$/.test(pair) ? pair : `"${pair}"`}`;
}

function noCustomer(firstCells: FirstCells, unfit: readonly MappedColumn[]): LockstepError {
  const { names, isGiven } = firstCells.header;
  const need = `An order needs its customer: a column for one of ${CUSTOMER_REFERENCES.join(', ')}`;
  const has = isGiven
    ? `none of the columns ${listColumns(names)} looks like it${unfit.map((column) => `; ${unfitWords(column)}`).join('')}`
    : 'the file has no header';
  const column = names.findIndex((_, index) => mostFit('customer_email', firstCells.cells({ index })));
  const name = isGiven ? names[column] || namelessColumn(column) : `${column + 1}`;
  const remedy =
    column === -1
      ? `Name the column, as in --map customer_email=${isGiven ? 'Column' : '2'}`
      : `Column ${column + 1} has e-mail addresses; if they are the customers', add ${mapOption('customer_email', name)}`;
  const above = `If the header is ${isGiven ? 'further down' : 'below other lines'}, name its line with --header-row`;
  return refuse('CSV_NO_CUSTOMER_COLUMN', `${need}, but ${has}. ${remedy}. ${above}.`);
}

const refuse = (code: string, message: string) => new LockstepError(code, message, { exitCode: 2 });

const short = (name: string) => (name.length > 40 ? `${name.slice(0, 40)}…` : name);

export function listColumns(names: readonly string[]): string {
  const shown = names
    .slice(0, 20)
    .map((name) => `"${short(name)}"`)
    .join(', ');
  return names.length > 20 ? `${shown} and ${names.length - 20} more` : shown;
}
