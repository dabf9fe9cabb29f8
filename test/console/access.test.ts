/** Who may look and act: signing in, roles, tokens, and requests from elsewhere. */
import { randomUUID } from 'node:crypto';
import { request } from 'node:http';
import { afterEach, expect, test } from 'vitest';
import { hashPassword } from '../../src/console/access/passwords.ts';
import type { Console } from '../../src/console/server.ts';
import { listActions } from '../../src/engine/ledger/console/console-actions.ts';
import { aRun } from '../engine/ledger/fresh-ledger.ts';
import { startHttpProxy } from './http-proxy.ts';
import { freshConsole, openConsole, SETTINGS } from './open-console.ts';

const [PASSWORD, TOKEN] = ['correct horse battery', 'a-token-that-is-long-enough'];
const PEOPLE = `${SETTINGS.replace(
  'listen: "127.0.0.1:0"',
  `listen: "127.0.0.1:0", password: { env: PW }, users: { ann: { password: { env: PW }, role: viewer } },
   tokens: { reader: { token: { env: TOKEN }, role: viewer }, ci: { token: { env: TOKEN2 } } }`,
)}
syncs: { nightly: { type: contacts, account: acme } }
`;
const ENV = { PW: await hashPassword(PASSWORD), TOKEN, TOKEN2: `${TOKEN}-2` };

const { database, web } = await freshConsole({ text: PEOPLE, env: ENV });
afterEach(() => database.pool.query('truncate ledger.runs, ledger.console_actions, ledger.console_sessions cascade'));

interface Asking {
  readonly cookie?: string;
  readonly origin?: string | undefined;
  readonly form?: Record<string, string>;
  readonly referer?: string;
  readonly to?: Console;
}

function post(path: string, { cookie, referer, form = {}, to = web, origin = to.url }: Asking = {}): Promise<Response> {
  const headers = { ...(origin && { origin }), ...(cookie && { cookie }), ...(referer && { referer }) };
  return fetch(to.url + path, { method: 'POST', headers, body: new URLSearchParams(form), redirect: 'manual' });
}

function get(path: string, cookie = ''): Promise<Response> {
  return fetch(web.url + path, { headers: { cookie }, redirect: 'manual' });
}

async function signIn(name: string, password = PASSWORD, to = web): Promise<string> {
  const answer = await post('/login', { form: { name, password, to: '/runs' }, to });
  expect([answer.status, answer.headers.get('location')]).toEqual([303, '/runs']);
  const [cookie = ''] = answer.headers.getSetCookie();
  expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
  return cookie.split(';')[0] ?? '';
}

const api = (path: string, token: string, method = 'GET'): Promise<Response> =>
  fetch(`${web.url}/api/v1${path}`, { method, headers: { authorization: `Bearer ${token}` } });

const nightlyRun = async () => (await aRun(database, { sync: 'nightly', account: 'acme' })).id;

test('shows nothing without signing in, and returns to the page that was asked for', async () => {
  const paths = ['/', '/runs', '/runs/x/rows.csv', '/syncs', '/activity'];
  for (const path of paths) expect((await get(path)).headers.get('location')).toMatch(/^\/login/);
  expect((await get('/runs?sync=a')).headers.get('location')).toBe('/login?to=%2Fruns%3Fsync%3Da');
  expect((await get('/health')).status).toBe(200);
  expect((await post('/runs/x/cancel')).headers.get('location')).toBe('/login');
  const lost = await post('/runs/x/cancel', { cookie: 'lockstep-session=ended', referer: `${web.url}/runs/x` });
  expect(lost.headers.get('location')).toBe('/login?to=%2Fruns%2Fx');
  const [said = ''] = lost.headers.getSetCookie().map((cookie) => cookie.split(';')[0]);
  expect(await (await get('/login', said)).text()).toContain('nothing was done. Sign in, then do it again.');
  expect((await fetch(`${web.url}/api/v1/runs`)).status).toBe(401);
});

