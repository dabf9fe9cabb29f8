import type { Socket } from 'node:net';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { type CallerConfig, openCaller, type TargetRequest } from '../../../src/mirror/targets/calls/caller.ts';
import { closedAfterEach } from '../../support/closed-after-each.ts';
import { FREE_PERMIT, freeBudget } from '../../support/free-budget.ts';
import { startHttpServer, startTcpServer } from '../../support/http-server.ts';

const MIB = 1024 * 1024;
const track = closedAfterEach();

function callerOf(baseUrl: string, given: Partial<CallerConfig> = {}) {
  const budget = freeBudget();
  const take: CallerConfig['take'] = (signal) => budget.take({ lane: 'batch', signal });
  const config = { name: 'hook', baseUrl, allowPrivate: true, timeoutMs: 5_000, take, ...given };
  return { budget, caller: track(openCaller(config)) };
}

/** One call to a server whose reaction is what `onRequest` does to its socket. */
async function callRaw(onRequest: (socket: Socket) => void, given: Partial<CallerConfig> = {}) {
  const server = track(await startTcpServer(onRequest));
  const { budget, caller } = callerOf(server.url, given);
  const answered = await send(caller);
  return { server, budget, answered };
}

function send(caller: ReturnType<typeof openCaller>, request: Partial<TargetRequest> = {}, signal?: AbortSignal) {
  const context = { signal: signal ?? new AbortController().signal };
  return caller.send({ method: 'POST', path: '/x', headers: {}, ...request }, context);
}

/** Writes `chunk` endlessly, as fast as it is read. */
function writeWithoutEnd(socket: Socket, chunk: string | Buffer): void {
  while (!socket.destroyed && socket.write(chunk));
  if (!socket.destroyed) socket.once('drain', () => writeWithoutEnd(socket, chunk));
}

test('a call takes a token of the budget, sends what it was given, and gives the permit back', async () => {
  const server = track(await startHttpServer({ status: 201, headers: { 'X-Id': '7' }, body: 'Grüße' }));
  const { budget, caller } = callerOf(`${server.url}/base/`);
  const answered = await send(caller, { method: 'PATCH', path: '/a?b=c', headers: { 'x-a': '1' }, body: '{"a":1}' });
  expect(answered).toMatchObject({ status: 'answered', httpStatus: 201, headers: { 'x-id': '7' }, text: 'Grüße' });
  const [request] = server.requests;
  expect(request).toMatchObject({ method: 'PATCH', path: '/base/a', body: '{"a":1}' });
  expect(request?.headers).toMatchObject({ 'x-a': '1', 'user-agent': 'lockstep' });
  expect(request?.query.toString()).toBe('b=c');
  expect([budget.takes.length, budget.open(), budget.successes()]).toEqual([1, 0, 1]);
});

test('an empty path is the base address itself, with its query', async () => {
  const server = track(await startHttpServer({ status: 200 }));
  await send(callerOf(`${server.url}/hooks/token?key=value#part`).caller, { path: '' });
  expect(server.requests[0]).toMatchObject({ path: '/hooks/token' });
  expect(server.requests[0]?.query.toString()).toBe('key=value');
});

test.each([301, 307, 308])(
  'a read that asks for it follows the status %i, but only on the same origin',
  async (status) => {
    const elsewhere = track(await startHttpServer({ status: 200 }));
    const server = track(
      await startHttpServer(({ path }) => {
        const location = { '/x': '/new', '/away': `${elsewhere.url}/x` }[path];
        return location === undefined ? { body: 'here' } : { status, headers: { location } };
      }),
    );
    const { caller } = callerOf(server.url);
    const read = { method: 'GET', followsMoves: true } as const;
    expect(await send(caller, read)).toMatchObject({ httpStatus: 200, text: 'here' });
    expect(await send(caller, { ...read, path: '/away' })).toMatchObject({ httpStatus: status });
    expect(elsewhere.requests).toEqual([]);
  },
);

