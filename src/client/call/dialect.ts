/**
 * How one service answers where the contract is silent (docs/gaps.md): explicit settings, or `auto` to detect it from the
 * answers. Record-level questions that depend on it are answered here too: what a record's id is.
 */
import { z } from 'zod';
import { parseAmount } from '../../base/amount.ts';
import { storable } from '../../base/texts.ts';
import { KINDS, type Kind } from '../../contract/kinds.ts';
import { MEMBER_NAMES } from '../../contract/member-names.ts';
import { type Json, type JsonObject, LongInteger } from './json.ts';

type Setting = z.ZodDefault<z.ZodString>;

/** The same setting for each kind of records. */
const perKind = (value: Setting) =>
  z.strictObject(Object.fromEntries(KINDS.map((kind) => [kind, value])) as Record<Kind, Setting>).prefault({});

/** The members of the fields of one kind of records: a name or a dotted path by the contract's name. */
const membersOf = (kind: keyof typeof MEMBER_NAMES) =>
  z.partialRecord(z.enum(Object.keys(MEMBER_NAMES[kind])), z.string().trim().min(1)).prefault({});

const members = z.strictObject({
  contacts: membersOf('contacts'),
  customers: membersOf('customers'),
  orders: membersOf('orders'),
  tasks: membersOf('tasks'),
  subtasks: membersOf('subtasks'),
});

const auto = z.string().trim().default('auto');
const paramName = z.string().regex(/^[A-Za-z0-9_.~-]+$/, 'expected the name of a query parameter');

export const dialectSchema = z.strictObject({
  listPath: perKind(auto).describe(
    'Where the list of records is in an answer: auto, $ (the answer is the list) or a dotted path such as content.data.items',
  ),
  idField: perKind(auto).describe(
    'The member that holds a record’s id: auto or a name; $key if the list is an object of records, and its keys are the ids',
  ),
  members: members
    .prefault({})
    .describe(
      'The member that holds each field of a record, such as { orders: { client_id: buyer.key } }: the contract’s name of the field, then a name or a dotted path. Fields without a setting are found by their usual names',
    ),
  firstTaskPage: z
    .union([z.literal('auto'), z.literal(0), z.literal(1)])
    .default('auto')
    .describe('Number of the first page of tasks'),
  pageParam: paramName.default('page'),
  rowsPerPageParam: paramName.default('rows_per_page'),
  importBody: z
    .json()
    .default({ contact_id: '$id' })
    .describe('The body of customers/import; $id is replaced by the contact’s id, $contact.NAME by one of its members'),
  completeMethod: z
    .enum(['PUT', 'GET'])
    .default('PUT')
    .describe('The method of mark-complete; GET carries isCompleted in the query'),
});

export type Dialect = Readonly<z.infer<typeof dialectSchema>>;

/** Everything is detected: the default of an account without explicit settings. */
export const autoDialect: Dialect = dialectSchema.parse({});

/** What settings may say: `auto` or an explicit dialect, in part or whole. */
export const dialectSetting = z.union([z.literal('auto').transform(() => autoDialect), dialectSchema]);

const EVERYWHERE = ['_id', 'uuid', 'uid', 'guid', 'pk'];

/** In order of preference, in lower case: names are compared without case. An order's `order_id` is a label by the contract. */
const ID_NAMES: Readonly<Record<Kind, readonly string[]>> = {
  contacts: ['id', 'contact_id', 'contactid', ...EVERYWHERE],
  customers: ['id', 'customer_id', 'client_id', 'customerid', 'clientid', ...EVERYWHERE],
  orders: ['id', ...EVERYWHERE],
  tasks: ['id', 'task_id', 'taskid', ...EVERYWHERE],
  subtasks: ['id', 'subtask_id', 'subtaskid', 'item_id', 'taskitem_id', 'taskitemid', ...EVERYWHERE],
  pipelines: ['id', 'pipeline_id', 'pipelineid', ...EVERYWHERE],
};

