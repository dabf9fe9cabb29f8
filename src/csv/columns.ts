/**
 * Which column fills which field: as given by `--map`, otherwise by the header's exact name, a synonym, or a similar name.
 *
 * Headers are untrusted, so they are never keys of an object: `__proto__` and `constructor` are ordinary names.
 */
import { createHash } from 'node:crypto';
import { editDistance } from '../base/edit-distance.ts';
import { LockstepError } from '../base/errors.ts';
import { CUSTOMER_REFERENCES, FIELDS, type Field, SHARED, SYNONYMS } from './fields.ts';

export interface MappedColumn {
  readonly field: Field;
  /** From 0. */
  readonly index: number;
  readonly name: string;
  readonly how: 'told' | 'exact' | 'synonym' | 'fuzzy' | 'shared';
  /** From 0 to 1. */
  readonly confidence: number;
}

export interface ColumnMapping {
  /** At most one per field, in the order of FIELDS. */
  readonly columns: readonly MappedColumn[];
  /** Columns of the file that fill no field. */
  readonly unmapped: readonly { readonly index: number; readonly name: string }[];
}

export interface Header {
  readonly names: readonly string[];
  /** Without a header, columns are named by number only. */
  readonly isGiven: boolean;
}

export interface Recognised {
  readonly field: Field;
  readonly how: 'exact' | 'synonym' | 'fuzzy';
  readonly confidence: number;
}

/**
 * `told`: field → a column's header or number (from 1), as given or as remembered for this header's signature; empty if
 * no column fills it. `firstRows` show what a column called "customer" contains. Throws CSV_DUPLICATE_HEADER,
 * CSV_UNKNOWN_COLUMN, CSV_COLUMNS_AMBIGUOUS or CSV_NO_CUSTOMER_COLUMN.
 */
export function mapColumns(
  header: Header,
  told: ReadonlyMap<Field, string> = new Map(),
  firstRows: readonly (readonly string[])[] = [],
): ColumnMapping {
  if (header.isGiven) refuseDuplicates(header.names);
  const found = new Map<Field, MappedColumn>();
  const isLeftOut = (field: Field) => told.get(field)?.trim() === '';
  for (const [field, column] of told) {
    if (isLeftOut(field)) continue;
    const index = columnIndex(header, field, column);
    found.set(field, { field, index, name: header.names[index] ?? '', how: 'told', confidence: 1 });
  }
  if (header.isGiven) recogniseAll(header.names, found, { isLeftOut, firstRows });
  for (const [one, other] of SHARED) {
    if (!isLeftOut(one)) share(found, one, other);
    if (!isLeftOut(other)) share(found, other, one);
  }
  if (!CUSTOMER_REFERENCES.some((field) => found.has(field))) throw noCustomer(header);
  const columns = FIELDS.flatMap((field) => found.get(field) ?? []);
  const used = new Set(columns.map(({ index }) => index));
  const unmapped = header.names.map((name, index) => ({ index, name })).filter(({ index }) => !used.has(index));
  return { columns, unmapped };
}

/** The field of a header: by its exact name, a synonym, or a similar name of at least five letters. */
export function recognise(name: string): Recognised | undefined {
  const words = plainWords(name);
  const known = KNOWN.get(words);
  if (known) return known;
  const qualified = KNOWN.get(withoutCurrency(words)); // net or gross: not the exact name
  if (qualified) return { ...qualified, how: 'synonym', confidence: CONFIDENCE.synonym };
  let best: Recognised | undefined;
  let isTie = false;
  for (const [candidate, { field }] of KNOWN) {
    const confidence = likeness(words, candidate);
    if (confidence < LEAST_LIKENESS || (best && confidence < best.confidence)) continue;
    isTie = best !== undefined && best.field !== field && confidence === best.confidence;
    best = { field, how: 'fuzzy', confidence: Math.round(confidence * 100) / 100 };
  }
  return isTie ? undefined : best;
}

/** The signature of a header, under which its mapping is remembered: equal for equal names in equal order. */
export function headerSignature(names: readonly string[]): string {
  return createHash('sha256')
    .update(JSON.stringify(names.map((name) => name.trim())))
    .digest('hex')
    .slice(0, 16);
}

/** Names for the columns of a file without a header. */
export function numberedColumns(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `column_${index + 1}`);
}

/** At most one letter in seven may differ: "customer note" is not a customer number, and "sender" is not a gender. */
const LEAST_LIKENESS = 0.85;
const LEAST_LETTERS = 5;
const CONFIDENCE = { exact: 1, synonym: 0.95 };

function recogniseAll(
  names: readonly string[],
  found: Map<Field, MappedColumn>,
  {
    isLeftOut,
    firstRows,
  }: { readonly isLeftOut: (field: Field) => boolean; readonly firstRows: readonly (readonly string[])[] },
): void {
  const taken = new Set([...found.values()].map(({ index }) => index));
  const candidates = new Map<Field, MappedColumn[]>();
  for (const [index, name] of names.entries()) {
    const known = taken.has(index) ? undefined : (byContent(name, index, firstRows) ?? recognise(name));
    if (!known || found.has(known.field) || isLeftOut(known.field)) continue;
    const column = { ...known, index, name };
    candidates.set(known.field, [...(candidates.get(known.field) ?? []), column]);
  }
  for (const [field, columns] of candidates) {
    const best = Math.max(...columns.map(({ confidence }) => confidence));
    const [column, ...rivals] = columns.filter(({ confidence }) => confidence === best);
    if (column && rivals.length === 0) found.set(field, column);
    else throw ambiguous(field, columns);
  }
}

