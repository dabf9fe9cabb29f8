/**
 * A record of an answer in the contract's names, whatever the service calls its members and however deep they are. Every list and
 * every record is read through this, so other code knows only the contract's names. Pure.
 */
import type { Kind } from '../../contract/kinds.ts';
import { MEMBER_NAMES, REFERENCES } from '../../contract/member-names.ts';
import { type Dialect, idFieldOf, isIdCalledAsLabel, isJsonArray, isJsonObject } from './dialect.ts';
import { flat, ID_FORM, lastStepOf, untyped } from './flat-record.ts';
import { type Json, type JsonObject, textOf } from './json.ts';
import { type Described, formOfRecord, type Member, plain } from './record-form.ts';

const PHONE_IN = ['value', 'number', 'phone'];
const TEXT_IN = ['text', 'raw', 'rendered', 'value'];
/** Members with the id of another record, in an object that names it. */
const ID_OF_OTHER = ['id', '_id', 'uuid', 'customer id', 'client id', 'contact id'].map(plain);
/** An object in place of a text or an amount: an organization with its name, an amount with its currency, a phone with its label. */
const VALUE_IN: Readonly<Record<string, readonly string[]>> = {
  organization: ['name'],
  amount: ['amount', 'value'],
  status: ['name', 'label', 'title', 'value'],
  taskName: TEXT_IN,
  item_name: TEXT_IN,
  description: TEXT_IN,
  email: ['value', 'address', 'email'],
  phone: PHONE_IN,
  phone_number: PHONE_IN,
};

/**
 * The record with its fields under the contract's names; the same object if it has them already. A field has the first value that
 * is not empty: of the member that the settings name, of the contract's own name, of another name (member-names.ts). It is null if
 * all are empty, and absent if one holds what cannot be read. Members under other names stay. An order's customer or label stays
 * absent if several members could be it: see `rivalsOf`.
 */
export function contractRecord(read: JsonObject, kind: Described, dialect: Dialect): JsonObject;
export function contractRecord(read: Json, kind: Described, dialect: Dialect): Json;
export function contractRecord(read: Json, kind: Described, dialect: Dialect): Json {
  if (!isJsonObject(read)) return read;
  if (isAsContract(read, kind, dialect)) return read;
  const chosen = membersSet(kind, dialect);
  const { record, fields } = flatWithId(read, kind, dialect);
  let added: Record<string, Json> | undefined;
  const set = (field: string, value: Json) => {
    if (value === record[field]) return;
    added ??= {};
    added[field] = value;
  };
  const isAddressed = hasAddressAsId(record, kind, dialect);
  for (const [field, members] of fields) {
    if (chosen[field] !== undefined || (kind === 'orders' && isDisputed(record, field, members))) continue;
    const value = (isAddressed ? addressIn(record, field, members) : undefined) ?? firstValueOf(record, field, members);
    if (value !== undefined) set(field, value);
    else if (!Object.hasOwn(record, field) && members.every(({ name }) => isEmpty(record[name]))) set(field, null);
  }
  for (const [field, path] of Object.entries(chosen))
    set(field, memberAt(read, field, path) ?? memberAt(record, field, path) ?? null);
  return added === undefined ? record : { ...record, ...added };
}

/** An order whose id, as the settings say, has the name of its label: with its id as `id`, if it has another label. */
function flatWithId(read: JsonObject, kind: Described, dialect: Dialect): ReturnType<typeof flat> {
  const found = flat(read, kind, dialect);
  if (!hasIdAsLabel(found.record, kind, dialect)) return found;
  const { [dialect.idField.orders]: id = null, ...others } = found.record;
  const record = { id, ...others };
  const { fields } = formOfRecord(record, kind);
  const hasLabel = fields.has('order_id') || membersSet(kind, dialect).order_id !== undefined;
  return hasLabel ? { record, fields } : found;
}

/** Whether the member that would be the label of an order is its id, as the settings say. */
function hasIdAsLabel(record: JsonObject, kind: Described, dialect: Dialect): boolean {
  return kind !== 'cards' && isIdCalledAsLabel(kind, dialect) && !Object.hasOwn(record, 'id');
}

