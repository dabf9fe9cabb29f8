import { expect, test } from 'vitest';
import type { CallEvent } from '../../../src/client/call/client.ts';
import { callsFor, type Outcome } from '../../../src/client/call/outcome.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { type Reply, startHttpServer } from '../../support/http-server.ts';
import { API_KEY, openClient, openWithBudget } from './support.ts';

const lane = 'batch' as const;
const order = { order_id: 'A-1', client_id: 7, amount: 12.5 };

test('sends a call as the contract says, with the key under its exact name', async () => {
  const server = await startHttpServer({ body: { status: 'success', content: null, message: 'OK' } });
  const client = openClient(server, { authorization: { scheme: 'Bearer', token: 't-1' } });
  const outcome = await client.call('orders.create', { lane, body: order });
  expect(outcome).toEqual({ status: 'applied', httpStatus: 200, content: null });
  const [request] = server.requests;
  expect(request).toMatchObject({ method: 'POST', path: '/api/v1/orders/create', body: JSON.stringify(order) });
  expect(request?.rawHeaders).toEqual(expect.arrayContaining(['API_KEY', API_KEY]));
  expect(request?.headers).toMatchObject({
    authorization: 'Bearer t-1',
    'content-type': 'application/json',
    'accept-encoding': 'identity',
    'cache-control': 'no-cache',
  });
});

test('a read sends its query and no content type, and returns the content without the envelope', async () => {
  const server = await startHttpServer({ body: { status: 'success', content: { id: 7 }, message: 'OK' } });
  const outcome = await openClient(server).call('contacts.get', { lane, query: { contact_id: 7 } });
  expect(outcome).toMatchObject({ status: 'applied', content: { id: 7 } });
  expect(server.requests[0]?.query.get('contact_id')).toBe('7');
  expect(server.requests[0]?.headers).not.toHaveProperty('content-type');
});

test('a 429 tells the budget how long to wait, once, and returns the permit', async () => {
  const server = await startHttpServer({ status: 429, headers: { 'retry-after': '3' } });
  const { client, budget } = openWithBudget(server);
  const outcome = await client.call('orders.create', { lane, body: order });
  expect(outcome).toEqual({ status: 'limited', httpStatus: 429, retryAfterMs: 3000 });
  expect([budget.limits429, budget.open(), server.requests.length]).toEqual([[3000], 0, 1]);
});

test('a write answered with 503 and Retry-After stops all calls, and its outcome stays unknown', async () => {
  const server = await startHttpServer({ status: 503, headers: { 'retry-after': '3' } });
  const { client, budget } = openWithBudget(server);
  expect((await client.call('orders.create', { lane, body: order })).status).toBe('unknown');
  expect([budget.limits429, budget.open()]).toEqual([[3000], 0]);
});

test('every outcome returns its permit and is passed to onCall', async () => {
  const replies: Reply[] = [{}, { status: 422 }, { status: 500 }, { status: 302 }, { body: '<html>' }];
  const server = await startHttpServer(() => replies.shift() ?? {});
  const events: CallEvent[] = [];
  const { client, budget } = openWithBudget(server, { onCall: (event) => events.push(event) });
  for (let n = replies.length; n > 0; n--) await client.call('orders.create', { lane, body: order });
  expect(events.map(({ outcome }) => outcome.status)).toEqual(['applied', 'refused', 'unknown', 'unknown', 'unknown']);
  expect(events.every(({ operation, durationMs }) => operation === 'orders.create' && durationMs >= 0)).toBe(true);
  expect(budget.open()).toBe(0);
});

test('passes a call’s cost and lane to the budget', async () => {
  const server = await startHttpServer({ body: [] });
  const costOf = (operation: string) => (operation === 'orders.getall' ? 5 : 1);
  const { client, budget } = openWithBudget(server, { costOf });
  await client.call('orders.getall', { lane: 'interactive', maxWaitMs: 250 });
  await client.call('tasks.getall', { lane });
  expect(budget.takes).toEqual([
    { lane: 'interactive', cost: 5, maxWaitMs: 250 },
    { lane: 'batch', cost: 1, maxWaitMs: Number.POSITIVE_INFINITY },
  ]);
});

test('without a token in time it sends nothing and says when to come back', async () => {
  const server = await startHttpServer({});
  const budget = freeBudget(async () => ({ status: 'wait', retryAfterMs: 1234 }));
  const outcome = await openClient(server, { budget }).call('orders.create', { lane, body: order, maxWaitMs: 10 });
  expect(outcome).toMatchObject({ status: 'not-sent', reason: 'budget', retryAfterMs: 1234 });
  expect(server.requests).toHaveLength(0);
});