const CUSTOMER_WORDS = new Set(['customer', 'client', 'kunde', 'cliente', 'acheteur', 'buyer']);
/** Some shops export an order's number as its name. */
const ORDER_NUMBER = /^(?:#\s?[\p{L}\d._/-]*\d[\p{L}\d._/-]*|[A-Z]{0,4}-?\d+)$/u;

/** A value that cannot be a name: digits, or a UUID. */
const CUSTOMER_ID = /^(?:\d+|[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12})$/i;

/** A column called "customer" may contain ids, e-mail addresses or names, and one called "name" may contain order numbers. */
function byContent(name: string, index: number, rows: readonly (readonly string[])[]): Recognised | undefined {
  const words = plainWords(name);
  if (words !== 'name' && !CUSTOMER_WORDS.has(words)) return undefined;
  const cells = rows.map((row) => row[index]?.trim() ?? '').filter((cell) => cell !== '');
  const isEach = (form: RegExp) => cells.length > 0 && cells.every((cell) => form.test(cell));
  const how = { how: 'synonym', confidence: 0.9 } as const;
  if (words === 'name') return isEach(ORDER_NUMBER) ? { field: 'order_id', ...how } : undefined;
  const field = isEach(CUSTOMER_ID) ? 'client_id' : isEach(/@/) ? 'customer_email' : 'customer_name';
  return { field, ...how };
}

function share(found: Map<Field, MappedColumn>, missing: Field, present: Field): void {
  const column = found.get(present);
  if (column && !found.has(missing)) found.set(missing, { ...column, field: missing, how: 'shared' });
}

/** From 0. Throws CSV_UNKNOWN_COLUMN. */
export function columnIndex({ names, isGiven }: Header, field: string, column: string): number {
  const wanted = column.trim();
  const byName = isGiven ? names.indexOf(wanted) : -1;
  if (byName !== -1) return byName;
  const folded = isGiven ? names.filter((name) => plainWords(name) === plainWords(wanted)) : [];
  if (folded.length === 1) return names.indexOf(folded[0] ?? '');
  const number = /^\d{1,4}$/.test(wanted) ? Number(wanted) : 0;
  if (number >= 1 && number <= names.length) return number - 1;
  const has = isGiven
    ? `It has ${listColumns(names)}`
    : `It has no header: name a column by its number, 1 to ${names.length}`;
  throw refuse('CSV_UNKNOWN_COLUMN', `--map ${field}=${column}: the file has no such column. ${has}.`);
}

/** Throws CSV_DUPLICATE_HEADER. */
export function refuseDuplicates(names: readonly string[]): void {
  const first = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const before = first.get(name);
    if (name !== '' && before !== undefined) {
      const where = `columns ${before + 1} and ${index + 1} are both called "${short(name)}"`;
      throw refuse('CSV_DUPLICATE_HEADER', `Line 1: ${where}. Rename one of them.`);
    }
    first.set(name, index);
  }
}

export function ambiguous(field: string, columns: readonly { readonly name: string }[]): LockstepError {
  const names = columns.map(({ name }) => name);
  const pair = `${field}=${names[0]}`;
  const remedy = `Name one with --map ${/^[\w=.-]+$/.test(pair) ? pair : `"${pair}"`}`;
  return refuse(
    'CSV_COLUMNS_AMBIGUOUS',
    `Line 1: the columns ${listColumns(names)} all look like ${field}. ${remedy}.`,
  );
}

function noCustomer({ names, isGiven }: Header): LockstepError {
  const need = `An order needs its customer: a column for one of ${CUSTOMER_REFERENCES.join(', ')}`;
  const has = isGiven
    ? `none of the columns ${listColumns(names)} looks like it (delete any lines above the header)`
    : 'the file has no header';
  const example = isGiven ? 'customer_email=Column' : 'customer_email=2';
  return refuse('CSV_NO_CUSTOMER_COLUMN', `${need}, but ${has}. Name the column, as in --map ${example}.`);
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

/** `KundenName`, `Kunden_name` and `kunden-name ` become the same words; accents and punctuation are ignored. */
export function plainWords(name: string): string {
  return name
    .slice(0, 200)
    .replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();
}

/** `amount (EUR)`, `Betrag in €` and `gross amount` are amounts. */
function withoutCurrency(words: string): string {
  return words
    .replace(/\b(in )?(eur|usd|gbp|chf|euro|dollar|gross|net|brutto|netto|ttc|ht|inkl mwst|incl vat)\b/g, '')
    .replace(/ +/g, ' ')
    .replace(/ in$/, '') // of "in €"
    .trim();
}

const KNOWN: ReadonlyMap<string, Recognised> = new Map([
  ...FIELDS.flatMap((field) =>
    SYNONYMS[field].map((words): [string, Recognised] => [
      words,
      { field, how: 'synonym', confidence: CONFIDENCE.synonym },
    ]),
  ),
  ...FIELDS.map((field): [string, Recognised] => [
    plainWords(field),
    { field, how: 'exact', confidence: CONFIDENCE.exact },
  ]),
]);

/** The share of letters that are equal; 0 if the words are too short or differ too much in length. */
function likeness(one: string, other: string): number {
  const longest = Math.max(one.length, other.length);
  if (Math.min(one.length, other.length) < LEAST_LETTERS) return 0;
  if (Math.abs(one.length - other.length) > longest * (1 - LEAST_LIKENESS)) return 0;
  return 1 - editDistance(one, other) / longest;
}
