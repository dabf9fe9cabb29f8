/** Invalid bodies: what a call and a streamed list make of each. */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { Pool } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { autoDialect } from '../../../src/client/call/dialect.ts';
import { exchange } from '../../../src/client/http/exchange.ts';
import { createListSink } from '../../../src/client/lists/list-sink.ts';
import { startHttpServer, startTcpServer } from '../../support/http-server.ts';
import { openClient } from './support.ts';

const lane = 'batch' as const;
const operation = 'customers.getall' as const;
const list = '[{"id":1},{"id":2}]';

/** The whole answer, as bytes on the wire. */
const answered = (body: string | Buffer, headers: string) =>
  Buffer.concat([Buffer.from(`HTTP/1.1 200 OK\r\n${headers}\r\n\r\n`), Buffer.from(body)]);
const whole = (body: string | Buffer, headers = '') =>
  answered(body, `${headers}content-length: ${Buffer.byteLength(body)}`);

const bodies: readonly [string, Buffer, object][] = [
  ['NaN', whole('[{"id":1,"amount":NaN}]'), { reason: 'unreadable' }],
  ['Infinity', whole('{"content":[{"id":1}],"total":-Infinity}'), { reason: 'unreadable' }],
  ['a Content-Length beyond the body', answered(list, 'content-length: 99'), { reason: 'broken-off' }],
  ['a Content-Length within the body', answered(list, 'content-length: 12'), { reason: 'unreadable' }],
  ['a Content-Length that is not a number', answered(list, 'content-length: many'), { reason: 'unreadable' }],
  ['two Content-Lengths', answered(list, 'content-length: 5\r\ncontent-length: 19'), { reason: 'broken-off' }],
  [
    'a chunk that is cut off',
    answered(`13\r\n${list.slice(0, 9)}`, 'transfer-encoding: chunked'),
    { reason: 'broken-off' },
  ],
  [
    'zstd',
    whole(list, 'content-encoding: zstd\r\n'),
    { reason: 'unreadable', message: expect.stringContaining('zstd') },
  ],
  ['gzip that is plain', whole(list, 'content-encoding: gzip\r\n'), { reason: 'unreadable' }],
  [
    'gzip that is cut off',
    whole(gzipSync(list).subarray(0, 20), 'content-encoding: gzip\r\n'),
    { reason: 'unreadable' },
  ],
  [
    'gzip that does not say so',
    whole(gzipSync(list)),
    { reason: 'unreadable', message: expect.stringContaining('UTF-8') },
  ],
  [
    'UTF-16',
    whole(Buffer.from(`\uFEFF${list}`, 'utf16le')),
    { reason: 'unreadable', message: expect.stringContaining('UTF-8') },
  ],
];

test.each(bodies)(
  '%s has an unknown outcome, for call and stream, and is requested once',
  async (_what, bytes, expected) => {
    for (const how of ['call', 'stream'] as const) {
      const server = await startTcpServer((socket) => socket.end(bytes));
      const client = openClient(server);
      const onRecords = async () => {};
      const outcome = await (how === 'call'
        ? client.call(operation, { lane })
        : client.stream(operation, { lane, onRecords }));
      expect(outcome, how).toMatchObject({ status: 'unknown', ...expected });
      expect(server.arrivals(), how).toBe(1);
    }
  },
);

const packings: readonly [string, Buffer, string?][] = [
  ['gzip', gzipSync(list)],
  ['deflate', deflateSync(list)],
  ['deflate', deflateRawSync(list), 'deflate without its header'],
  ['br', brotliCompressSync(list)],
];
test.each(packings)('unpacks %s although no encoding was requested, for call and stream', async (encoding, body) => {
  const headers = { 'content-encoding': encoding, 'content-type': 'application/json' };
  const client = openClient(await startHttpServer({ headers, body }));
  expect(await client.call(operation, { lane })).toMatchObject({ status: 'applied', content: [{ id: 1 }, { id: 2 }] });
  const seen: unknown[] = [];
  const outcome = await client.stream(operation, { lane, onRecords: async (records) => void seen.push(...records) });
  expect([outcome.status, seen]).toEqual(['applied', [{ id: 1 }, { id: 2 }]]);
});

