/** What a caller may do to the service below HTTP: the requests are written by hand. */
import net from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test, vi } from 'vitest';
import { createKey } from '../../src/service/tenants.ts';
import { PATIENT } from '../support/patient.ts';
import { startedService } from './started-service.ts';

const at = await startedService({}, { headersMs: 300, requestMs: 600, checkEveryMs: 50, connections: 20 });
afterAll(() => at.close());

const JSON_POST = 'POST /api/v1/contacts/create HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n';

function connect(): net.Socket {
  const { hostname, port } = new URL(at.url);
  return net.connect(Number(port), hostname).on('error', () => undefined);
}

/** Sends `bytes` and gives everything that comes until the service closes the connection. */
async function answerTo(bytes: string | Buffer): Promise<string> {
  const socket = connect();
  socket.write(bytes);
  return text(socket);
}

/** The status and the envelope of a raw answer. */
function read(answer: string): { status: number; headers: string; json: unknown } {
  const [headers = '', body = ''] = answer.split('\r\n\r\n');
  return { status: Number(headers.split(' ')[1]), headers, json: JSON.parse(body) };
}

const failing = (message: unknown) => ({ status: 'error', content: null, message });

test('does not wait for a body that drips in, and tells the caller', async () => {
  const socket = connect();
  socket.write(`${JSON_POST}API_KEY: ${at.key}\r\ncontent-length: 100\r\n\r\n`);
  const drip = setInterval(() => socket.write(' '), 100);
  const { status, headers, json } = read(await text(socket));
  clearInterval(drip);
  expect([status, json]).toEqual([408, failing('the request did not arrive in time')]);
  expect(headers).toMatch(/x-content-type-options: nosniff/);
});

test('does not wait for headers that drip in', async () => {
  const socket = connect();
  socket.write('GET /api/v1/contacts/getall HTTP/1.1\r\n');
  const drip = setInterval(() => socket.write('a: b\r\n'), 100);
  expect(read(await text(socket)).status).toBe(408);
  clearInterval(drip);
});

test.each([
  ['without a key', ''],
  ['with an unknown one', 'API_KEY: nobody-knows-this-key\r\n'],
])('answers and disconnects a caller %s at once, whatever body is announced', async (_case, key) => {
  const { status, headers } = read(await answerTo(`${JSON_POST}${key}content-length: 1000000\r\n\r\n{`));
  expect(status).toBe(401);
  expect(headers).toMatch(/connection: close/);
});

test.each([
  ['/%', 400, /not a valid url component/],
  ['/api/v1/%zz', 400, /not a valid url component/],
  ['/docs/%', 400, /not a valid url component/],
  ['/ü', 400, /./],
])('the malformed address %s is answered in the envelope', async (path, expected, words) => {
  const { status, headers, json } = read(
    await answerTo(`GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`),
  );
  expect([status, json]).toEqual([expected, failing(expect.stringMatching(words))]);
  expect(headers).toMatch(/x-content-type-options: nosniff/);
});

test.each([
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['headers of 100 kB', `GET / HTTP/1.1\r\n${'a: b\r\n'.repeat(17_000)}\r\n`, 431],
  ['two lengths', `${JSON_POST}content-length: 1\r\ncontent-length: 2\r\n\r\n`, 400],
])('answers an invalid request in the envelope: %s', async (_case, bytes, expected) => {
  const { status, json } = read(await answerTo(bytes));
  expect([status, json]).toEqual([expected, failing(expect.any(String))]);
});

test.each([
  ['a byte that begins nothing', [0xff]],
  ['an overlong slash', [0xc0, 0xaf]],
  ['half a surrogate pair', [0xed, 0xa0, 0x80]],
  ['a letter cut short', [0xc3]],
])('a body that is not UTF-8 is refused: %s', async (_case, bytes) => {
  const body = Buffer.concat([Buffer.from('{"first_name":"'), Buffer.from(bytes), Buffer.from('"}')]);
  const head = `${JSON_POST}API_KEY: ${at.key}\r\nconnection: close\r\ncontent-length: ${body.length}\r\n\r\n`;
  const { status, json } = read(await answerTo(Buffer.concat([Buffer.from(head), body])));
  expect([status, json]).toEqual([400, failing('body: not valid UTF-8')]);
});

test('accepts up to the limit of connections', async () => {
  const held = Array.from({ length: 20 }, connect);
  await vi.waitFor(() => expect(held.every((socket) => !socket.connecting)).toBe(true), PATIENT);
  const answer = answerTo('GET /openapi.json HTTP/1.1\r\nhost: x\r\n\r\n');
  expect(await answer.catch((error: NodeJS.ErrnoException) => error.code)).toMatch(/^(ECONNRESET)?$/);
  for (const socket of held) socket.destroy();
  await vi.waitFor(async () => expect((await at.call('tasks.getall')).status).toBe(200), PATIENT);
});

test('delays each answer to an address that tries many keys, but not for valid keys', async () => {
  const busy = await at.another({});
  const { key: fresh } = await createKey(at.pool, at.tenantId);
  await busy.content('tasks.getall');
  const guess = (n: number) => busy.call('tasks.getall', { key: `guess-number-${n}-of-many` });
  for (let n = 0; n < 30; n += 1) void guess(n);
  await vi.waitUntil(() => busy.service.traffic.unauthorized() >= 20, PATIENT);
  const answered: string[] = [];
  const slow = guess(31).then(({ status }) => answered.push(`guess ${status}`));
  const unused = busy.call('tasks.getall', { key: fresh }).then(({ status }) => answered.push(`first use ${status}`));
  await busy.call('tasks.getall').then(({ status }) => answered.push(`known key ${status}`));
  await Promise.all([slow, unused]);
  expect(answered[0]).toBe('known key 200');
  expect(answered.sort()).toEqual(['first use 200', 'guess 401', 'known key 200']);
});

test('every answer forbids guessing its content type', async () => {
  for (const path of [
    '/api/v1/contacts/getall',
    '/v1/nothing',
    '/docs/',
    '/docs/static/swagger-ui.css',
    '/openapi.json',
    '/',
  ]) {
    expect([path, (await at.send(path, {})).headers['x-content-type-options']]).toEqual([path, 'nosniff']);
  }
});
