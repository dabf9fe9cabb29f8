/** Addresses at which no service, or not this one, answers, and keys that it does not take. */
import { expect, onTestFinished, test } from 'vitest';
import { attentionOf } from '../../../src/operator/examination-words.ts';
import { startTcpServer } from '../../support/http-server.ts';
import { examineAt, findingIn, REFUSED, serverOf } from './doctor-harness.ts';

test('a refused connection ends it early', async () => {
  const server = await serverOf({});
  await server.close();
  const report = await examineAt(server.url);
  expect(report).toMatchObject({ stopped: 'the address cannot be reached', calls: 0, leftBehind: [] });
  expect(findingIn(report, 'address')).toMatchObject({
    found: expect.stringMatching(/refused: check that a server is running there/),
    needs: expect.stringContaining('accounts.demo.url'),
  });
});

test('names https to a port that speaks plain HTTP', async () => {
  const server = await serverOf({});
  const report = await examineAt(server.url.replace('http:', 'https:'));
  expect(report.stopped).toBe('the address cannot be reached');
  expect(findingIn(report, 'address')?.found).toMatch(/does not speak TLS/);
});

test('names http to a port that speaks TLS', async () => {
  const server = await serverOf({ status: 400, body: '<h1>400</h1>The plain HTTP request was sent to HTTPS port' });
  const report = await examineAt(server.url);
  expect(findingIn(report, 'address')).toMatchObject({ needs: 'change accounts.demo.url to begin with https://' });
});

test('names a certificate that is not accepted', async () => {
  const message = 'the server’s certificate is not accepted (CERT_HAS_EXPIRED)';
  const inspect = async () => ({
    outcome: { status: 'not-sent' as const, reason: 'certificate' as const, message },
    body: '',
    durationMs: 0,
  });
  const report = await examineAt('https://demo.example', { client: { inspect } });
  expect([report.stopped, report.calls]).toEqual(['the address cannot be reached', 0]);
  expect(findingIn(report, 'address')).toMatchObject({
    found: message,
    needs: expect.stringContaining('NODE_EXTRA_CA'),
  });
});

test('a server that does not speak HTTP ends it early', async () => {
  const server = await startTcpServer((socket) => socket.end('220 mail ready\r\n'));
  onTestFinished(() => server.close());
  const report = await examineAt(server.url);
  expect([report.stopped, findingIn(report, 'address')?.found]).toEqual([
    'the address cannot be reached',
    expect.stringContaining('does not speak HTTP'),
  ]);
});

test('a service that never answers ends it early', async () => {
  const server = await serverOf(() => undefined);
  const report = await examineAt(server.url, { timeoutMs: 1_000 });
  expect([report.stopped, report.calls]).toEqual(['the address cannot be reached', 1]);
});

test('names a login page, and believes nothing else', async () => {
  const server = await serverOf({
    headers: { 'content-type': 'text/html' },
    body: '<!doctype html><html>Log in</html>',
  });
  const report = await examineAt(server.url);
  expect(findingIn(report, 'address')).toMatchObject({ needs: expect.stringContaining('the address of the API') });
  expect([report.stopped, report.settings]).toEqual(['no list could be read', {}]);
});

test('names a redirect with its target, and suggests the https address where that is the target', async () => {
  const login = await serverOf({ status: 302, headers: { location: '/login?next=secret' } });
  expect(findingIn(await examineAt(login.url), 'address')?.found).toBe('a redirect (HTTP 302) to /login');
  const upgrade = await serverOf({ status: 301, headers: { location: 'https://127.0.0.1/api/v1/contacts/getall' } });
  expect(findingIn(await examineAt(upgrade.url), 'address')?.needs).toBe('set accounts.demo.url to https://127.0.0.1');
});

test('distinguishes a refused key from a header that a proxy drops', async () => {
  const seesKey = await serverOf(({ headers }) => ({
    status: 401,
    body: { message: headers.api_key ? 'bad key' : 'no key' },
  }));
  const arrives = await examineAt(seesKey.url);
  expect(findingIn(arrives, 'authentication')).toMatchObject({
    found: expect.stringMatching(/^the header arrives, and the key is refused \(HTTP 401: bad key\)/),
    confidence: 'certain',
    needs: expect.stringContaining('accounts.demo.apiKey'),
  });
  expect([arrives.stopped, arrives.calls]).toEqual(['the key is refused', 3]);
  const proxy = await serverOf({ ...REFUSED, headers: { server: 'nginx/1.25.3' } });
  const dropped = await examineAt(proxy.url);
  expect(findingIn(dropped, 'authentication')).toMatchObject({
    found: expect.stringContaining('its proxy (Server: nginx/1.25.3) drops headers with underscores'),
    confidence: 'likely',
    needs: expect.stringContaining('underscores_in_headers on'),
  });
});

test('names both causes where it cannot distinguish them', async () => {
  const { confidence, needs } = findingIn(await examineAt((await serverOf(REFUSED)).url), 'authentication') ?? {};
  expect([confidence, needs]).toEqual(['unknown', expect.stringMatching(/check the key .*`underscores_in_headers on/)]);
});

test('a service that accepts any key needs a person', async () => {
  const report = await examineAt((await serverOf({ body: [] })).url);
  expect(findingIn(report, 'authentication')).toMatchObject({
    found: expect.stringContaining('the service does not check keys'),
  });
  expect(findingIn(report, 'authentication')?.needs).toContain('find out whose records these are');
});

test('an address below which no list answers is named once, with its setting', async () => {
  const server = await serverOf({ status: 404, body: { status: 'error', content: null, message: 'no such page' } });
  const report = await examineAt(`${server.url}/elsewhere`);
  const needs = `check accounts.demo.url (${server.url}/elsewhere): no list answers there under /api/v1 or /v1`;
  expect(attentionOf(report).filter((one) => one.needs === needs)).toEqual([
    { about: 'contacts, customers, orders, tasks and pipelines', needs },
  ]);
});
