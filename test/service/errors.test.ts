import net from 'node:net';
import { afterAll, expect, test } from 'vitest';
import { LockstepError } from '../../src/base/errors.ts';
import { startService } from '../../src/service/server.ts';
import { anError } from '../support/matchers.ts';
import { type Sent, startedService } from './started-service.ts';

const at = await startedService();
afterAll(() => at.close());

const post = (body: unknown, headers: Record<string, string> = {}): Sent => ({ method: 'POST', body, headers });
const put = (body: unknown): Sent => ({ method: 'PUT', body });
const deep = (levels: number) => `{"task_id":1,"taskItem_assignee":${'['.repeat(levels)}${']'.repeat(levels)}}`;

test.each<[string, string, Sent, number, RegExp]>([
  ['a text that is a number', '/contacts/create', post({ first_name: 7 }), 400, /^first_name: expected string/],
  ['two wrong fields', '/contacts/create', post({ by_text: 'yes', email: null }), 400, /^email: .*; by_text: /],
  ['a NUL in a text', '/contacts/create', post({ last_name: 'a\0b' }), 400, /^last_name: holds a NUL/],
  ['half a surrogate pair', '/customers/create', post('{"full_name":"\\ud800"}'), 400, /^full_name: holds/],
  ['an array for a body', '/contacts/create', post([]), 400, /^body: expected a JSON object, received an array/],
  ['null for a body', '/contacts/create', post('null'), 400, /^body: .* received null/],
  ['no body', '/contacts/create', { method: 'POST' }, 400, /^body: .* received nothing/],
  ['an empty body', '/contacts/create', post(''), 400, /^body: .* received nothing/],
  ['broken JSON', '/orders/create', post('{"client_id": 1'), 400, /^body: not valid JSON/],
  ['another type', '/orders/create', post('a=1', { 'content-type': 'text/plain' }), 415, /^Content-Type: /],
  ['a body of 1 MiB', '/orders/create', post('9'.repeat(1024 * 1024 + 1)), 413, /^body: larger than 1048576/],
  ['no customer', '/orders/create', post({ order_id: 'A' }), 400, /^client_id: /],
  ['an unknown customer', '/orders/create', post({ client_id: 9_999 }), 400, /^client_id: no customer 9999/],
  ['an id beyond 2^53', '/orders/create', post('{"client_id":9007199254740993}'), 400, /^client_id: /],
  ['an infinite amount', '/orders/create', post('{"client_id":1,"amount":1e999}'), 400, /^amount: /],
  [
    'an amount beyond exactness',
    '/orders/create',
    post('{"client_id":1,"amount":1234567890.1234567}'),
    400,
    /^amount: /,
  ],
  ['an update without id', '/orders/update', put({ status: 'x' }), 400, /^id: /],
  ['an update of nothing', '/orders/update', put({ id: 9_999 }), 404, /^no order 9999 /],
  ['another tenant_id', '/customers/update', put({ id: 1, tenant_id: 9_999 }), 400, /^tenant_id: /],
  ['a date that does not exist', '/tasks/create', post({ startDate: '2026-02-30T10:00:00' }), 400, /^startDate: /],
  ['a date with an offset', '/tasks/create', post({ endDate: '2026-02-03T10:00:00Z' }), 400, /^endDate: /],
  ['a PUT that does not say', '/tasks/1/saveCheckStatus', put({}), 400, /^isCompleted: /],
  ['a GET with a broken body', '/tasks/1/saveCheckStatus', { method: 'GET', body: '{' }, 400, /^body: not valid JSON/],
  ['a subtask without task', '/tasks/createSubTask', post({ item_name: 'x' }), 400, /^task_id: /],
  ['a subtask of no task', '/tasks/createSubTask', post({ task_id: 9_999 }), 400, /^task_id: no task 9999/],
  ['endless nesting', '/tasks/createSubTask', post(deep(100_000)), 400, /^taskItem_assignee: /],
  ['a subtask without id', '/tasks/1/updateSubTask', put({ item_name: 'x' }), 400, /^id: /],
  ['subtasks of no task', '/tasks/9999/getSubTasks', {}, 404, /^no task 9999 /],
  ['a path without a number', '/contacts/abc/update', put({}), 400, /^contact_id: /],
  ['a query without a number', '/contacts/get?contact_id=abc', {}, 400, /^contact_id: /],
  ['no query', '/customers/get', {}, 400, /^id: /],
  ['a negative page', '/contacts/getall?page=-1', {}, 400, /^page: /],
  ['no rows', '/contacts/getall?rows_per_page=0', {}, 400, /^rows_per_page: /],
  ['two pages', '/tasks/getall?page=1&page=2', {}, 400, /^page: /],
  ['an odd only_body', '/contacts/getall?only_body=maybe', {}, 400, /^only_body: /],
  ['no term', '/contacts/search', {}, 400, /^search_term: /],
  ['a blank term', '/contacts/search?search_term=%20', {}, 400, /^search_term: /],
  ['a NUL in a query', '/contacts/search?search_term=%00', {}, 400, /^search_term: holds a NUL/],
  ['an unknown module', '/pipelines/add-comment', post({ module_type: 'deal', module_id: 1 }), 400, /^module_type: /],
  [
    'a comment on nothing',
    '/pipelines/add-comment',
    post({ module_type: 'card', comment_text: 'x' }),
    400,
    /^module_id: /,
  ],
  ['an empty comment', '/pipelines/add-comment', post({ module_type: 'card', module_id: 1 }), 400, /^comment_text: /],
  ['an unknown card', '/pipelines/move-card', post({ card_id: 1, column_id: 1 }), 404, /^no card 1 /],
  ['an unknown pipeline', '/pipelines/get-pipeline?pipeline_id=1', { method: 'POST' }, 404, /^no pipeline 1 /],
  ['an unknown contact', '/customers/import', post({ contact_id: 9_999 }), 404, /^no contact 9999 /],
  ['an import without a contact', '/customers/import', post({}), 400, /^contact_id: /],
  ['a query that is not UTF-8', '/contacts/search?search_term=%ff', {}, 400, /^the query is not valid/],
  ['a query with a lone %', '/contacts/search?search_term=100%', {}, 400, /^the query is not valid/],
  ['a path that is not UTF-8', '/contacts/%ff/update', put({}), 400, /is not a valid url component$/],
  ['a path with a long part', `/contacts/${'9'.repeat(200)}/update`, put({}), 414, /^the path is too long/],
  [
    'an unknown path',
    '/contacts/delete',
    { method: 'DELETE' },
    404,
    /^no such operation: DELETE \/api\/v1\/contacts\/delete/,
  ],
  ['another method', '/contacts/create', {}, 405, /^GET is not for this path, which takes POST/],
  ['another method of a record', '/contacts/7/update?x=1', post({}), 405, /^POST is not for .+ takes PUT/],
  ['a part too many', '/contacts/7/8/update', post({}), 404, /^no such operation/],
])('%s: %s is refused in an envelope that says why', async (_case, path, sent, status, words) => {
  const received = await at.send(`/api/v1${path}`, sent);
  expect([received.status, received.json.status, received.json.content]).toEqual([status, 'error', null]);
  expect(received.json.message).toMatch(words);
  expect(received.headers['content-type']).toMatch(/^application\/json/);
});

