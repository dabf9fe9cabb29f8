/**
 * A record of an answer in the contract's names, whatever the service calls its members and however deep they are. Every list and
 * every record is read through this, so other code knows only the contract's names. Pure.
 */
import type { Kind } from '../../contract/kinds.ts';
import { MEMBER_NAMES, REFERENCES } from '../../contract/member-names.ts';
import { type Dialect, idFieldOf, isJsonArray, isJsonObject } from './dialect.ts';
import { type Json, type JsonObject, textOf } from './json.ts';

/** Cards are in pipelines; no list has them. */
type Described = Kind | 'cards';

/** Members that hold the fields of a record in JSON:API and its relatives, and in GraphQL; the name of its kind is one, too. */
const WRAPPERS = ['attributes', 'fields', 'properties', 'data', 'node'];
const wrappersOf = (kind: Described) => [...WRAPPERS, kind.slice(0, -1)];
const PHONE_IN = ['value', 'number', 'phone'];
/** Members with the id of another record, in an object that names it. */
const ID_OF_OTHER = ['id', '_id', 'uuid', 'customer id', 'client id', 'contact id'].map(plain);
/** An object in place of a text or an amount: an organization with its name, an amount with its currency, a phone with its label. */
const VALUE_IN: Readonly<Record<string, readonly string[]>> = {
  organization: ['name'],
  amount: ['amount', 'value'],
  email: ['value', 'address', 'email'],
  phone: PHONE_IN,
  phone_number: PHONE_IN,
};

/**
 * The record with its fields under the contract's names; the same object if it has them already. A field has the first value that
 * is not empty: of the member that the settings name, of the contract's own name, of another name (member-names.ts). Members
 * under other names stay. An order's customer or label stays absent if several members could be it: see `rivalsOf`.
 */
export function contractRecord(read: JsonObject, kind: Described, dialect: Dialect): JsonObject;
export function contractRecord(read: Json, kind: Described, dialect: Dialect): Json;
export function contractRecord(read: Json, kind: Described, dialect: Dialect): Json {
  if (!isJsonObject(read)) return read;
  const { record, fields } = flat(read, kind, dialect);
  const chosen = membersSet(kind, dialect);
  let added: Record<string, Json> | undefined;
  const set = (field: string, value: Json) => {
    if (value === record[field]) return;
    added ??= {};
    added[field] = value;
  };
  for (const [field, members] of fields) {
    if (chosen[field] !== undefined || (kind === 'orders' && isDisputed(record, field, members))) continue;
    const value = firstValueOf(record, field, members);
    if (value !== undefined) set(field, value);
    else if (!Object.hasOwn(record, field)) set(field, null);
  }
  for (const [field, path] of Object.entries(chosen))
    set(field, memberAt(read, field, path) ?? memberAt(record, field, path) ?? null);
  return added === undefined ? record : { ...record, ...added };
}

/**
 * The content of a record as a text to compare: its fields by the contract, whatever their order; of a record that has none, all of its
 * members. Other members may describe the answer, such as the time at which it was made.
 */
export function contentOf(record: Json, kind: Kind): string {
  if (!isJsonObject(record)) return JSON.stringify(record);
  const fields = Object.keys(MEMBER_NAMES[kind]).filter((field) => Object.hasOwn(record, field));
  const names = fields.length > 0 ? fields : Object.keys(record).toSorted();
  return JSON.stringify(names.map((name) => [name, record[name]]));
}

/** The members of an order that could each be the field, with different values; empty if at most one could. */
export function rivalsOf(record: JsonObject, field: 'client_id' | 'order_id'): readonly string[] {
  const members = formOf(record, 'orders').fields.get(field) ?? [];
  return isDisputed(record, field, members) ? valuesOf(record, field, members).map(({ name }) => name) : [];
}

