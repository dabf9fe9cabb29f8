/** The fields of a form for a write: made from the contract's schema of its body, and read back into a body. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { MAX_DIGITS } from '../../base/amount.ts';
import { LockstepError } from '../../base/errors.ts';
import { toBodyId } from '../../client/call/dialect.ts';
import type { JsonObject } from '../../client/call/json.ts';
import type { Operation } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import { valueWords } from './record-words.ts';

export interface Field {
  readonly name: string;
  readonly type: 'text' | 'flag' | 'number' | 'id' | 'time';
  readonly isNullable: boolean;
}

const type = z.union([z.string().transform((one) => [one]), z.array(z.string())]).prefault([]);
const member = z.looseObject({
  type,
  pattern: z.string().optional(),
  anyOf: z.array(z.looseObject({ type })).prefault([]),
});
const schema = z.looseObject({ properties: z.record(z.string(), member).prefault({}) });

const TYPES: Readonly<Record<string, Field['type']>> = {
  string: 'text',
  boolean: 'flag',
  number: 'number',
  integer: 'number',
};

/** The fields that a form can fill; lists are left out. */
export function bodyFields(operation: OperationName): readonly Field[] {
  const { body }: Operation = operations[operation];
  if (!body) return [];
  const { properties } = schema.parse(z.toJSONSchema(body, { io: 'input' }));
  return Object.entries(properties).flatMap(([name, { type, pattern, anyOf }]) => {
    const types = [...type, ...anyOf.flatMap((one) => one.type)];
    const known = TYPES[types[0] ?? ''];
    if (known === undefined) return [];
    const isNullable = types.includes('null');
    if (types.includes('integer') && /(^|_)id$/.test(name)) return [{ name, type: 'id', isNullable }];
    return [{ name, type: known === 'text' && pattern !== undefined ? 'time' : known, isNullable }];
  });
}

/** What an update can change of a record, as a short text to compare. Of a card only its column, because its position changes with others. */
export function shownOf(operation: OperationName, record: JsonObject): string {
  const names = operation === 'pipelines.moveCard' ? ['column_id'] : bodyFields(operation).map(({ name }) => name);
  const words = names.map((name) => valueWords(record[name]));
  return createHash('sha256').update(JSON.stringify(words)).digest('base64url');
}

/**
 * What a form says, as a body: filled fields, and those that were filled before and are empty now.
 * @throws LockstepError FIELD_WRONG
 */
export function bodyFrom(name: OperationName, given: Readonly<Record<string, string>>, filled: readonly string[]) {
  const body: Record<string, unknown> = {};
  for (const field of bodyFields(name)) {
    const text = given[field.name]?.trim() ?? '';
    if (text !== '') body[field.name] = typed(field, text);
    else if (filled.includes(field.name) && given[field.name] !== undefined) body[field.name] = emptied(field);
  }
  return body;
}

function typed({ name, type }: Field, text: string): unknown {
  if (type === 'flag') return text === 'yes';
  if (type === 'time') return text.length === 16 ? `${text}:00` : text;
  if (type === 'text' || type === 'id') return text; // an id is a text at some services
  if (!/^-?\d+(\.\d+)?$/.test(text))
    throw new LockstepError('FIELD_WRONG', `${name}: write digits, with a point before decimals. Nothing was sent`);
  if (text.replaceAll(/\D/g, '').length > MAX_DIGITS)
    throw new LockstepError('FIELD_WRONG', `${name}: write at most ${MAX_DIGITS} digits. Nothing was sent`);
  return Number(text);
}

function emptied({ name, type, isNullable }: Field): unknown {
  if (type === 'text') return isNullable ? null : '';
  throw new LockstepError(
    'FIELD_WRONG',
    `${name} cannot be emptied: the contract has no value for it. Nothing was sent`,
  );
}

/** The body with its ids as the service expects them: a number, also beyond 2^53. */
export function wireBody(name: OperationName, body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  const ids = new Set(bodyFields(name).flatMap(({ name: field, type }) => (type === 'id' ? [field] : [])));
  const pairs = Object.entries(body).map(([field, value]) =>
    ids.has(field) && typeof value === 'string' ? [field, toBodyId(value, 'number')] : [field, value],
  );
  return Object.fromEntries(pairs);
}
