import { expect, test } from 'vitest';
import type { Json } from '../../../src/client/call/json.ts';
import { startHttpServer, startTcpServer } from '../../support/http-server.ts';
import { openClient, openWithBudget } from './support.ts';

const lane = 'batch' as const;
const customers = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ id: n + 1, full_name: `Zoë ${n}`, email: `z${n}@x.example` }));

function collector(): { records: Json[]; batches: number[]; onRecords(records: readonly Json[]): Promise<void> } {
  const records: Json[] = [];
  const batches: number[] = [];
  return {
    records,
    batches,
    async onRecords(batch) {
      records.push(...batch);
      batches.push(batch.length);
    },
  };
}

test('passes a list on in batches and counts its records', async () => {
  const list = customers(25_500);
  const server = await startHttpServer({ body: { status: 'success', content: { data: list }, message: 'OK' } });
  const { client, budget } = openWithBudget(server);
  const into = collector();
  const outcome = await client.stream('customers.getall', { lane, onRecords: into.onRecords });
  expect(outcome).toMatchObject({ status: 'applied', httpStatus: 200, records: 25_500 });
  expect(into.records).toEqual(list);
  expect(Math.max(...into.batches)).toBe(1000);
  expect([budget.open(), server.requests.length]).toEqual([0, 1]);
});

test('waits for a slow consumer, and does not count that time as silence', async () => {
  const server = await startHttpServer({ body: customers(20_000) });
  let taking = 0;
  let atOnce = 0;
  let paused = false;
  const outcome = await openClient(server).stream('customers.getall', {
    lane,
    timeoutMs: 500,
    async onRecords() {
      atOnce = Math.max(atOnce, ++taking);
      if (!paused) await new Promise((resolve) => setTimeout(resolve, 700));
      paused = true;
      taking--;
    },
  });
  expect([outcome, atOnce]).toMatchObject([{ status: 'applied', httpStatus: 200, records: 20_000 }, 1]);
});

test('passes an error of the consumer to the caller, stops reading, and counts the call', async () => {
  const server = await startHttpServer({ body: customers(50_000) });
  const statuses: string[] = [];
  const { client, budget } = openWithBudget(server, { onCall: ({ outcome }) => statuses.push(outcome.status) });
  let batches = 0;
  const onRecords = async () => {
    batches++;
    throw new Error('the ledger is away');
  };
  await expect(client.stream('customers.getall', { lane, onRecords })).rejects.toThrow('the ledger is away');
  await expect(client.stream('customers.getall', { lane, onRecords })).rejects.toThrow('the ledger is away');
  expect([batches, budget.open(), statuses]).toEqual([2, 0, ['applied', 'applied']]);
});

const bodies: [what: string, body: unknown, outcome: object][] = [
  ['an empty list', { content: [] }, { status: 'applied', records: 0 }],
  [
    'a failing envelope',
    { content: customers(2), status: 'error', message: 'no' },
    { status: 'refused', message: 'no' },
  ],
  ['null', { content: null }, { status: 'applied', records: 0 }],
  ['no list', { content: 'none' }, { status: 'unknown', reason: 'no-list' }],
  ['nothing', '', { status: 'unknown', reason: 'empty' }],
  ['a page', '<!doctype html>', { status: 'unknown', reason: 'html', message: expect.stringContaining('base URL') }],
  ['cut off JSON', '[{"id":1},', { status: 'unknown', reason: 'unreadable' }],
];
test.each(bodies)('a list call answered with %s passes nothing on', async (_, body, expected) => {
  const server = await startHttpServer({ body });
  const into = collector();
  const outcome = await openClient(server).stream('customers.getall', { lane, onRecords: into.onRecords });
  expect(outcome).toMatchObject({ httpStatus: 200, ...expected });
  expect(into.records).toEqual([]);
});

