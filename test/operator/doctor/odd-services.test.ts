import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { dialectSchema } from '../../../src/client/call/dialect.ts';
import { MAX_CALLS } from '../../../src/operator/doctor/examine.ts';
import { TEST_KEY } from '../../support/harness/harness.ts';
import type { Answer, Reply, SeenRequest } from '../../support/http-server.ts';
import { examineAt, findingIn, REFUSED, serverOf } from './doctor-harness.ts';

/** Lists of numbered records, `customers` of them customers. A wrong key is refused. */
function lists(customers: number, own: (request: SeenRequest) => Reply | undefined = () => undefined): Answer {
  return (request) => {
    if (request.headers.api_key !== TEST_KEY) return REFUSED;
    const instead = own(request);
    if (instead !== undefined) return instead;
    const records = Array.from({ length: customers }, (_, i) => ({ id: i + 1, full_name: `C${i + 1}` }));
    return { body: { status: 'success', content: request.path.includes('/customers/') ? records : [], message: 'OK' } };
  };
}

test('429 to everything ends it early, with few calls', async () => {
  const server = await serverOf({ status: 429, headers: { 'retry-after': '0.01' } });
  const report = await examineAt(server.url);
  expect([report.stopped, report.calls]).toEqual(['the service answers every call with a rate limit', 3]);
});

test('cuts off endless answers, and continues with the other probes', async () => {
  const chunk = Buffer.alloc(1024 * 1024, '[');
  const endless = await serverOf(
    lists(3, ({ path }) => (path.includes('/orders/') ? { body: Buffer.concat(Array(9).fill(chunk)) } : undefined)),
  );
  const report = await examineAt(endless.url);
  expect(findingIn(report, 'unpaged-lists', 'orders')?.found).toMatch(/more than 8388608 bytes/);
  expect(findingIn(report, 'record-id', 'customers')?.found).toMatch(/^id, a number/);
});

test('errors in answers of HTTP 200 are not lists', async () => {
  const server = await serverOf({ body: { status: 'error', content: null, message: 'database is away' } });
  const report = await examineAt(server.url);
  expect([report.stopped, report.settings]).toEqual(['no list could be read', {}]);
  expect(findingIn(report, 'prefix', 'contacts')?.found).toContain('database is away');
});

test('an object of records without ids needs a person, who can say that its keys are the ids', async () => {
  const body = { status: true, content: { 17: { full_name: 'Ann' }, 23: { full_name: 'Ben' } }, message: 'OK' };
  const one = { status: true, content: { 17: { full_name: 'Ann' } } };
  const server = await serverOf(
    lists(0, ({ path }) => (path.includes('/customers/') ? { body: path.endsWith('/get') ? one : body } : undefined)),
  );
  expect(findingIn(await examineAt(server.url), 'list-place', 'customers')?.needs).toBe(
    'set accounts.demo.dialect.idField.customers to $key if the keys of the object at content are the ids, or to the name of the member with the id',
  );
  const told = await examineAt(server.url, { dialect: dialectSchema.parse({ idField: { customers: '$key' } }) });
  expect(findingIn(told, 'record-id', 'customers')?.found).toBe('$key, text; a get with it returns the record');
});

test('suspects a list of customers cut off at a round number, or proves it with a get', async () => {
  const suspected = await examineAt((await serverOf(lists(100))).url);
  expect(findingIn(suspected, 'unpaged-lists', 'customers')).toMatchObject({
    confidence: 'likely',
    needs: expect.any(String),
  });
  const hidden: Reply = { body: { status: 'success', content: { id: 101, full_name: 'C101' }, message: 'OK' } };
  const server = await serverOf(lists(100, ({ query }) => (query.get('id') === '101' ? hidden : undefined)));
  expect(findingIn(await examineAt(server.url), 'unpaged-lists', 'customers')).toMatchObject({
    found: expect.stringContaining('a get returns one that is not in it'),
    confidence: 'certain',
    cutsOff: 'customers',
  });
});

test('finds pages of a list of customers by its second page', async () => {
  const paged = lists(0, ({ path, query }) => {
    if (!path.endsWith('/customers/getall')) return undefined;
    const from = Number(query.get('page') ?? 0) * 7;
    return { body: Array.from({ length: 7 }, (_, i) => ({ id: from + i + 1 })) };
  });
  const report = await examineAt((await serverOf(paged)).url);
  expect(findingIn(report, 'unpaged-lists', 'customers')).toMatchObject({
    found: 'paged: one answer has 7 records, and a second page has others',
    confidence: 'certain',
    does: expect.stringContaining('reads all pages'),
  });
  expect(findingIn(report, 'unpaged-lists', 'customers')?.needs).toBe(undefined);
});

test('sees contacts counted from page 1, also where page 0 is empty, or has no list beside the total', async () => {
  const contacts = (zero: 'the first' | 'empty' | 'no list') =>
    lists(3, ({ path, query }) => {
      if (!path.endsWith('/contacts/getall')) return undefined;
      const page = Number(query.get('page') ?? 1);
      if (page === 0 && zero === 'no list') return { body: { items: null, total: 25 } };
      if (page === 0 && zero === 'empty') return { body: [] };
      const size = Number(query.get('rows_per_page') ?? 10);
      const from = Math.max(0, page - 1) * size;
      return { body: Array.from({ length: 25 }, (_, i) => ({ id: i + 1 })).slice(from, from + size) };
    });
  for (const zero of ['the first', 'empty', 'no list'] as const) {
    const report = await examineAt((await serverOf(contacts(zero))).url);
    expect(findingIn(report, 'rows-per-page', 'page numbers')?.found).toMatch(/^pages start at 1/);
  }
});