test.each([301, 302, 303, 307, 308])('a redirect of status %i is an answer and is not followed', async (status) => {
  const elsewhere = track(await startHttpServer({ status: 200 }));
  const server = track(await startHttpServer({ status, headers: { location: `${elsewhere.url}/stolen` } }));
  expect(await send(callerOf(server.url).caller)).toMatchObject({ status: 'answered', httpStatus: status });
  expect([server.requests.length, elsewhere.connections()]).toEqual([1, 0]);
});

test.each([
  [{ 'retry-after': '7' }, 7_000],
  [{ 'retry-after': 'Sun, 01 Mar 2026 12:00:20 GMT', date: 'Sun, 01 Mar 2026 12:00:00 GMT' }, 20_000],
  [{}, 1_000],
])('after a 429 with %j the budget stops everyone for %i ms', async (headers, waitMs) => {
  const server = track(await startHttpServer({ status: 429, headers }));
  const { budget, caller } = callerOf(server.url);
  expect(await send(caller)).toMatchObject({ status: 'answered', httpStatus: 429 });
  expect([budget.limits429, budget.open(), budget.successes()]).toEqual([[waitMs], 0, 0]);
});

test('a secret that an answer repeats is removed', async () => {
  const server = track(await startHttpServer({ status: 400, body: 'the key k%2Fcanary is wrong' }));
  const answered = await send(callerOf(server.url).caller, { secrets: ['k/canary'] });
  expect(answered).toMatchObject({ text: 'the key *** is wrong' });
});

test('a budget that grants nothing in time sends nothing and says when', async () => {
  const server = track(await startHttpServer({ status: 200 }));
  const { caller } = callerOf(server.url, { take: async () => ({ status: 'wait', retryAfterMs: 1_234 }) });
  const detail = expect.stringMatching(
    /the budget of target hook allows no call for another 2 s: .*asked for a pause$/,
  );
  expect(await send(caller)).toMatchObject({ status: 'failed', failure: { detail, retryAfterMs: 1_234 } });
  expect(server.connections()).toBe(0);
});

test('a budget that cannot be read sends nothing', async () => {
  const server = track(await startHttpServer({ status: 200 }));
  const { caller } = callerOf(server.url, { take: () => Promise.reject(new Error('the store is away')) });
  expect(await send(caller)).toEqual({
    status: 'failed',
    failure: {
      status: 'later',
      reason: 'BUDGET',
      detail: `POST ${server.url}: not sent: the budget of target hook cannot be read: the store is away`,
      isLimited: true,
    },
  });
  expect(server.connections()).toBe(0);
});

test('a 429 is reported even if the store of the budget is unavailable by then', async () => {
  const server = track(await startHttpServer({ status: 429 }));
  const permit = { ...FREE_PERMIT, limited: () => Promise.reject(new Error('the store is away')) };
  const { caller } = callerOf(server.url, { take: async () => ({ status: 'taken', permit }) });
  expect(await send(caller)).toMatchObject({ status: 'answered', httpStatus: 429 });
});

test('an aborted call takes no token', async () => {
  const { budget, caller } = callerOf('http://127.0.0.1:9');
  expect(await send(caller, {}, AbortSignal.abort())).toMatchObject({
    status: 'failed',
    failure: { reason: 'ABORTED' },
  });
  expect(budget.takes).toEqual([]);
});

test('a call that is aborted while it waits for the budget is not sent', async () => {
  const aborter = new AbortController();
  const take: CallerConfig['take'] = async (signal) => {
    aborter.abort();
    throw signal.reason;
  };
  const { caller } = callerOf('http://127.0.0.1:9', { take });
  expect(await send(caller, {}, aborter.signal)).toMatchObject({ status: 'failed', failure: { reason: 'ABORTED' } });
});

test('a call of a delivery that another process may send by now is not sent, and one before is', async () => {
  const server = track(await startHttpServer({ status: 200 }));
  let isOurs = true;
  const { budget, caller } = callerOf(server.url, {
    take: async (signal) => {
      const taken = await budget.take({ lane: 'batch', signal });
      isOurs = server.requests.length === 0; // it was, when the call began to wait
      return taken;
    },
  });
  const context = { signal: new AbortController().signal, mayDispatch: () => isOurs };
  const call = () => caller.send({ method: 'POST', path: '/x', headers: {} }, context);
  expect(await call()).toMatchObject({ status: 'answered' });
  expect(await call()).toMatchObject({ status: 'failed', failure: { status: 'later', reason: 'ABORTED' } });
  expect([server.requests.length, budget.open()]).toEqual([1, 0]);
});