const statuses: [status: number, outcome: object][] = [
  [404, { status: 'refused', message: 'because' }],
  [429, { status: 'limited', retryAfterMs: 2000 }],
  [503, { status: 'limited', retryAfterMs: 2000 }],
  [500, { status: 'unknown', reason: 'server-error' }],
  [204, { status: 'applied', records: 0 }],
];
test.each(statuses)('a list call answered with %i is classified like any call', async (status, expected) => {
  const body = status === 204 ? undefined : { message: 'because' };
  const server = await startHttpServer({ status, headers: { 'retry-after': '2' }, body });
  const { onRecords } = collector();
  expect(await openClient(server).stream('orders.getall', { lane, onRecords })).toMatchObject(expected);
});

test('a truncated list is unknown, and its last records are not passed on', async () => {
  const text = JSON.stringify(customers(3000));
  const server = await startTcpServer((socket) =>
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${Buffer.byteLength(text) + 9}\r\n\r\n${text}`),
  );
  const into = collector();
  const outcome = await openClient(server).stream('customers.getall', { lane, onRecords: into.onRecords });
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'broken-off', httpStatus: 200 });
  expect(into.batches).toEqual([1000, 1000]);
});

test('gives up a list that falls silent', async () => {
  const server = await startTcpServer((socket) =>
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n[{"id":1}'),
  );
  const { onRecords } = collector();
  const outcome = await openClient(server).stream('orders.getall', { lane, onRecords, timeoutMs: 1_000 });
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'timeout' });
});

test('a stream aborted while the consumer works ends after the consumer', async () => {
  const server = await startHttpServer({ body: customers(50_000) });
  const abort = new AbortController();
  let done = false;
  const outcome = await openClient(server).stream('customers.getall', {
    lane,
    signal: abort.signal,
    async onRecords() {
      abort.abort();
      await new Promise((resolve) => setTimeout(resolve, 50));
      done = true;
    },
  });
  expect([outcome.status, done]).toEqual(['unknown', true]);
});

test('streams a list from the other prefix where only that one has it', async () => {
  const server = await startHttpServer(({ path }) =>
    path.startsWith('/v1/') ? { body: customers(2) } : { status: 404 },
  );
  const client = openClient(server, { prefix: 'auto' });
  const { onRecords } = collector();
  expect(await client.stream('customers.getall', { lane, onRecords })).toMatchObject({ records: 2 });
  expect(client.learntPrefixes()).toEqual({ 'customers.getall': '/v1' });
});

test('only lists can be streamed', async () => {
  const server = await startHttpServer({});
  const { onRecords } = collector();
  const stream = openClient(server).stream('orders.create', { lane, onRecords });
  await expect(stream).rejects.toThrow('orders.create does not return a list');
});

test('makes the service wait while the consumer works, so that a long list takes little memory', async () => {
  const long = customers(1_000).map((customer) => ({ ...customer, notes: 'x'.repeat(540) }));
  const part = `${JSON.stringify(long).slice(1, -1)},`;
  let written = 0;
  const server = await startHttpServer((_, response) => {
    const more = () => {
      while (written < 60) if (++written && !response.write(part)) return;
      response.end('{"id":0}]');
    };
    response.write('[');
    response.on('drain', more);
    more();
    return undefined;
  });
  let writtenAtRest = 0;
  const outcome = await openClient(server).stream('customers.getall', {
    lane,
    async onRecords() {
      for (let before = -1; writtenAtRest === 0 && before !== written; ) {
        before = written;
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      writtenAtRest ||= written;
    },
  });
  expect(outcome).toMatchObject({ records: 60_001 });
  // The buffers of the two sockets hold some megabytes of the 36.
  expect(writtenAtRest).toBeLessThan(30);
});

test.each([
  ['200', { body: [], headers: { age: '30' } }],
  ['204', { status: 204, headers: { age: '30' } }],
])('an empty list that a cache answers with %s has an age', async (_, reply) => {
  const server = await startHttpServer(reply);
  const { onRecords } = collector();
  const outcome = await openClient(server).stream('orders.getall', { lane, onRecords });
  expect(outcome).toMatchObject({ status: 'applied', records: 0, cachedForS: 30 });
});