test('two lists that fit equally, and ids of an unusual name, need a person', async () => {
  const odd = lists(0, ({ path }) => {
    if (path.endsWith('/orders/getall')) return { body: { recent: [{ id: 1 }], older: [{ id: 2 }] } };
    if (path.endsWith('/tasks/getall')) return { body: [{ task_no: 5 }, { task_no: 6 }] };
    return undefined;
  });
  const report = await examineAt((await serverOf(odd)).url);
  expect(findingIn(report, 'list-place', 'orders')).toMatchObject({
    found: expect.stringContaining('recent and older'),
  });
  expect(findingIn(report, 'record-id', 'tasks')?.needs).toContain('dialect.idField.tasks to task_no');
});

test('measures a wrong clock by the Date of the answers', async () => {
  const answer = lists(3);
  const server = createServer(async (incoming, response) => {
    const headers = { ...incoming.headers };
    const url = new URL(incoming.url ?? '/', 'http://loopback');
    const request = { method: '', path: url.pathname, query: url.searchParams, headers, rawHeaders: [], body: '' };
    const reply = await answer(request, response);
    response.writeHead(reply?.status ?? 200, { date: new Date(Date.now() + 300_000).toUTCString() });
    response.end(JSON.stringify(reply?.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const report = await examineAt(`http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`);
  expect(findingIn(report, 'clock')).toMatchObject({
    found: expect.stringMatching(/^(299|300)\.\d s ahead of this machine’s clock/),
  });
  expect(findingIn(report, 'clock')?.needs).toContain('NTP');
});

test('makes no more calls than allowed, for any service', async () => {
  let n = 0;
  const chaos = await serverOf(
    lists(100, () => (++n % 3 === 0 ? { status: 429, headers: { 'retry-after': '0.01' } } : undefined)),
  );
  const report = await examineAt(chaos.url);
  expect(report.calls).toBeLessThanOrEqual(MAX_CALLS);
  expect(chaos.requests).toHaveLength(report.calls);
  expect(chaos.requests.every(({ method, path }) => method === 'GET' || path.includes('/pipelines/get'))).toBe(true);
});

test('an aborted examination says so and reports what it has found', async () => {
  const stop = new AbortController();
  let n = 0;
  const server = await serverOf(
    lists(3, () => {
      if (++n === 8) stop.abort();
      return undefined;
    }),
  );
  const report = await examineAt(server.url, { signal: stop.signal });
  expect(report.stopped).toBe('stopped by the user');
  expect(findingIn(report, 'authentication')?.confidence).toBe('certain');
});

test('leaves out a probe that exceeds the budget of calls, and says so', async () => {
  let n = 0;
  const away = { status: 'not-sent' as const, reason: 'budget' as const, message: 'no token', retryAfterMs: 60_000 };
  const content = { status: 'applied' as const, httpStatus: 200, content: [] };
  const inspect = async () => ({ outcome: ++n > 9 ? away : content, httpStatus: 200, body: '[]', durationMs: 1 });
  const report = await examineAt('http://127.0.0.1:9', { client: { inspect } });
  expect([report.calls, report.stopped]).toEqual([9, undefined]);
  const needs = expect.stringContaining('run the doctor again');
  expect(findingIn(report, 'only-body')).toMatchObject({
    found: expect.stringContaining('did not allow a call'),
    needs,
  });
  expect(findingIn(report, 'latency')?.found).toContain('median of 9 calls');
});

test('says which task has a completion that cannot be read', async () => {
  const tasks = [true, 'perhaps'].map((isCompleted, i) => ({ id: i + 1, taskName: `T${i}`, isCompleted }));
  const server = await serverOf(
    lists(3, ({ path }) => (path.includes('/tasks/') ? { body: { content: tasks } } : undefined)),
  );
  expect(findingIn(await examineAt(server.url), 'record-fields', 'completion of a task')).toMatchObject({
    found: 'task 2 has "perhaps", which says neither completed nor open',
    needs: expect.stringContaining('accounts.demo.dialect.members.tasks.isCompleted'),
  });
});

test('says under which names it found the fields, and which member of an order may name its customer', async () => {
  const orders = [3, 1, 2].map((key, i) => ({ id: i + 11, orderRef: `A-${i}`, sold: key, lines: 900 + i, qty: 5 }));
  const server = await serverOf(
    lists(3, ({ path }) => (path.includes('/orders/') ? { body: { content: orders } } : undefined)),
  );
  const report = await examineAt(server.url);
  expect(findingIn(report, 'record-fields', 'names in orders')).toMatchObject({
    found: 'order_id is in orderRef',
    confidence: 'certain',
  });
  expect(findingIn(report, 'record-fields', 'customer of an order')).toMatchObject({
    found: 'ids of customers are in every order: sold',
    needs: 'set accounts.demo.dialect.members.orders.client_id to sold, if it names the customer',
    confidence: 'likely',
  });
});

test('says that a cache answers, and how old its answers are', async () => {
  const server = await serverOf({ headers: { 'content-type': 'application/json', age: '30' }, body: '[]' });
  expect(findingIn(await examineAt(server.url), 'caches')).toMatchObject({
    confidence: 'certain',
    found: expect.stringMatching(/^\d+ answers of \d+ came from a cache, up to 30 s old$/),
    needs: 'let the calls of Lockstep bypass the cache',
  });
});