/** Whether the record has its fields under the contract's names only, and each value is as it stays: most records of most services. */
function isAsContract(read: JsonObject, kind: Described, dialect: Dialect): boolean {
  const { isOwn, mayBeNested, fields } = formOfRecord(read, kind);
  if (!isOwn || mayBeNested || untyped(read) !== read) return false;
  if (Object.keys(membersSet(kind, dialect)).length > 0 || hasIdAsLabel(read, kind, dialect)) return false;
  for (const field of fields.keys()) {
    const value = read[field];
    if (typeof value === 'object' && value !== null) return false;
    if (REFERENCES.has(field) && typeof value === 'string' && value.includes('/')) return false; // may be an address
  }
  return true;
}

/**
 * The content of a record as a text to compare: its fields by the contract, whatever their order; of a record that has none, all of its
 * members. Other members may describe the answer, such as the time at which it was made.
 */
export function contentOf(record: Json, kind: Kind): string {
  if (!isJsonObject(record)) return JSON.stringify(record);
  const fields = Object.keys(MEMBER_NAMES[kind]).filter((field) => Object.hasOwn(record, field));
  const names = fields.length > 0 ? fields : Object.keys(record).toSorted();
  return JSON.stringify(names.map((name) => [name, asWritten(record[name])]));
}

/** A service may write the same number as a text in another answer. */
function asWritten(value: Json | undefined): Json | undefined {
  return typeof value === 'number' ? String(value) : value;
}

/** The members of an order that could each be the field, with different values; empty if at most one could. */
export function rivalsOf(record: JsonObject, field: 'client_id' | 'order_id'): readonly string[] {
  const members = formOfRecord(record, 'orders').fields.get(field) ?? [];
  return isDisputed(record, field, members) ? valuesOf(record, field, members).map(({ name }) => name) : [];
}

/** The members of a record without the field that may hold it in a form that is not read, such as several customers. */
export function unreadIn(record: JsonObject, kind: Kind, field: string, dialect: Dialect): readonly string[] {
  if (membersSet(kind, dialect)[field] !== undefined) return [];
  const found = formOfRecord(record, kind).fields.get(field) ?? [];
  return found.map(({ name }) => name).filter((name) => !isEmpty(record[name]));
}

function isEmpty(value: Json | undefined): boolean {
  if (isJsonObject(value)) return Object.values(value).every(isEmpty);
  if (isJsonArray(value)) return value.every(isEmpty);
  return value === undefined || value === null || (typeof value === 'string' && value.trim() === '');
}

/** The fields that a record as read has under other names, with those names. */
export function fieldsElsewhere(
  read: JsonObject,
  kind: Kind,
  dialect: Dialect,
): readonly (readonly [string, string])[] {
  const { record, fields } = flatWithId(read, kind, dialect);
  const chosen = membersSet(kind, dialect);
  const found = [...fields].flatMap(([field, members]): [string, string][] => {
    const [value] = isDisputed(record, field, members) ? [] : valuesOf(record, field, members);
    return value === undefined || value.name === field || chosen[field] !== undefined ? [] : [[field, value.name]];
  });
  return [...found, ...Object.entries(chosen)];
}

/** The field and the path of its member, as the settings name them. */
function membersSet(kind: Described, { members }: Dialect): Readonly<Record<string, string>> {
  // Safe: the schema lets no member be undefined; its type does not say so.
  return kind === 'cards' || kind === 'pipelines' ? {} : (members[kind] as Readonly<Record<string, string>>);
}

function memberAt(record: JsonObject, field: string, path: string): Json | undefined {
  if (Object.hasOwn(record, path)) return readAs(record[path], field, path);
  let value: Json | undefined = record;
  for (const name of path.split('.')) value = memberOf(value, name);
  return readAs(value, field, field);
}

function memberOf(value: Json | undefined, name: string): Json | undefined {
  if (isJsonArray(value)) return value[Number(name)];
  return isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
}

/** A wrong customer or label would make an order look as if it did not exist. */
function isDisputed(record: JsonObject, field: string, members: readonly Member[]): boolean {
  if (members.length < 2 || (field !== 'client_id' && field !== 'order_id')) return false;
  const [first, ...others] = valuesOf(record, field, members);
  return first !== undefined && first.rank > 0 && others.some(({ value }) => textOf(value) !== textOf(first.value));
}