/** The fields that a record as read has under other names, with those names. */
export function fieldsElsewhere(
  read: JsonObject,
  kind: Kind,
  dialect: Dialect,
): readonly (readonly [string, string])[] {
  const { record, fields } = flat(read, kind, dialect);
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

interface Member {
  readonly name: string;
  /** Its position among the names of the field; 0 for the contract's own name. */
  readonly rank: number;
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
  if (value === undefined || value === null || (typeof value === 'string' && value.trim() === '')) return undefined;
  if (REFERENCES.has(field)) return referenceIn(value, name);
  if (isJsonObject(value)) {
    const within = VALUE_IN[field]?.find((inner) => isText(value[inner]));
    if (within !== undefined) return value[within];
  } else if (!isJsonArray(value)) return value;
  else if (VALUES_OF_PERSON.has(field)) return mainOf(value, field);
  return name === field ? value : undefined;
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

/** A bare text may be the name of the other record; as an id it counts only under a name that ends in "id". */
function referenceIn(value: Json, name: string): Json | undefined {
  if (isJsonObject(value)) {
    const member = Object.keys(value).find((inner) => ID_OF_OTHER.includes(plain(inner)) && isText(value[inner]));
    return member === undefined ? undefined : value[member];
  }
  if (typeof value !== 'string') return isJsonArray(value) ? undefined : value;
  const id = /^(?:https?:\/\/[^/]+)?\//.test(value) ? lastStepOf(value) : value;
  return plain(name).endsWith('id') || ID_FORM.test(id) ? id : undefined;
}

const ID_FORM = /^(\d+|[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}|[\da-f]{24}|[\da-z]{26})$/i;

/** `17` of `https://host/customers/17`. */
function lastStepOf(address: string): string {
  return address
    .replace(/[?#{].*$/, '')
    .replace(/\/+$/, '')
    .replace(/^.*\//, '');
}

function isText(value: Json | undefined): boolean {
  return value !== undefined && value !== null && typeof value !== 'boolean' && textOf(value) !== '';
}

/** A record whose fields are one object deeper, flat: its `attributes`, its `relationships` and what it has itself. */
function unwrapped(record: JsonObject, kind: Described): JsonObject {
  const wrapper = wrappersOf(kind).find((name) => isJsonObject(record[name]));
  const inner = wrapper === undefined ? undefined : record[wrapper];
  if (!isJsonObject(inner)) return record;
  const beside = Object.keys(record).filter((name) => name !== wrapper);
  if (fieldsIn(beside, kind).size > 0) return record;
  const { [wrapper ?? '']: _, relationships, ...rest } = record;
  return { ...relatedTo(relationships), ...unwrapped(inner, kind), ...rest };
}

/** A person whose name is an object, such as `{ first: "Ann", last: "Lee" }`, with its parts beside the other fields. */
function named(record: JsonObject, kind: Described): JsonObject {
  const member = Object.keys(record).find((name) => isNameOf(name, kind) && isJsonObject(record[name]));
  const name = member === undefined ? undefined : record[member];
  if (member === undefined || !isJsonObject(name)) return record;
  const parts = Object.entries(name).filter(([part]) => NAME_PARTS.has(fieldsOf(kind).get(plain(part))?.field ?? ''));
  const { [member]: _, ...others } = record;
  return { ...Object.fromEntries(parts), ...others };
}

const NAME_PARTS: ReadonlySet<string> = new Set(['first_name', 'last_name', 'full_name']);

function isNameOf(member: string, kind: Described): boolean {
  return (kind === 'contacts' || kind === 'customers') && fieldsOf(kind).get(plain(member))?.field === 'full_name';
}

function relatedTo(relationships: Json | undefined): JsonObject {
  if (!isJsonObject(relationships)) return {};
  const related = Object.entries(relationships).map(([name, to]) => [name, isJsonObject(to) ? to.data : null]);
  return Object.fromEntries(related.filter(([, to]) => isJsonObject(to)));
}

/** HAL: the ids of a record, and of the records that it belongs to, may be only in its links. */
function unlinked(record: JsonObject, kind: Described, dialect: Dialect): JsonObject {
  const links = record._links;
  if (!isJsonObject(links)) return record;
  const linked = Object.entries(links).flatMap(([name, link]): [string, Json][] => {
    const id = isJsonObject(link) && typeof link.href === 'string' ? lastStepOf(link.href) : '';
    return ID_FORM.test(id) && !Object.hasOwn(record, name) ? [[name, name === 'self' ? id : { id }]] : [];
  });
  const { self, ...others } = Object.fromEntries(linked);
  const hasId = kind === 'cards' || idFieldOf(record, kind, dialect) !== undefined;
  return { ...others, ...(self !== undefined && !hasId && { id: self }), ...record };
}

/** What the names of a record's members say about it. Most records of a list have the same names. */
interface Form {
  readonly names: readonly string[];
  /** Whether a member may hold other fields, or links. */
  readonly mayBeNested: boolean;
  /** The members that may have each field, the best name first. */
  readonly fields: ReadonlyMap<string, readonly Member[]>;
}

/** By kind of records: the form of the last record, and of others by their names. */
const LAST_FORMS = new Map<Described, Form>();
const FORMS = new Map<string, Form>();
const MOST_FORMS = 1_000;

/** The record with its fields side by side, and which members have them. */
function flat(read: JsonObject, kind: Described, dialect: Dialect): Pick<Form, 'fields'> & { record: JsonObject } {
  const form = formOf(read, kind);
  if (!form.mayBeNested) return { record: read, fields: form.fields };
  const record = unlinked(named(unwrapped(read, kind), kind), kind, dialect);
  return { record, fields: formOf(record, kind).fields };
}

function formOf(record: JsonObject, kind: Described): Form {
  const last = LAST_FORMS.get(kind);
  if (last !== undefined && hasNames(record, last.names)) return last;
  const names = Object.keys(record);
  const key = JSON.stringify([kind, ...names]);
  const form = FORMS.get(key) ?? { names, mayBeNested: mayBeNested(names, kind), fields: fieldsIn(names, kind) };
  if (FORMS.size === MOST_FORMS) FORMS.clear();
  FORMS.set(key, form);
  LAST_FORMS.set(kind, form);
  return form;
}

function hasNames(record: JsonObject, names: readonly string[]): boolean {
  let at = 0;
  // Records are JSON: they inherit no members.
  for (const name in record) if (name !== names[at++]) return false;
  return at === names.length;
}

function mayBeNested(names: readonly string[], kind: Described): boolean {
  return (
    ['_links', ...wrappersOf(kind)].some((name) => names.includes(name)) || names.some((name) => isNameOf(name, kind))
  );
}

function fieldsIn(names: readonly string[], kind: Described): ReadonlyMap<string, readonly Member[]> {
  const known = fieldsOf(kind);
  const found = new Map<string, Member[]>();
  for (const name of names) {
    const { field, rank } = known.get(plain(name)) ?? {};
    if (field === undefined || rank === undefined) continue;
    found.set(field, [...(found.get(field) ?? []), { name, rank }]);
  }
  for (const [field, members] of found)
    members.sort((a, b) => a.rank - b.rank || Number(b.name === field) - Number(a.name === field));
  return found;
}

type FieldName = Pick<Member, 'rank'> & { readonly field: string };

/** By kind: the fields by their plain names. */
const FIELDS = new Map<Described, ReadonlyMap<string, FieldName>>();

function fieldsOf(kind: Described): ReadonlyMap<string, FieldName> {
  const known = FIELDS.get(kind);
  if (known !== undefined) return known;
  const names: Readonly<Record<string, readonly string[]>> = MEMBER_NAMES[kind];
  const fields = new Map<string, FieldName>();
  for (const [field, others] of Object.entries(names)) {
    for (const [at, name] of others.entries()) fields.set(plain(name), { field, rank: at + 1 });
  }
  for (const field of Object.keys(names)) fields.set(plain(field), { field, rank: 0 });
  FIELDS.set(kind, fields);
  return fields;
}

/** `order_id`, `orderId` and `Order-ID` are the same name. */
export function plain(name: string): string {
  return name.replace(/[_\- ]/g, '').toLowerCase();
}
