/** Whether a call left: the difference between `not-sent` and `unknown`, on real sockets. */
import { getEventListeners } from 'node:events';
import { expect, onTestFinished, test, vi } from 'vitest';
import { elapsedMs } from '../../../src/base/clock.ts';
import { stoppablesOf } from '../../../src/base/stoppables.ts';
import { FREE_PERMIT, freeBudget } from '../../support/free-budget.ts';
import { startHttpServer, startTcpServer } from '../../support/http-server.ts';
import { openClient, openWithBudget } from './support.ts';

const lane = 'batch' as const;
const body = { order_id: 'A-1' };
const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

test('a refused connection sends nothing', async () => {
  const server = await startTcpServer(() => {});
  await server.close();
  const { client, budget } = openWithBudget(server);
  const outcome = await client.call('orders.create', { lane, body });
  expect(outcome).toMatchObject({ status: 'not-sent', reason: 'unreachable' });
  expect(outcome).toMatchObject({
    message: expect.stringMatching(/^POST http:.*\/orders\/create: .*refused.*ECONNREFUSED/),
  });
  expect(budget.open()).toBe(0);
});

test('a host that does not exist sends nothing', async () => {
  const client = openClient({ url: 'http://no-such-host.invalid', close: async () => {} });
  const outcome = await client.call('orders.create', { lane, body });
  expect(outcome).toMatchObject({
    status: 'not-sent',
    reason: 'unreachable',
    message: expect.stringMatching(/ENOTFOUND|EAI_AGAIN/),
  });
});

test('https to a server that speaks http sends nothing and says so', async () => {
  const server = await startHttpServer({});
  const client = openClient({ url: server.url.replace('http:', 'https:'), close: server.close });
  const outcome = await client.call('orders.create', { lane, body });
  expect(outcome).toMatchObject({
    status: 'not-sent',
    message: expect.stringContaining('whether the base URL should begin with http:'),
  });
  expect(server.requests).toHaveLength(0);
});

const halfAnswers: [what: string, answer: string | undefined, reason: string][] = [
  ['closes without an answer', '', 'broken-off'],
  ['resets', undefined, 'broken-off'],
  ['breaks off in the head', 'HTTP/1.1 200 OK\r\ncontent-le', 'broken-off'],
  ['answers no HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'unreadable'],
];
test.each(halfAnswers)('a server that %s after the request leaves it unknown, sent once', async (_, answer, reason) => {
  const server = await startTcpServer((socket) =>
    answer === undefined ? socket.resetAndDestroy() : socket.end(answer),
  );
  const { client, budget } = openWithBudget(server);
  for (const operation of ['orders.create', 'orders.getall'] as const) {
    const outcome = await client.call(operation, { lane, ...(operation === 'orders.create' && { body }) });
    expect(outcome).toMatchObject({ status: 'unknown', reason });
  }
  expect([server.arrivals(), budget.open()]).toEqual([2, 0]);
});

test('a kept connection that the server closes during the request leaves it unknown, sent once', async () => {
  const server = await startTcpServer((socket, _, count) => (count === 1 ? socket.write(ok) : socket.destroy()));
  const client = openClient(server, { concurrency: 1 });
  expect((await client.call('orders.create', { lane, body })).status).toBe('applied');
  expect(await client.call('orders.create', { lane, body })).toMatchObject({ status: 'unknown', reason: 'broken-off' });
  expect([server.arrivals(), server.connections()]).toEqual([2, 1]);
});

test('gives up a silent service in time, and the request is unknown', async () => {
  const server = await startTcpServer(() => {});
  const { client, budget } = openWithBudget(server);
  const outcome = await client.call('orders.create', { lane, body, timeoutMs: 1_000 });
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'timeout' });
  expect([server.arrivals(), budget.open()]).toEqual([1, 0]);
});

test('the time limit covers the whole answer, however steadily it drips', async () => {
  const drips: NodeJS.Timeout[] = [];
  const server = await startTcpServer((socket) => {
    socket.write('HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\n');
    drips.push(setInterval(() => socket.write(' '), 20));
  });
  const outcome = await openClient(server).call('orders.create', { lane, body, timeoutMs: 1_000 });
  for (const drip of drips) clearInterval(drip);
  const message = expect.stringContaining('no complete answer within 1 s');
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'timeout', httpStatus: 200, message });
});

