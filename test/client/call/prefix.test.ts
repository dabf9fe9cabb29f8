import { expect, test } from 'vitest';
import type { Outcome } from '../../../src/client/call/outcome.ts';
import { createPrefixes } from '../../../src/client/call/prefix.ts';
import type { OperationName } from '../../../src/contract/operations.ts';

const applied: Outcome = { status: 'applied', httpStatus: 200, content: [] };
const refused = (httpStatus: number, json: boolean): Outcome => ({
  status: 'refused',
  httpStatus,
  message: 'no',
  json,
});
const page: Outcome = { status: 'unknown', httpStatus: 200, message: 'a page', reason: 'html' };
const reset: Outcome = { status: 'unknown', message: 'closed', reason: 'broken-off' };

const tries: [operation: OperationName, outcome: Outcome, triesOther: boolean][] = [
  ['contacts.getall', refused(404, true), true],
  ['contacts.getall', refused(404, false), true],
  ['contacts.getall', refused(405, true), true],
  ['contacts.getall', page, true],
  ['contacts.getall', reset, false],
  ['contacts.getall', refused(401, true), false],
  ['contacts.getall', applied, false],
  ['customers.import', refused(404, true), true],
  ['orders.create', refused(404, true), true],
  ['orders.create', page, false],
  ['orders.create', reset, false],
  ['tasks.complete', page, false],
  ['contacts.get', refused(404, true), true],
  ['contacts.get', refused(404, false), true],
  ['orders.update', refused(404, true), true],
];
test.each(tries)('%s after %j', (operation, outcome, triesOther) => {
  const other = createPrefixes('auto').other(operation, '/api/v1', outcome);
  expect(other).toBe(triesOther ? '/v1' : undefined);
});

const said: [operation: OperationName, words: string, triesOther: boolean][] = [
  ['customers.getall', 'no such operation: GET /api/v1/customers/getall', true],
  ['contacts.getall', 'Not Found', true],
  ['contacts.getall', 'Cannot GET /api/v1/contacts/getall', true],
  ['orders.create', 'unknown endpoint', true],
  ['contacts.getall', 'unknown API key', false],
  ['orders.create', 'amount: expected a number', false],
  ['contacts.get', 'no such contact', true],
];
test.each(said)('%s after a 200 whose envelope says “%s”', (operation, message, triesOther) => {
  const outcome: Outcome = { status: 'refused', httpStatus: 200, message, json: true };
  expect(createPrefixes('auto').other(operation, '/api/v1', outcome)).toBe(triesOther ? '/v1' : undefined);
});

test.each([404, 200])(
  'a record that is missing is tried once where an earlier process found the operation (%i)',
  (httpStatus) => {
    const missing: Outcome = { status: 'refused', httpStatus, message: 'no such customer', json: true };
    const later = createPrefixes('auto', { 'customers.update': '/v1', 'orders.getall': '/v1' });
    expect(later.other('customers.update', '/v1', missing)).toBeUndefined();
    expect(later.other('orders.update', '/v1', missing)).toBe('/api/v1'); // its list was found there, which does not prove it
  },
);

test('a call that was under way when another one found the prefix is tried under it too', () => {
  const prefixes = createPrefixes('auto');
  prefixes.saw('orders.create', '/v1', applied);
  expect(prefixes.other('orders.create', '/api/v1', refused(404, true))).toBe('/v1');
});

test('remembers what worked for that operation, and a 404 does not change it', () => {
  const prefixes = createPrefixes('auto');
  prefixes.saw('customers.import', '/v1', applied);
  expect(prefixes.first('customers.import')).toBe('/v1');
  expect(prefixes.other('customers.import', '/v1', refused(404, false))).toBeUndefined();
  expect(prefixes.first('customers.create')).toBe('/api/v1');
  expect(prefixes.learnt()).toEqual({ 'customers.import': '/v1' });
});

test('operations of a resource begin at the prefix where its list was found', () => {
  const prefixes = createPrefixes('auto');
  prefixes.saw('tasks.getall', '/v1', applied);
  expect(prefixes.first('tasks.create')).toBe('/v1');
  expect(prefixes.first('contacts.create')).toBe('/api/v1');
});

test('only an answer that a route must have given settles an operation', () => {
  const settles = [applied, refused(400, true), refused(409, true), refused(422, true)];
  const leaves = [
    refused(404, true),
    refused(422, false),
    refused(401, true),
    refused(403, true),
    refused(200, true),
    page,
    reset,
  ];
  for (const [outcomes, learns] of [
    [settles, true],
    [leaves, false],
  ] as const) {
    for (const outcome of outcomes) {
      const prefixes = createPrefixes('auto');
      prefixes.saw('orders.create', '/v1', outcome);
      expect(Object.keys(prefixes.learnt()), JSON.stringify(outcome)).toHaveLength(learns ? 1 : 0);
    }
  }
});

test('starts with what an earlier process learnt, and can correct it', () => {
  const prefixes = createPrefixes('auto', { 'orders.getall': '/v1' });
  expect(prefixes.first('orders.getall')).toBe('/v1');
  expect(prefixes.first('orders.create')).toBe('/v1');
  expect(prefixes.other('orders.getall', '/v1', refused(404, false))).toBe('/api/v1');
});

test('a configured prefix is the only one tried', () => {
  const prefixes = createPrefixes('/v1');
  expect(prefixes.first('contacts.getall')).toBe('/v1');
  expect(prefixes.other('contacts.getall', '/v1', refused(404, false))).toBeUndefined();
});