test('a compressed refusal shows its own message', async () => {
  const body = gzipSync('{"status":"error","message":"no amount"}');
  const client = openClient(await startHttpServer({ status: 400, headers: { 'content-encoding': 'gzip' }, body }));
  expect(await client.call('orders.create', { lane, body: {} })).toMatchObject({ message: 'no amount' });
});

test('stops unpacking an answer at the size limit, before it takes memory', async () => {
  const body = gzipSync(Buffer.alloc(64 * 1024 * 1024, ' '));
  const client = openClient(await startHttpServer({ headers: { 'content-encoding': 'gzip' }, body }));
  expect(await client.call(operation, { lane })).toMatchObject({ status: 'unknown', reason: 'too-large' });
  const outcome = await client.stream(operation, { lane, onRecords: async () => {} });
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'too-large' });
});

test('passes on a compressed list bit by bit, at the pace of its consumer', async () => {
  const records = Array.from({ length: 30_000 }, (_, id) => ({ id, name: `a name of ${id}` }));
  const body = gzipSync(JSON.stringify(records));
  const client = openClient(await startHttpServer({ headers: { 'content-encoding': 'gzip' }, body }));
  let [atOnce, most, taken] = [0, 0, 0];
  const outcome = await client.stream(operation, {
    lane,
    async onRecords(batch) {
      most = Math.max(most, ++atOnce);
      await new Promise(setImmediate);
      taken += batch.length;
      atOnce--;
    },
  });
  expect([outcome.status, taken, most]).toEqual(['applied', 30_000, 1]);
  const failing = client.stream(operation, {
    lane,
    async onRecords() {
      throw new Error('the ledger is away');
    },
  });
  await expect(failing).rejects.toThrow('the ledger is away');
});

test('the last of several members with one name counts, for call and stream', async () => {
  const body = '{"status":"error","content":[{"id":9,"id":7}],"status":"success"}';
  const client = openClient(await startHttpServer({ body }));
  expect(await client.call(operation, { lane })).toMatchObject({ status: 'applied', content: [{ id: 7 }] });
  const seen: unknown[] = [];
  const outcome = await client.stream(operation, { lane, onRecords: async (records) => void seen.push(...records) });
  expect([outcome.status, seen]).toEqual(['applied', [{ id: 7 }]]);
});

test('a list of records without a known id is reported with the whole remedy', async () => {
  const members = Array.from({ length: 12 }, (_, i) => [`member_with_a_long_name_${i}`, i]);
  const client = openClient(await startHttpServer({ body: [Object.fromEntries(members)] }));
  const outcome = await client.stream(operation, { lane, onRecords: async () => {} });
  const whole = /long_name_11\. Set .*idField.* keys are numbers or ids\.$/;
  expect(outcome).toMatchObject({ reason: 'no-list', message: expect.stringMatching(whole) });
});

test('a list member given twice is not taken as the list', async () => {
  const client = openClient(await startHttpServer({ body: `{"content":${list},"content":[{"id":3}]}` }));
  const outcome = await client.stream(operation, { lane, onRecords: async () => {} });
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'no-list' });
});

test('cuts off an endless list of records at its limit, with little memory', async () => {
  const part = Buffer.from(',{"id":2,"full_name":"Zoë"}'.repeat(4_000));
  const server = await startHttpServer((_request, response) => {
    const more = () => {
      while (!response.destroyed) if (!response.write(part)) return;
    };
    response.on('drain', more);
    response.write('[{"id":1}');
    more();
    return undefined;
  });
  const pool = new Pool(server.url);
  onTestFinished(async () => void (await Promise.all([server.close(), pool.destroy()])));
  const rssBefore = process.memoryUsage().rss;
  let records = 0;
  const count = async (batch: readonly unknown[]) => {
    records += batch.length;
  };
  const pouring = createListSink({ operation, label: 'GET /' }, autoDialect, {
    onRecords: count,
    maxBytes: 50_000_000,
  });
  const exchanged = await exchange(
    pool,
    { method: 'GET', path: '/', headers: {} },
    { timeoutMs: 5_000, maxBodyBytes: 1, sink: pouring.sink },
  );
  expect(await pouring.finish(exchanged)).toMatchObject({
    reason: 'too-large',
    message: expect.stringContaining('50000000 bytes'),
  });
  expect(records).toBeGreaterThan(1_500_000);
  expect(process.memoryUsage().rss - rssBefore).toBeLessThan(120_000_000);
});