test('sends nothing without the budget’s store', async () => {
  const server = await startHttpServer({});
  const budget = freeBudget(async () => Promise.reject(new Error('Redis is away')));
  const outcome = await openClient(server, { budget }).call('orders.create', { lane, body: order });
  expect(outcome).toMatchObject({
    status: 'not-sent',
    reason: 'budget-away',
    message: expect.stringContaining('Redis is away'),
  });
  expect(server.requests).toHaveLength(0);
});

test.each([301, 302, 303, 307, 308])(
  'never follows a redirect by %i, and sends the key nowhere else',
  async (status) => {
    const elsewhere = await startHttpServer({});
    const server = await startHttpServer({ status, headers: { location: `${elsewhere.url}/x?token=1` } });
    const client = openClient(server);
    for (const operation of ['orders.create', 'orders.getall'] as const) {
      expect(await client.call(operation, { lane })).toMatchObject({
        status: 'unknown',
        reason: 'redirect',
        httpStatus: status,
      });
    }
    expect([server.requests.length, elsewhere.requests.length]).toEqual([2, 0]);
    await elsewhere.close();
  },
);

test('adds a slash to all paths of a service that redirects a read to its path with one, and sends no write twice', async () => {
  const server = await startHttpServer(({ path }) =>
    path.endsWith('/') ? { body: '[]' } : { status: 301, headers: { location: `${path}/` } },
  );
  const client = openClient(server);
  expect((await client.call('orders.getall', { lane, query: { page: 2 } })).status).toBe('applied');
  expect((await client.call('orders.create', { lane, body: order })).status).toBe('applied');
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /api/v1/orders/getall',
    'GET /api/v1/orders/getall/',
    'POST /api/v1/orders/create/',
  ]);
  expect(server.requests[1]?.query.get('page')).toBe('2');
  const writer = openClient(server);
  expect(await writer.call('orders.create', { lane, body: order })).toMatchObject({
    status: 'unknown',
    reason: 'redirect',
  });
  expect(server.requests).toHaveLength(4);
});

test('adds no slash to further paths if one create was redirected to a path that is missing', async () => {
  const server = await startHttpServer(({ path, body }) => {
    if (path.endsWith('/')) return { status: 404, body: { status: 'error', message: 'no such path' } };
    return body.includes('misrouted') ? { status: 308, headers: { location: `${path}/` } } : { body: '[]' };
  });
  const client = openClient(server);
  expect(await client.call('orders.create', { lane, body: { ...order, order_id: 'misrouted' } })).toMatchObject({
    reason: 'redirect',
  });
  const others = [client.call('orders.create', { lane, body: order }), client.call('orders.getall', { lane })];
  for (const outcome of await Promise.all(others)) expect(outcome).toMatchObject({ status: 'applied', callsBefore: 1 });
  expect(await client.call('orders.create', { lane, body: order })).not.toHaveProperty('callsBefore');
});

test('uses the other prefix of a service that redirects to it, and sends no write twice', async () => {
  const server = await startHttpServer(({ path }) =>
    path.startsWith('/v1/') ? { body: '[]' } : { status: 308, headers: { location: path.replace('/api/v1', '/v1') } },
  );
  const client = openClient(server, { prefix: 'auto' });
  expect((await client.call('orders.getall', { lane })).status).toBe('applied');
  expect(await client.call('customers.create', { lane, body: {} })).toMatchObject({ reason: 'redirect' });
  expect((await client.call('customers.create', { lane, body: {} })).status).toBe('applied');
  expect(server.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /api/v1/orders/getall',
    'GET /v1/orders/getall',
    'POST /api/v1/customers/create',
    'POST /v1/customers/create',
  ]);
});

test('an outcome counts all calls that were made for it', async () => {
  const answer = { status: 404, body: '<html>' };
  const server = await startHttpServer(({ path }) => {
    if (path.startsWith('/v1/customers')) return { body: { content: null } };
    return path === '/v1/orders/getall' ? { status: 301, headers: { location: `${path}/` } } : answer;
  });
  const client = openClient(server, { prefix: 'auto' });
  const countOf = async (outcome: Promise<Outcome>) => callsFor(await outcome);
  const create = () => client.call('customers.create', { lane, body: {} });
  expect([await countOf(create()), await countOf(create())]).toEqual([2, 1]);
  expect(await countOf(client.call('tasks.getall', { lane }))).toBe(2);
  expect(await countOf(client.call('orders.getall', { lane }))).toBe(3);
  expect(server.requests).toHaveLength(8);
});

test('stops reading an answer at the cap', async () => {
  const server = await startHttpServer({ body: { content: 'x'.repeat(5000) } });
  const client = openClient(server, { maxBodyBytes: 1000 });
  const outcome = await client.call('orders.create', { lane, body: order });
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'too-large', httpStatus: 200 });
});