/** The values that are not empty, in the order of the members. */
function valuesOf(
  record: JsonObject,
  field: string,
  members: readonly Member[],
): readonly (Member & { readonly value: Json })[] {
  return members.flatMap((member) => {
    const value = readAs(record[member.name], field, member.rank === 0 ? field : member.name);
    return value === undefined ? [] : [{ ...member, value }];
  });
}

function firstValueOf(record: JsonObject, field: string, members: readonly Member[]): Json | undefined {
  for (const { name, rank } of members) {
    const value = readAs(record[name], field, rank === 0 ? field : name);
    if (value !== undefined) return value;
  }
  return undefined;
}

/** The value of a field in the member `name`; undefined if it is empty or cannot be the field. */
function readAs(value: Json | undefined, field: string, name: string): Json | undefined {
  if (value === undefined || isEmpty(value)) return undefined;
  if (REFERENCES.has(field)) return referenceIn(value, name);
  if (isJsonObject(value)) {
    const within = VALUE_IN[field]?.map((inner) => memberCalled(value, inner)).find(isText);
    if (within !== undefined) return within;
  } else if (!isJsonArray(value)) return value;
  else if (VALUES_OF_PERSON.has(field)) return mainOf(value, field);
  return name === field ? value : undefined;
}

const ADDRESS = /^(?:https?:\/\/[^/]+)?\//;

/** Whether the service's ids are addresses; then those of other records stay addresses as well. */
function hasAddressAsId(record: JsonObject, kind: Described, dialect: Dialect): boolean {
  const name = kind === 'cards' ? undefined : idFieldOf(record, kind, dialect);
  const id = name === undefined ? undefined : record[name];
  return typeof id === 'string' && ADDRESS.test(id);
}

function addressIn(record: JsonObject, field: string, members: readonly Member[]): Json | undefined {
  if (!REFERENCES.has(field)) return undefined;
  const values = members.map(({ name }) => record[name]);
  return values.find((value) => typeof value === 'string' && ADDRESS.test(value));
}

function memberCalled(value: JsonObject, called: string): Json | undefined {
  const name = Object.keys(value).find((inner) => plain(inner) === called);
  return name === undefined ? undefined : value[name];
}

/** Fields of which a person may have several. */
const VALUES_OF_PERSON: ReadonlySet<string> = new Set(['email', 'phone', 'phone_number']);

/** The value that a list calls primary, or its first. */
function mainOf(values: readonly Json[], field: string): Json | undefined {
  const isMain = (value: Json) =>
    isJsonObject(value) && Object.keys(value).some((name) => MAIN.test(name) && value[name] === true);
  return [...values.filter(isMain), ...values]
    .map((value) => readAs(value, field, ''))
    .find((value) => value !== undefined);
}

const MAIN = /^(is_?)?(primary|main|default|preferred)$/i;

/**
 * The id in a link to another record, which may be in an object or in a list of its own. A bare text may be the name of that
 * record; as an id it counts only under a name that ends in "id".
 */
function referenceIn(value: Json | undefined, name: string): Json | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (isJsonObject(value)) {
    const member = Object.keys(value).find((inner) => ID_OF_OTHER.includes(plain(inner)) && isText(value[inner]));
    return member === undefined ? referenceIn(value.data ?? value.value, 'value') : value[member];
  }
  if (isJsonArray(value)) return isNamedId(value) || value.length === 1 ? referenceIn(value[0], name) : undefined;
  if (typeof value !== 'string') return value;
  const id = ADDRESS.test(value) ? lastStepOf(value) : value;
  return plain(name).endsWith('id') || ID_FORM.test(id) ? id : undefined;
}

/** The id and the name of a record: [12, "Ann Lee"]. Other lists may name several records. */
function isNamedId(values: readonly Json[]): boolean {
  return values.length === 2 && typeof values[0] === 'number' && typeof values[1] === 'string';
}

function isText(value: Json | undefined): boolean {
  return value !== undefined && value !== null && typeof value !== 'boolean' && textOf(value) !== '';
}