test('a body type without a body is not an error, for callers that always send the header', async () => {
  const headers = { 'content-type': 'application/json' };
  expect((await at.call('pipelines.getall', { headers })).status).toBe(200);
  expect((await at.call('contacts.getall', { headers })).status).toBe(200);
});

test('fields that an operation does not know are ignored and named', async () => {
  const body = { first_name: 'A', has_client_portal: true, id: 7, nonsense: 1 };
  const { json } = await at.call('contacts.create', { body });
  expect(json).toEqual({ status: 'success', content: null, message: 'OK; ignored: has_client_portal, id, nonsense' });
});

test.each([
  ['{"first_name":"A","__proto__":{"polluted":true}}', '__proto__'],
  ['{"first_name":"A","constructor":{"polluted":true}}', 'constructor'],
  ['{"first_name":"A","\\u005f_proto__":1}', '__proto__'],
  ['{"task_id":1,"taskItem_assignee":[{"name":{"prototype":1}}]}', 'prototype'],
])('a member that JavaScript takes for something else is refused and named: %s', async (body, name) => {
  const { status, json } = await at.call('contacts.create', { body });
  expect([status, json.message]).toEqual([400, `body: a member may not be called ${name}`]);
  expect('polluted' in {}).toBe(false);
});

test('a member that every object has in JavaScript is ignored and named like any other', async () => {
  const { json } = await at.call('contacts.create', { body: '{"first_name":"A","toString":1,"valueOf":2}' });
  expect(json.message).toBe('OK; ignored: toString, valueOf');
});

test.each([
  ['gzip', 415, /^Content-Encoding: /],
  ['br', 415, /^Content-Encoding: /],
  ['identity, gzip', 415, /^Content-Encoding: /],
  ['identity', 200, /^OK/],
])('a body with content-encoding %s is answered %i', async (encoding, status, words) => {
  const sent = { body: { first_name: 'A' }, headers: { 'content-encoding': encoding } };
  const received = await at.call('contacts.create', sent);
  expect([received.status, received.headers['accept-encoding']]).toEqual([
    status,
    status === 415 ? 'identity' : undefined,
  ]);
  expect(received.json.message).toMatch(words);
});

test('an unexpected error is an envelope that tells nothing of its cause', async () => {
  await at.pool.query('alter table service.tasks rename to gone');
  const { status, json } = await at.call('tasks.getall');
  await at.pool.query('alter table service.gone rename to tasks');
  expect(status).toBe(500);
  expect(json).toEqual({
    status: 'error',
    content: null,
    message: 'unexpected error; it is in the log of the service',
  });
});

test('a list that cannot be read is an error and no torn answer', async () => {
  await at.pool.query('alter table service.orders rename to gone');
  const { status, json } = await at.call('orders.getall');
  await at.pool.query('alter table service.gone rename to orders');
  expect([status, json.status]).toEqual([500, 'error']);
});

test('a port in use is a clear error with exit code 2', async () => {
  const taken = net.createServer().listen(0, '127.0.0.1');
  await new Promise((listening) => taken.once('listening', listening));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const error = await startService({ pool: at.pool, port }).catch((reason: unknown) => reason);
  taken.close();
  expect(error).toBeInstanceOf(LockstepError);
  expect(error).toMatchObject(anError('SERVICE_PORT_IN_USE', '(--port; in a program, the option port)', 2));
});