test('no message contains an id, a query value or a secret, even where the service repeats it', async () => {
  const reply = { status: 422, body: { message: `key ${API_KEY} with t-canary may not` } };
  const page = { status: 404, body: '<html>' };
  const replies = [reply, page, { status: 500 }, { body: '<html>' }];
  const server = await startHttpServer(() => replies.shift() ?? {});
  const client = openClient(server, { authorization: { scheme: 'Bearer', token: 't-canary' } });
  const seen: unknown[] = [];
  for (let n = replies.length; n > 0; n--) {
    seen.push(await client.call('subtasks.getall', { lane, path: { task_id: 987_654 }, query: { q: 'quarry' } }));
  }
  expect(JSON.stringify(seen)).not.toMatch(/canary|987654|quarry/);
  expect(seen[0]).toMatchObject({ message: 'key *** with *** may not' });
  expect(seen[2]).toMatchObject({ message: `GET ${server.url}/api/v1/tasks/{task_id}/getSubTasks: answers HTTP 500` });
});

test('a message is cut after a secret in it was removed, however the service writes it', async () => {
  const keys = ['k/canary+1', 'k/canary+1', 'k-canary-of-many-letters'] as const;
  const repeats = ['k%2Fcanary%2B1', 'k&#x2F;canary&#43;1', keys[2]];
  const messages = repeats.map((written) => `${'x'.repeat(980)} ${written} ${'x'.repeat(20)}`);
  for (const [n, apiKey] of keys.entries()) {
    const server = await startHttpServer({ status: 422, body: { message: messages[n] } });
    const outcome = await openClient(server, { apiKey }).call('orders.create', { lane, body: order });
    expect(outcome).toMatchObject({ message: `${'x'.repeat(980)} *** ${'x'.repeat(14)}…` });
  }
});

test('parallel calls use as many connections as allowed, and later calls reuse them', async () => {
  const server = await startHttpServer({ body: [] });
  const client = openClient(server, { concurrency: 3 });
  for (let round = 0; round < 5; round++) {
    await Promise.all(Array.from({ length: 3 }, () => client.call('orders.getall', { lane })));
  }
  expect([server.requests.length, server.connections()]).toEqual([15, 3]);
});

test('a closed client sends nothing, and closing twice is allowed', async () => {
  const server = await startHttpServer({});
  const client = openClient(server);
  await Promise.all([client.close(), client.close()]);
  expect(await client.call('orders.create', { lane })).toMatchObject({ status: 'not-sent', reason: 'closed' });
  expect(server.requests).toHaveLength(0);
});

test('finds an operation that exists only under /v1 once and uses that prefix from then on', async () => {
  const server = await startHttpServer(({ path }) =>
    path.startsWith('/v1/')
      ? { body: { status: 'success', content: null } }
      : { status: 404, body: '<html>Cannot POST</html>' },
  );
  const { client, budget } = openWithBudget(server, { prefix: 'auto' });
  for (let n = 0; n < 3; n++) {
    const outcome = await client.call('customers.import', { lane, body: { contact_id: n } });
    expect(outcome.status).toBe('applied');
  }
  const paths = server.requests.map(({ path }) => path);
  expect(paths).toEqual(['/api/v1/customers/import', ...Array(3).fill('/v1/customers/import')]);
  expect([budget.takes.length, budget.open()]).toEqual([4, 0]);
  expect(client.learntPrefixes()).toEqual({ 'customers.import': '/v1' });
});

test('a record’s 404 is tried under the other prefix until the operation has worked, and changes no prefix', async () => {
  const server = await startHttpServer(({ query }) =>
    query.get('contact_id') === '1'
      ? { body: { status: 'success', content: { id: 1 }, message: '' } }
      : { status: 404, body: { status: 'error', content: null, message: 'no such contact' } },
  );
  const client = openClient(server, { prefix: 'auto' });
  for (const contact_id of [7, 1, 7]) await client.call('contacts.get', { lane, query: { contact_id } });
  const asked = server.requests.map(({ path, query }) => [path, query.get('contact_id')].join());
  expect(asked).toEqual([
    '/api/v1/contacts/get,7',
    '/v1/contacts/get,7',
    '/api/v1/contacts/get,1',
    '/api/v1/contacts/get,7',
  ]);
});

test('where neither prefix has the route it reports the service’s own message', async () => {
  const server = await startHttpServer(({ path }) =>
    path.startsWith('/v1/') ? { status: 404, body: { message: 'no such contact' } } : { status: 404, body: '<html>' },
  );
  const outcome = await openClient(server, { prefix: 'auto' }).call('customers.import', { lane, body: {} });
  expect(outcome).toMatchObject({ status: 'refused', message: 'no such contact' });
  expect(server.requests).toHaveLength(2);
});

test('the unknown outcome of a second try is the outcome of the call', async () => {
  const server = await startHttpServer(({ path }) => ({ status: path.startsWith('/v1/') ? 502 : 404 }));
  const outcome = await openClient(server, { prefix: 'auto' }).call('orders.create', { lane, body: order });
  expect(outcome).toMatchObject({ status: 'unknown', httpStatus: 502 });
});