test('does not send a call after its time limit, even if the limit passed while it waited for the budget', async () => {
  const server = await startHttpServer({});
  const { client, budget } = openWithBudget(server);
  const past = await client.call('orders.create', { lane, body, dispatchBefore: elapsedMs() - 1 });
  expect(past).toMatchObject({ status: 'not-sent', reason: 'deadline' });
  expect(budget.takes).toHaveLength(0);

  let released = 0;
  const slow = freeBudget(async ({ maxWaitMs = 0 }) => {
    const until = performance.now() + maxWaitMs;
    while (performance.now() < until) await new Promise(setImmediate);
    return { status: 'taken', permit: { ...FREE_PERMIT, release: () => released++ } };
  });
  const late = openClient(server, { budget: slow });
  const outcome = await late.call('orders.create', { lane, body, dispatchBefore: elapsedMs() + 30 });
  expect(outcome).toMatchObject({ status: 'not-sent', reason: 'deadline' });
  expect([released, server.requests.length]).toEqual([1, 0]);
});

test('a connection that opens too late carries no request', async () => {
  // Blocks the event loop between the check after the budget and the moment the new connection opens.
  const server = await startHttpServer({});
  const client = openClient(server);
  const dispatchBefore = elapsedMs() + 40;
  const call = client.call('orders.create', { lane, body, dispatchBefore });
  await new Promise<void>((resolve) => queueMicrotask(resolve));
  while (elapsedMs() < dispatchBefore) Math.random();
  expect(await call).toMatchObject({ status: 'not-sent', reason: 'deadline' });
  expect(server.requests).toHaveLength(0);
});

test.each([
  ['its own limit', {}],
  ['the time by which it has to leave', { dispatchBefore: elapsedMs() + 30_000, timeoutMs: 120_000 }],
])('a machine suspended between the token and the socket sends nothing past %s', async (_, limits) => {
  vi.useFakeTimers({ toFake: ['Date'] }); // performance.now() stops meanwhile
  onTestFinished(() => void vi.useRealTimers());
  const server = await startHttpServer({});
  const budget = freeBudget(async () => {
    process.nextTick(() => vi.setSystemTime(Date.now() + 60_000));
    return { status: 'taken', permit: FREE_PERMIT };
  });
  const outcome = await openClient(server, { budget }).call('orders.create', { lane, body, ...limits });
  expect(outcome.status).toBe('not-sent');
  expect(server.requests).toHaveLength(0);
});

test('a call aborted before it leaves is not sent; a call aborted afterwards is unknown', async () => {
  const abort = new AbortController();
  const server = await startTcpServer(() => abort.abort());
  const { client, budget } = openWithBudget(server);
  const sent = await client.call('orders.create', { lane, body, signal: abort.signal });
  expect(sent).toMatchObject({ status: 'unknown', reason: 'aborted' });
  const early = await client.call('orders.create', { lane, body, signal: abort.signal });
  expect(early).toMatchObject({ status: 'not-sent', reason: 'aborted' });
  expect([server.arrivals(), budget.takes.length, budget.open()]).toEqual([1, 1, 0]);
});

test('one signal can stop many calls without a warning, by one listener that keeps no call', async () => {
  const warnings: Error[] = [];
  const onWarning = (warning: Error) => warnings.push(warning);
  process.on('warning', onWarning);
  const { signal } = new AbortController();
  const server = await startHttpServer({ body: {} });
  const client = openClient(server, { concurrency: 16 });
  await Promise.all(Array.from({ length: 32 }, () => client.call('orders.create', { lane, body, signal })));
  process.off('warning', onWarning);
  expect([warnings, getEventListeners(signal, 'abort').length, stoppablesOf(signal).size]).toEqual([[], 1, 0]);
});

test('a call aborted while it connects is not sent later', async () => {
  const server = await startHttpServer({});
  const client = openClient(server);
  const abort = new AbortController();
  const call = client.call('orders.create', { lane, body, signal: abort.signal });
  queueMicrotask(() => abort.abort());
  expect(await call).toMatchObject({ status: 'not-sent', reason: 'aborted' });
  expect((await client.call('orders.create', { lane, body })).status).toBe('applied');
  expect(server.requests).toHaveLength(1);
});

test('a call aborted while it waits for the budget is not sent', async () => {
  const server = await startHttpServer({});
  const abort = new AbortController();
  const budget = freeBudget(
    ({ signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        abort.abort();
      }),
  );
  const outcome = await openClient(server, { budget }).call('orders.create', { lane, body, signal: abort.signal });
  expect(outcome).toMatchObject({ status: 'not-sent', reason: 'aborted' });
});

test('a connection that never opens ends in time as not sent', async () => {
  // A server that never answers the TLS handshake.
  const server = await startTcpServer(() => {});
  const client = openClient({ url: server.url.replace('http:', 'https:'), close: server.close });
  const outcome = await client.call('orders.create', { lane, body, timeoutMs: 100 });
  expect(outcome).toMatchObject({
    status: 'not-sent',
    reason: 'unreachable',
    message: expect.stringContaining('connection timed out'),
  });
});