/**
 * A record's id as a canonical string, so that 7 and "7" are the same; undefined if there is none. The first name that
 * exists decides: if its value is not an id (empty text, null, a fraction, an object), no other member is used.
 */
export function idOf(record: unknown, kind: Kind, dialect: Dialect): string | undefined {
  if (!isJsonObject(record)) return undefined;
  const name = idMemberOf(record, kind, dialect);
  return name === undefined ? undefined : canonicalId(record[name]);
}

/** The member that holds a record's id; undefined if there is none. */
export function idFieldOf(record: unknown, kind: Kind, dialect: Dialect): string | undefined {
  if (!isJsonObject(record)) return undefined;
  const name = idMemberOf(record, kind, dialect);
  return name !== undefined && canonicalId(record[name]) !== undefined ? name : undefined;
}

/**
 * Why `idOf` finds no id in a record, for a message: "its members are …", or what is wrong with the id. `answered`: the record
 * before its fields got the contract's names.
 */
export function whyNoId(record: unknown, kind: Kind, dialect: Dialect, answered = record): string {
  if (!isJsonObject(record)) return 'it is not an object';
  const name = idMemberOf(record, kind, dialect);
  if (name !== undefined) return `its ${name} ${whyUnusable(record[name])}`;
  const members = Object.keys(Object(answered)).slice(0, MEMBERS_SHOWN).join(', ');
  return `its members are ${storable(members) || 'none'}`;
}

/** The member with the first of these lower-case names that exists, compared without case. */
function memberNamed(record: JsonObject, names: readonly string[]): string | undefined {
  for (const name of names) {
    if (Object.hasOwn(record, name)) return name;
    for (const member in record) if (member.length === name.length && member.toLowerCase() === name) return member;
  }
  return undefined;
}

/** The member that is an id by its name, whatever its value. */
function idMemberOf(record: JsonObject, kind: Kind, dialect: Dialect): string | undefined {
  const setting = dialect.idField[kind];
  const isCalledId = setting === KEY_AS_ID || isIdCalledAsLabel(kind, dialect);
  if (isCalledId && Object.hasOwn(record, 'id')) return 'id';
  if (setting !== 'auto') return Object.hasOwn(record, setting) ? setting : undefined;
  const name = memberNamed(record, ID_NAMES[kind]);
  if (name !== undefined || kind !== 'orders') return name;
  // An orderId is the id beside another order_id; otherwise it is the label.
  const [label, other] = [memberNamed(record, ['order_id']), memberNamed(record, ['orderid'])];
  return label !== undefined && other !== undefined && record[label] !== record[other] ? other : undefined;
}

const KEY_AS_ID = '$key';

/** A record of an object of records: with its key as its id, if the settings say so. */
export function withKey(record: Json, key: string | undefined, kind: Kind, dialect: Dialect): Json {
  if (key === undefined || dialect.idField[kind] !== KEY_AS_ID || !isJsonObject(record)) return record;
  return { ...record, id: key };
}

/** Whether the settings say that an order's id has the name of its label; contract-record.ts then calls it `id`. */
export function isIdCalledAsLabel(kind: Kind, dialect: Dialect): boolean {
  return kind === 'orders' && /^order[_\- ]?id$/i.test(dialect.idField.orders);
}

function whyUnusable(value: Json | undefined): string {
  if (value === null || value === undefined) return 'is null';
  if (typeof value === 'string')
    return value.trim() === '' ? 'is empty' : 'has a NUL character or half of an emoji, which no database can store';
  if (typeof value !== 'number') return `is ${JSON.stringify(value).slice(0, 40)}, which is neither text nor a number`;
  return Number.isInteger(value)
    ? `${value} is too large for an exact JSON number: the service has to send it as digits or as text`
    : `${value} is not a whole number`;
}

const MEMBERS_SHOWN = 12;

