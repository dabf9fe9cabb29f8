/** A record of an answer with all of its fields side by side, however deep they are. Pure. */
import { type Dialect, idFieldOf, isJsonObject } from './dialect.ts';
import type { Json, JsonObject } from './json.ts';
import { type Described, type Form, fieldsIn, fieldsOf, formOfRecord, plain, wrappersOf } from './record-form.ts';

/** The record with its fields side by side, and which members have them. */
export function flat(
  answered: JsonObject,
  kind: Described,
  dialect: Dialect,
): Pick<Form, 'fields'> & { record: JsonObject } {
  const read = untyped(answered);
  const form = formOfRecord(read, kind);
  if (!form.mayBeNested && nameObject(read, form) === undefined) return { record: read, fields: form.fields };
  const record = unlinked(named(unwrapped(read, kind), kind), kind, dialect);
  return { record, fields: formOfRecord(record, kind).fields };
}

/** A record whose fields are one object deeper, flat: its `attributes`, its `relationships` and what it has itself. */
function unwrapped(record: JsonObject, kind: Described): JsonObject {
  const wrapper = wrappersOf(kind).find((name) => isJsonObject(record[name]));
  const inner = wrapper === undefined ? undefined : record[wrapper];
  if (!isJsonObject(inner)) return record;
  const { [wrapper ?? '']: _, relationships, ...beside } = record;
  const fields = untyped(inner);
  const rest = fields === inner ? beside : addressed(beside);
  if (fieldsIn(Object.keys(rest), kind).size > 0) return record;
  return { ...relatedTo(relationships), ...unwrapped(fields, kind), ...rest };
}

/** Firestore: the id of a document is the end of its name, `projects/…/documents/contacts/17`. */
function addressed({ name, ...rest }: JsonObject): JsonObject {
  if (name === undefined) return rest;
  return typeof name === 'string' && name.includes('/') ? { id: lastStepOf(name), ...rest } : { name, ...rest };
}

/** A person whose name is an object, such as `{ first: "Ann", last: "Lee" }`, with its parts beside the other fields. */
function named(record: JsonObject, kind: Described): JsonObject {
  const member = nameObject(record, formOfRecord(record, kind));
  const name = member === undefined ? undefined : record[member];
  if (member === undefined || !isJsonObject(name)) return record;
  const parts = Object.entries(name).filter(([part]) => NAME_PARTS.has(fieldsOf(kind).get(plain(part))?.field ?? ''));
  const { [member]: _, ...others } = record;
  return { ...Object.fromEntries(parts), ...others };
}

const NAME_PARTS: ReadonlySet<string> = new Set(['first_name', 'last_name', 'full_name']);

function nameObject(record: JsonObject, { fields }: Form): string | undefined {
  return fields.get('full_name')?.find(({ name }) => isJsonObject(record[name]))?.name;
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

export const ID_FORM = /^(\d+|[\da-f]{8}-([\da-f]{4}-){3}[\da-f]{12}|[\da-f]{24}|[\da-z]{26})$/i;

/** `17` of `https://host/customers/17`. */
export function lastStepOf(address: string): string {
  return address
    .replace(/[?#{].*$/, '')
    .replace(/\/+$/, '')
    .replace(/^.*\//, '');
}

/** MongoDB: `{"$oid": …}`. Firestore: `{"stringValue": …}`. DynamoDB: `{"S": …}`. */
const TYPE = /^(?:\$(?:oid|date|number\w+)|[a-z]+Value|[SN]|BOOL|NULL)$/;

/** The record with the values themselves in place of those that say their type; the same object if none does. */
export function untyped(record: JsonObject): JsonObject {
  let plain: Record<string, Json> | undefined;
  for (const name in record) {
    const type = typeIn(record[name]);
    if (type === undefined) continue;
    plain ??= { ...record };
    plain[name] = type === 'nullValue' || type === 'NULL' ? null : ((record[name] as JsonObject)[type] ?? null); // safe: it has a type
  }
  return plain ?? record;
}

/** The only member of an object, if it names a type. */
function typeIn(value: Json | undefined): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  return name !== undefined && others.length === 0 && TYPE.test(name) ? name : undefined;
}
