/** What a server sees of a call that was given up: on real sockets, plain and TLS. */
import { createServer, type Server, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openCaller } from '../../../src/mirror/targets/calls/caller.ts';
import { CERTIFICATE } from '../../support/certificate.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { openClient } from './support.ts';

const OK = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}';

/** Keeps the end of each connection: `end` for an orderly close, otherwise the error's code. */
async function startWatching(protocol: 'http' | 'https', answer: (socket: Socket) => void) {
  const ends: string[] = [];
  const sockets = new Set<Socket>();
  const server: Server = protocol === 'http' ? createServer() : createTlsServer(CERTIFICATE);
  server.on(protocol === 'http' ? 'connection' : 'secureConnection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', (error: NodeJS.ErrnoException) => ends.push(error.code ?? error.message));
    socket.on('end', () => ends.push('end'));
    socket.on('data', () => answer(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the server has no port');
  const close = async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { url: `${protocol}://127.0.0.1:${address.port}`, ends, close };
}

const silent = () => {};
const half = (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}');

test.each([
  ['http', 'no answer', silent],
  ['http', 'half an answer', half],
  ['https', 'no answer', silent],
  ['https', 'half an answer', half],
] as const)('over %s, a call to the service with %s in time resets its connection', async (protocol, _, answer) => {
  if (protocol === 'https') vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  onTestFinished(() => void vi.unstubAllEnvs());
  const server = await startWatching(protocol, answer);
  const client = openClient(server, { timeoutMs: 2_000 });
  const outcome = await client.call('orders.create', { lane: 'batch', body: { order_id: 'A-1' } });
  expect(outcome).toMatchObject({ status: 'unknown', reason: 'timeout' });
  await expect.poll(() => server.ends).toEqual(['ECONNRESET']);
});

test('a call to a target resets its connection when the answer does not come in time or the call is aborted', async () => {
  const abort = new AbortController();
  let requests = 0;
  const server = await startWatching('http', () => {
    if (++requests === 2) abort.abort();
  });
  const budget = freeBudget();
  const take = (signal: AbortSignal) => budget.take({ lane: 'batch', signal });
  const caller = openCaller({ name: 'hook', baseUrl: server.url, allowPrivate: true, timeoutMs: 2_000, take });
  const request = { method: 'POST', path: '/x', headers: {} } as const;
  const timedOut = await caller.send(request, { signal: new AbortController().signal });
  expect(timedOut).toMatchObject({ status: 'failed', failure: { reason: 'TIMEOUT' } });
  await expect.poll(() => server.ends).toEqual(['ECONNRESET']);
  expect(await caller.send(request, abort)).toMatchObject({ status: 'failed', failure: { reason: 'BROKEN_OFF' } });
  await expect.poll(() => server.ends).toEqual(['ECONNRESET', 'ECONNRESET']);
  await caller.close();
  await server.close();
});

test('a connection without a call on it is closed in order', async () => {
  const server = await startWatching('http', (socket) => void socket.write(OK));
  const client = openClient(server);
  expect((await client.call('orders.create', { lane: 'batch', body: {} })).status).toBe('applied');
  await client.close();
  await expect.poll(() => server.ends).toEqual(['end']);
});