test('a program gets the downloads of pages with its token', async () => {
  const download = (headers: Record<string, string>) => fetch(`${web.url}/links.csv`, { headers, redirect: 'manual' });
  const [withToken, without] = await Promise.all([download({ authorization: `Bearer ${TOKEN}` }), download({})]);
  expect([withToken.status, withToken.headers.get('content-type')]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(without.status).toBe(303);
  const errorOf = async (path: string, token: string) => {
    const answer = await fetch(web.url + path, { headers: { authorization: `Bearer ${token}` }, redirect: 'manual' });
    return [answer.status, JSON.parse(await answer.text()).error.code];
  };
  expect(await errorOf('/links.csv', 'another-token-that-is-long')).toEqual([401, 'CONSOLE_SIGN_IN']);
  expect(await errorOf('/runs/x/rows.csv', TOKEN)).toEqual([404, 'RUN_UNKNOWN']);
  expect(await errorOf('/runs/x/results/y', TOKEN)).toEqual([400, 'REQUEST_INVALID']);
});

test('an address with a NUL character is refused', async () => {
  const cookie = await signIn('operator');
  const pages = await Promise.all(['/runs/%00', '/runs?sync=%00'].map((path) => get(path, cookie)));
  const answers = await Promise.all(['/runs/%00', '/runs?sync=%00'].map((path) => api(path, TOKEN)));
  expect([...pages, ...answers].map(({ status }) => status)).toEqual([400, 400, 400, 400]);
});

test('a form or JSON with a NUL character is refused', async () => {
  const cookie = await signIn('operator');
  const form = await post('/syncs/nightly/pause', { cookie, form: { reason: 'a\0b' } });
  const asJson = (path: string, body: object) =>
    fetch(`${web.url}/api/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const answers = await Promise.all([
    asJson('/syncs/nightly/pause', { reason: '\0' }),
    asJson('/accounts/acme/calls/contacts.create', { body: { notes: [{ 'a\0': 1 }] } }),
  ]);
  expect([form, ...answers].map(({ status }) => status)).toEqual([400, 400, 400]);
});

test('a person signs in, looks, acts and signs out', async () => {
  const run = await nightlyRun();
  const cookie = await signIn('operator');
  expect(await (await get('/runs', cookie)).text()).toContain(run);
  expect((await post(`/runs/${run}/cancel`, { cookie })).headers.get('location')).toBe(`/runs/${run}`);
  await post('/logout', { cookie });
  expect((await get('/runs', cookie)).status).toBe(303);
  const actions = await listActions(database.pool, { limit: 10 });
  expect(actions.map(({ who, action, about }) => [who, action, about])).toEqual([
    ['operator', 'cancel-run', run],
    ['operator', 'sign-in', '127.0.0.1'],
  ]);
});

test('an open page of a session that ends is led to the page for signing in', async () => {
  const cookie = await signIn('operator');
  const follow = () =>
    fetch(`${web.url}/runs?sync=nightly&seen=x`, { headers: { cookie, accept: 'text/event-stream' } });
  const open = await follow();
  const told = open.text();
  await post('/logout', { cookie });
  expect(await told).toMatch(/^data: \{"html":.*\n\n(data: \{\}\n\n)*data: \{"go":"\/runs\?sync=nightly"\}\n\n$/);
  expect(await (await follow()).text()).toBe('data: {"go":"/runs?sync=nightly"}\n\n');
});

test('a viewer looks and changes nothing; each try is kept', async () => {
  const cookie = await signIn('ann');
  expect(await (await get('/', cookie)).text()).not.toContain('href="/load"');
  const run = await nightlyRun();
  expect((await get(`/runs/${run}`, cookie)).status).toBe(200);
  expect(await (await get(`/runs/${run}`, cookie)).text()).not.toMatch(/Cancel the run|Load a file/);
  for (const path of [
    `/runs/${run}/cancel`,
    '/syncs/nightly/run',
    '/load',
    `/load/${randomUUID()}`,
    `/runs/${run}/approve`,
    `/calls/${randomUUID()}/applied`,
  ])
    expect((await post(path, { cookie })).status).toBe(403);
  for (const path of [
    `/confirm?action=cancel&run=${run}`,
    '/load',
    `/load/${randomUUID()}`,
    `/load/${randomUUID()}/file`,
    `/runs/${run}/approve`,
    '/records/acme/orders/new',
  ])
    expect((await get(path, cookie)).status).toBe(403);
  expect((await api(`/runs/${run}/cancel`, TOKEN, 'POST')).status).toBe(403);
  const [last] = await listActions(database.pool, { limit: 1 });
  expect(last).toMatchObject({ who: 'reader', via: 'api', action: 'cancel-run', refused: 'CONSOLE_NOT_ALLOWED' });
  const left = await database.pool.query('select status from ledger.runs');
  expect(left.rows).toEqual([{ status: 'running' }]);
});

test('a wrong password, a wrong name, a forged and an expired session are refused', async () => {
  for (const form of [
    { name: 'operator', password: 'guess' },
    { name: 'stranger', password: PASSWORD },
  ]) {
    const answer = await post('/login', { form });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([401, []]);
    expect(await answer.text()).toContain('The name or the password is wrong.');
  }
  expect((await get('/runs', 'lockstep-session=forged')).status).toBe(303);
  expect(await (await get('/login', 'lockstep-session=forged')).text()).toContain('Your session has ended.');
  expect(await (await get('/login')).text()).not.toContain('Your session has ended.');
  const cookie = await signIn('operator');
  await database.pool.query(`update ledger.console_sessions set expires_at = now() - interval '1 s'`);
  expect((await get('/runs', cookie)).status).toBe(303);
});

test('a changed password ends the sessions that it opened', async () => {
  const cookie = await signIn('operator');
  const changed = await openConsole({ database, text: PEOPLE, env: { ...ENV, PW: 'another password' } });
  const asking = (to: Console) => fetch(`${to.url}/runs`, { headers: { cookie }, redirect: 'manual' });
  expect([(await asking(web)).status, (await asking(changed)).status]).toEqual([200, 303]);
  await changed.close();
});

test('after ten tries an address has to wait', async () => {
  const own = await openConsole({ database, text: PEOPLE, env: ENV });
  const tries = [];
  for (let n = 0; n < 11; n++) tries.push((await post('/login', { form: { password: `guess ${n}` }, to: own })).status);
  expect(tries).toEqual([...Array.from({ length: 10 }, () => 401), 429]);
  await own.close();
});

test('a write without the origin of the console is refused', async () => {
  const [run, cookie] = [await nightlyRun(), await signIn('operator')];
  for (const origin of ['https://evil.example', '', 'null'])
    expect((await post(`/runs/${run}/cancel`, { cookie, origin })).status).toBe(403);
  const fromPage = await fetch(`${web.url}/api/v1/runs/${run}/cancel`, { method: 'POST', headers: { cookie } });
  expect([fromPage.status, await fromPage.json()]).toMatchObject([403, { error: { code: 'CONSOLE_ORIGIN_REFUSED' } }]);
});

test('signing in leads to pages of the console only', async () => {
  const own = await openConsole({ database, text: PEOPLE, env: ENV });
  for (const to of ['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)']) {
    const answer = await post('/login', { form: { password: PASSWORD, to }, to: own });
    expect(answer.headers.get('location')).toBe('/');
  }
  await own.close();
});

test('without a password only this machine is answered, under its own names', async () => {
  const open = await openConsole({ database });
  const { port } = new URL(open.url);
  const statusFor = (host: string) =>
    new Promise<number | undefined>((resolve) => {
      request({ port, host: '127.0.0.1', path: '/', headers: { host } }, (answer) => {
        answer.resume();
        resolve(answer.statusCode);
      }).end();
    });
  const hosts = [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `evil.example:${port}`, 'evil.example'];
  expect(await Promise.all(hosts.map(statusFor))).toEqual([200, 200, 200, 403, 403]);
  await open.close();
});

test('refuses to serve other machines without a password, and tokens that can be guessed', async () => {
  const beyond = openConsole({ database, text: SETTINGS.replace('127.0.0.1:0', '0.0.0.0:0') });
  await expect(beyond).rejects.toMatchObject({ code: 'CONSOLE_NEEDS_PASSWORD', exitCode: 2 });
  const short = openConsole({ database, text: PEOPLE, env: { ...ENV, TOKEN: 'short' } });
  await expect(short).rejects.toMatchObject({ code: 'CONSOLE_TOKEN_SHORT', exitCode: 2 });
  const unset = openConsole({ database, text: PEOPLE });
  await expect(unset).rejects.toMatchObject({ code: 'SECRET_MISSING' });
});

test('every answer forbids what a page of the console does not need', async () => {
  for (const path of ['/login', '/nothing', '/assets/console.css', '/api/v1/nothing']) {
    const { headers } = await fetch(web.url + path);
    expect(headers.get('content-security-policy')).toContain(`default-src 'none'; script-src 'self'; style-src 'self'`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
  }
});

test('behind a proxy that it trusts, counts tries per visitor and keeps the cookie to TLS; otherwise believes no header', async () => {
  const text = PEOPLE.replace('listen:', 'trustProxy: [127.0.0.1], listen:');
  const [trusting, doubting] = [
    await openConsole({ database, text, env: ENV }),
    await openConsole({ database, text: PEOPLE, env: ENV }),
  ];
  const proxy = await startHttpProxy();
  const attempt = async (to: Console, visitor: string, password: string) => {
    proxy.passTo(to.url);
    const headers = { origin: 'https://console.example', 'x-test-visitor': visitor };
    const body = new URLSearchParams({ name: 'operator', password });
    return fetch(`${proxy.url}/login`, { method: 'POST', headers, body, redirect: 'manual' });
  };
  for (let n = 0; n < 10; n++) expect((await attempt(trusting, '192.0.2.1', 'guess')).status).toBe(401);
  expect((await attempt(trusting, '192.0.2.1', PASSWORD)).status).toBe(429);
  const entered = await attempt(trusting, '192.0.2.2', PASSWORD);
  expect([entered.status, entered.headers.getSetCookie()[0]]).toEqual([303, expect.stringContaining('Secure')]);
  const [last] = await listActions(database.pool, { limit: 1 });
  expect(last).toMatchObject({ action: 'sign-in', about: '192.0.2.2' });
  const plain = await attempt(doubting, '192.0.2.3', PASSWORD);
  expect([plain.status, plain.headers.getSetCookie()[0]]).toEqual([303, expect.not.stringContaining('Secure')]);
  expect((await listActions(database.pool, { limit: 1 }))[0]).toMatchObject({ about: '127.0.0.1' });
  await proxy.close();
  await trusting.close();
  await doubting.close();
});

test('a sign-in that is not sent as a form is wrong use, and no defect', async () => {
  const own = await openConsole({ database, text: PEOPLE, env: ENV });
  const headers = { origin: own.url, 'content-type': 'application/json' };
  const answer = await fetch(`${own.url}/login`, { method: 'POST', headers, body: '{"password":"x"}' });
  expect(answer.status).toBe(400);
  await own.close();
});