/** How an id is sent in a path or a query: the contract's ids are integers, other services' may be text. */
export function toWireId(id: string): number | string {
  const number = Number(id);
  return /^(0|[1-9]\d*)$/.test(id) && Number.isSafeInteger(number) ? number : id;
}

/** How a service writes numeric ids that a float cannot represent. */
export type LongIds = 'number' | 'text';

/** The same in a body, where numbers and text differ; `longIds` is what the service's list shows. */
export function toBodyId(id: string, longIds: LongIds): number | string | LongInteger {
  const wire = toWireId(id);
  return longIds === 'number' && typeof wire === 'string' && isLong(wire) ? new LongInteger(wire) : wire;
}

/** How these records write long ids; undefined if none of them has one. */
export function longIdsOf(records: readonly Json[], kind: Kind, dialect: Dialect): LongIds | undefined {
  for (const record of records) {
    const name = isJsonObject(record) ? idMemberOf(record, kind, dialect) : undefined;
    const value = name === undefined ? undefined : (record as JsonObject)[name]; // safe: only an object has a name
    if (value instanceof LongInteger) return 'number';
    if (typeof value === 'string' && isLong(value)) return 'text';
  }
  return undefined;
}

function isLong(digits: string): boolean {
  return /^[1-9]\d{15,}$/.test(digits) && !Number.isSafeInteger(Number(digits));
}

/** The body that imports one contact: the dialect's template with the contact's id and members put in. */
export function importBody(
  dialect: Dialect,
  contactId: string,
  contact: JsonObject = {},
  longIds: LongIds = 'text',
): Json {
  const fill = (template: Json): Json => {
    if (template === '$id') return toBodyId(contactId, longIds);
    if (typeof template === 'string' && template.startsWith('$contact.')) {
      const name = template.slice('$contact.'.length);
      return (Object.hasOwn(contact, name) ? contact[name] : undefined) ?? null;
    }
    if (isJsonArray(template)) return template.map(fill);
    if (!isJsonObject(template)) return template;
    return Object.fromEntries(Object.entries(template).map(([name, value]) => [name, fill(value)]));
  };
  return fill(dialect.importBody);
}

const TRUE_WORDS = new Set(['1', 'true', 'yes', 'y', 't', 'on']);
const FALSE_WORDS = new Set(['0', 'false', 'no', 'n', 'f', 'off']);

/** A flag as services send it: true, 1, "1", "1.00", "true", "yes", "Y" and their opposites; undefined for anything else. */
export function flagOf(value: unknown): boolean | undefined {
  const word = String(value)
    .trim()
    .toLowerCase()
    .replace(/^([01])\.0+$/, '$1');
  if (TRUE_WORDS.has(word)) return true;
  return FALSE_WORDS.has(word) ? false : undefined;
}

/**
 * A decimal amount, sent as number or text, in one form without trailing zeros: "12.50", "12,5", "12.50 EUR" and 12.5 are all
 * "12.5", and "1,234.50" and "1.234,50 €" are "1234.5". Undefined if it could be two numbers, as 1,500 could.
 */
export function amountOf(value: unknown): string | undefined {
  const isNumber = typeof value === 'number' || value instanceof LongInteger;
  if (typeof value !== 'string' && !isNumber) return undefined;
  const text = String(value).trim();
  const parts = /^([+-]?)0*(\d+)(?:\.(\d*?)0*)?$/.exec(text);
  if (parts === null) {
    const read = parseAmount(text, { decimal: 'unsure', accounting: false });
    return read.status === 'amount' ? read.value : undefined;
  }
  const [, sign, whole, fraction = ''] = parts;
  const digits = fraction === '' ? `${whole}` : `${whole}.${fraction}`;
  return sign === '-' && digits !== '0' ? `-${digits}` : digits;
}

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof LongInteger);
}

export function isJsonArray(value: unknown): value is readonly Json[] {
  return Array.isArray(value);
}

function canonicalId(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) ? String(value) : undefined;
  if (value instanceof LongInteger) return value.digits;
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  return text === '' || text !== storable(text) ? undefined : text;
}