test('a call aborted in flight ends at once, with an unknown outcome', async () => {
  const aborter = new AbortController();
  const server = track(await startTcpServer(() => aborter.abort()));
  const { budget, caller } = callerOf(server.url, { timeoutMs: 60_000 });
  expect(await send(caller, {}, aborter.signal)).toMatchObject({ status: 'failed', failure: { reason: 'BROKEN_OFF' } });
  expect(budget.open()).toBe(0);
});

test('a port without a listener is unreachable', async () => {
  const server = await startHttpServer({ status: 200 });
  await server.close();
  const answered = await send(callerOf(server.url).caller);
  expect(answered).toMatchObject({
    failure: {
      reason: 'UNREACHABLE',
      detail: expect.stringMatching(`^POST ${server.url}: connection refused`),
    },
  });
});

test.each([
  ['answers nothing', '', { status: 'failed', failure: { reason: 'TIMEOUT' } }],
  ['answers half a head', 'HTTP/1.1 200 OK\r\nx-a:', { status: 'failed', failure: { reason: 'TIMEOUT' } }],
  [
    'announces more than it sends',
    'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nabc',
    { status: 'cut-off', httpStatus: 200, failure: { reason: 'TIMEOUT' } },
  ],
  ['only ever says 103', 'HTTP/1.1 103 Early Hints\r\n\r\n', { status: 'failed', failure: { reason: 'TIMEOUT' } }],
])('a server that %s costs the timeout and no more', async (_, bytes, expected) => {
  const { answered, budget } = await callRaw((socket) => void socket.write(bytes), { timeoutMs: 1_000 });
  expect(answered).toMatchObject(expected);
  expect(budget.open()).toBe(0);
});

test('a server that drips its answer byte by byte is cut off after the timeout', async () => {
  const { answered } = await callRaw(
    (socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n');
      const drip = setInterval(() => socket.write('1\r\nx\r\n'), 10);
      socket.on('close', () => clearInterval(drip));
    },
    { timeoutMs: 1_000 },
  );
  expect(answered).toMatchObject({ status: 'cut-off', httpStatus: 200, failure: { reason: 'TIMEOUT' } });
});

