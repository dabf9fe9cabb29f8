import fs from 'node:fs';
import { expect, test } from 'vitest';
import { gaps } from '../../src/contract/gaps.ts';

const schema: unknown = JSON.parse(
  fs.readFileSync(new URL('../../config/lockstep.schema.json', import.meta.url), 'utf8'),
);

test('every gap has an id of its own and an answer to each question', () => {
  expect(new Set(gaps.map((gap) => gap.id)).size).toBe(gaps.length);
  for (const { id, where, question, ourService, clientDoes } of gaps) {
    expect([id, [where, question, ourService, clientDoes].every((text) => text.length > 2)]).toEqual([id, true]);
    expect(question.endsWith('?')).toBe(true);
  }
});

const overridden = gaps.flatMap(({ id, override }) => (override === undefined ? [] : [[id, override] as const]));

test.each(overridden)('%s is overridden by a setting that exists: %s', (_id, path) => {
  expect(exists(schema, path.split('.'))).toBe(true);
});

/** Whether the JSON Schema knows the member at `path`, in any of its alternatives; `*` is any name. */
function exists(node: unknown, [name, ...rest]: string[]): boolean {
  if (name === undefined) return true;
  if (typeof node !== 'object' || node === null) return false;
  const { properties, additionalProperties, anyOf, oneOf, allOf } = node as Record<string, unknown>; // as: any JSON Schema
  const member = name === '*' ? additionalProperties : Object(properties)[name];
  if (member !== undefined && exists(member, rest)) return true;
  return [anyOf, oneOf, allOf].flat().some((choice) => choice !== undefined && exists(choice, [name, ...rest]));
}