test.each<[string, (socket: Socket) => void]>([
  ['closes without a word', (socket) => socket.end()],
  ['resets the connection', (socket) => socket.resetAndDestroy()],
  ['does not speak HTTP', (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
])('a server that %s leaves the outcome unknown', async (_, onRequest) => {
  const { answered } = await callRaw(onRequest);
  expect(answered).toMatchObject({ status: 'failed', failure: { reason: 'BROKEN_OFF' } });
  expect(answered).not.toHaveProperty('httpStatus');
});

test('an answer truncated after its head still gives its status', async () => {
  const { answered } = await callRaw((socket) => socket.end('HTTP/1.1 410 Gone\r\ncontent-length: 9\r\n\r\nabc'));
  expect(answered).toMatchObject({ status: 'cut-off', httpStatus: 410, failure: { reason: 'BROKEN_OFF' } });
});

test.each([
  ['10 GB', 'content-length: 10000000000', Buffer.alloc(64 * 1024, 'x')],
  ['without an end', 'transfer-encoding: chunked', Buffer.from(`10000\r\n${'x'.repeat(64 * 1024)}\r\n`)],
])('an answer of %s is cut off at 1 MiB, in little time and memory', async (_, header, chunk) => {
  const before = process.memoryUsage().rss;
  const startedAt = performance.now();
  const sockets: Socket[] = [];
  const { answered } = await callRaw((socket) => {
    sockets.push(socket);
    socket.write(`HTTP/1.1 200 OK\r\n${header}\r\n\r\n`);
    writeWithoutEnd(socket, chunk);
  });
  expect(answered).toMatchObject({ status: 'cut-off', httpStatus: 200, failure: { reason: 'TOO_LARGE' } });
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  expect(process.memoryUsage().rss - before).toBeLessThan(128 * MIB);
  expect(sockets.map(({ bytesWritten }) => bytesWritten < 64 * MIB)).toEqual([true]);
});

test('a flood of headers is cut off', async () => {
  const { answered } = await callRaw((socket) => {
    socket.write('HTTP/1.1 200 OK\r\n');
    writeWithoutEnd(socket, `x-flood: ${'x'.repeat(1000)}\r\n`);
  });
  expect(answered).toMatchObject({ status: 'failed', failure: { reason: 'TOO_LARGE' } });
});

test.each([
  { encoding: 'gzip', pack: gzipSync },
  { encoding: 'br', pack: brotliCompressSync },
])(
  'an answer that a proxy compresses with $encoding is read, also one that reports an error',
  async ({ encoding, pack }) => {
    const headers = { 'content-encoding': encoding };
    const server = track(await startHttpServer({ status: 422, headers, body: pack('{"message":"too long"}') }));
    const answered = await send(callerOf(server.url).caller);
    expect(answered).toMatchObject({ status: 'answered', httpStatus: 422, text: '{"message":"too long"}' });
  },
);

test('a few compressed bytes may not become more than an answer may have', async () => {
  const headers = { 'content-encoding': 'gzip' };
  const server = track(await startHttpServer({ status: 200, headers, body: gzipSync(Buffer.alloc(2 * MIB)) }));
  const answered = await send(callerOf(server.url).caller);
  expect(answered).toMatchObject({ status: 'cut-off', httpStatus: 200, failure: { reason: 'TOO_LARGE' } });
});

test('the configuration can change the limits of answers', async () => {
  const server = track(await startHttpServer({ status: 200, body: 'x'.repeat(101) }));
  expect(await send(callerOf(server.url, { maxAnswerBytes: 101 }).caller)).toMatchObject({ status: 'answered' });
  const { caller } = callerOf(server.url, { maxAnswerBytes: 100 });
  const detail = `POST ${server.url}: the answer has more than 100 bytes`;
  const failure = { reason: 'TOO_LARGE', detail };
  expect(await send(caller)).toMatchObject({ status: 'cut-off', httpStatus: 200, failure });
});

test('a header that HTTP does not allow is an outcome without its value, not a rejection', async () => {
  const { caller } = callerOf('http://127.0.0.1:9');
  const answered = await send(caller, { headers: { 'x-a': 'canary\r\nx-b: 1' } });
  expect(answered).toMatchObject({ status: 'failed', failure: { reason: 'UNREACHABLE' } });
  expect(JSON.stringify(answered)).not.toContain('canary');
});

test('no detail holds the path, the query or a header', async () => {
  const server = track(await startTcpServer((socket) => socket.destroy()));
  const headers = { authorization: 'Bearer canary-header' };
  const { caller } = callerOf(`${server.url}/canary-path?key=canary-query`);
  const answers = [
    await send(caller, { path: '', headers }),
    await send(caller, { path: '/canary', headers }),
    await send(callerOf('http://127.0.0.1:9/canary?canary').caller, { path: '', headers }),
    await send(callerOf('http://127.0.0.1:9/canary?canary', { allowPrivate: false }).caller, { headers }),
  ];
  expect(answers.map(({ status }) => status)).toEqual(['failed', 'failed', 'failed', 'failed']);
  expect(JSON.stringify(answers)).not.toContain('canary');
});

test('closing waits for the call in flight, may be done twice, and nothing is sent after it', async () => {
  let closing: Promise<void> | undefined;
  const server = track(
    await startHttpServer(() => {
      closing = caller.close();
      return { status: 200 };
    }),
  );
  const { caller } = callerOf(server.url);
  expect(await send(caller)).toMatchObject({ status: 'answered' });
  await closing;
  await caller.close();
  expect(await send(caller)).toMatchObject({ status: 'failed', failure: { reason: 'ABORTED' } });
});
