/** Tokens that vendors issue: shared by processes, replaced before they expire, stored encrypted. */
import { expect, test } from 'vitest';
import type { Reply, SeenRequest } from '../../support/http-server.ts';
import { context, deliveryOf, secretRef } from '../../support/item-vendor.ts';
import { graphqlError, linearSettings } from '../../support/linear-standin.ts';
import { exampleAt } from '../../support/template-vendors.ts';
import {
  appOf,
  clientAt,
  clockAt,
  closing,
  database,
  finish,
  PEM,
  processOf,
  read,
  SECRET,
  START,
  startApi,
  startAppApi,
  startIssuer,
  startIssuing,
  useLedger,
} from '../../support/token-issuers.ts';
import { UNDOCUMENTED } from '../../support/vendor-contract.ts';
import { rule, startVendor } from '../../support/vendor-standin.ts';

useLedger();

test('one token serves all processes, and is replaced before it expires', async () => {
  const { issuer, api, clock, open } = await startIssuing();
  const processes = [1, 2, 3].map(() => open());
  await Promise.all(processes.flatMap((target) => [read(target), read(target)]));
  expect([issuer.issued.length, new Set(api.seen).size]).toEqual([1, 1]);
  clock.set(START + 54 * 60_000);
  await Promise.all(processes.map(read));
  expect(issuer.issued).toHaveLength(1);
  clock.set(START + 56 * 60_000);
  const found = await Promise.all(processes.map(read));
  expect(found).toEqual(found.map(() => expect.objectContaining({ status: 'found' })));
  expect(issuer.issued).toHaveLength(2);
});

test('a refresh token that is good once is replaced by the one that came with the token', async () => {
  const { issuer, clock, open } = await startIssuing({ refresh: 'refresh-0' });
  for (const hour of [0, 1, 2]) {
    clock.set(START + hour * 60 * 60_000);
    const target = open();
    expect(await read(target)).toMatchObject({ status: 'found' });
  }
  expect([issuer.issued.length, issuer.refresh]).toEqual([3, 'refresh-3']);
});

test.each([
  ['our-crm', 'Bearer'],
  ['our-openproject', 'Zoho-oauthtoken'],
])('an http target gets tokens as a client of OAuth: %s, with %s', async (name, scheme) => {
  const issued: string[] = [];
  const answer = (asked: SeenRequest): Reply =>
    asked.headers.authorization === `${scheme} ${issued.at(-1)}` ? { body: { ok: true } } : { status: 401, body: {} };
  const system = await startVendor(UNDOCUMENTED, {}, [
    rule(
      'POST',
      /^\/token$/,
      ({ body }) => {
        const asked = { client_id: 'app', client_secret: SECRET, scope: 'tasks offline' };
        expect(Object.fromEntries(new URLSearchParams(body))).toEqual({ grant_type: 'client_credentials', ...asked });
        issued.push(`access-token-${issued.length + 1}`);
        return { body: { access_token: issued.at(-1), token_type: 'Bearer', expires_in: 3600 } };
      },
      { headers: { 'content-type': /^application\/x-www-form-urlencoded$/ } },
    ),
    rule('PUT', /^\/external-tasks\/12$/, answer),
    rule('GET', /^\/work_packages\/7$/, (asked) => ({
      ...answer(asked),
      body: { _links: { status: { title: 'Closed' } } },
    })),
  ]);
  closing.push({ close: () => finish(system) });
  const { id, secret } = { id: 'app', secret: secretRef(SECRET, 'targets.outside.oauthClient.secret') };
  const tokenUrl = `${system.url}/token`;
  const oauthClient = { id, secret, tokenUrl, scope: 'tasks offline', authentication: 'body', scheme } as const;
  const clock = clockAt(START);
  const target = processOf(system, { ...exampleAt(name), headers: {}, oauthClient }, clock.now);
  const deliver = () => target.deliver(deliveryOf({ id: '12', isCompleted: true }, { itemId: '7' }), context());
  const isDone = expect.stringMatching(/delivered|already/);
  expect(await deliver()).toMatchObject({ status: isDone });
  issued.push('access-token-of-another-app');
  clock.set(START + 10 * 60_000);
  expect(await deliver()).toMatchObject({ status: isDone });
  expect(issued).toEqual(['access-token-1', 'access-token-of-another-app', 'access-token-3']);
});

test.each([
  [
    'invalid_grant',
    /authorise the client again, and put the new refresh token where targets.outside.oauthClient.refreshToken/,
  ],
  ['invalid_client', /check targets.outside.oauthClient: its id, secret, authentication and scope/],
  ['invalid_scope', /check targets.outside.oauthClient: its id, secret, authentication and scope/],
])('a client is sent in the header Authorization, and the refusal %s says what to do', async (error, remedy) => {
  const refresh_token = 'refresh:0/ä+';
  const system = await startVendor(UNDOCUMENTED, {}, [
    rule('POST', /^\/token$/, () => ({ status: 400, body: { error, error_description: refresh_token } }), {
      headers: { 'content-type': /^application\/x-www-form-urlencoded$/ },
    }),
  ]);
  closing.push({ close: () => finish(system) });
  const secret = secretRef('canary secret:1/+', 'targets.outside.oauthClient.secret');
  const refreshToken = secretRef(refresh_token, 'targets.outside.oauthClient.refreshToken');
  const authentication = 'basic';
  const oauthClient = {
    id: 'my app:1',
    secret,
    refreshToken,
    authentication,
    scheme: 'Bearer',
    tokenUrl: `${system.url}/token`,
  } as const;
  const target = processOf(system, { ...exampleAt('our-crm'), headers: {}, oauthClient }, () => new Date(START));
  const outcome = await target.deliver(deliveryOf(), context());
  expect(outcome).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED', detail: expect.stringMatching(remedy) });
  expect(JSON.stringify(outcome)).not.toContain(refresh_token);
  const [{ headers, body } = {}] = system.requests as Partial<SeenRequest>[];
  const basic = Buffer.from('my+app%3A1:canary+secret%3A1%2F%2B').toString('base64');
  expect(headers?.authorization).toBe(`Basic ${basic}`);
  expect(Object.fromEntries(new URLSearchParams(body))).toEqual({ grant_type: 'refresh_token', refresh_token });
});

test('a token that is withdrawn before its time is replaced within the call, by one process', async () => {
  const { issuer, clock, open } = await startIssuing({ accepts: (issued) => issued.slice(-1) });
  const processes = [1, 2].map(() => open());
  await Promise.all(processes.map(read));
  issuer.issued.push('access-token-of-another-app');
  clock.set(START + 10 * 60_000);
  expect(await Promise.all(processes.map(read))).toMatchObject([{ status: 'found' }, { status: 'found' }]);
  expect(issuer.issued).toEqual(['access-token-1', 'access-token-of-another-app', 'access-token-3']);
});

test('a refused client disables the target with a remedy that shows no secret, and asks for no second token', async () => {
  const issuer = await startIssuer();
  issuer.refresh = 'another';
  const api = await startApi(() => []);
  const target = processOf(api, clientAt(issuer, 'canary-refresh-77aa'), () => new Date(START));
  const refused = await read(target);
  expect(refused).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED' });
  expect(JSON.stringify(refused)).toMatch(
    /invalid_grant.*new refresh token where targets.outside.oauthClient.refreshToken/,
  );
  expect(JSON.stringify(refused)).not.toMatch(/canary/);
  expect(api.requests).toHaveLength(0);
});

test('a new token that the vendor refuses is not replaced again and again', async () => {
  const { issuer, api, clock, open } = await startIssuing({ accepts: () => [] });
  const target = open();
  const newToo = { status: 'later', detail: 'the vendor does not accept its new token yet' };
  const refused = { status: 'disabled', detail: expect.stringContaining("check this target's oauthClient: ") };
  for (const [seconds, outcome] of [
    [0, newToo],
    [6, newToo], // another token
    [12, newToo],
    [70, refused],
    [76, newToo], // a person may have enabled the target
    [140, refused],
  ] as const) {
    clock.set(START + seconds * 1000);
    expect(await read(target)).toMatchObject({ ...outcome, reason: 'TOKEN_REFUSED' });
  }
  expect([issuer.issued.length, api.requests.length]).toEqual([3, 7]);
});

test('the ledger holds tokens encrypted, and a new secret of the client makes them useless', async () => {
  const issuer = await startIssuer();
  const api = await startApi(() => issuer.issued);
  await read(processOf(api, clientAt(issuer), () => new Date(START)));
  const { rows } = await database.pool.query<{ sealed: Buffer; expires_at: Date }>('select * from ledger.kept_secrets');
  expect(rows).toMatchObject([{ target: 'outside', kind: 'token', expires_at: new Date(START + 3_600_000) }]);
  expect(rows[0]?.sealed.toString('latin1')).not.toContain('access-token');
  const settings = clientAt(issuer);
  const other = {
    ...settings,
    oauthClient: settings.oauthClient && { ...settings.oauthClient, secret: secretRef('other') },
  };
  expect(await read(processOf(api, other, () => new Date(START)))).toMatchObject({ reason: 'TOKEN_REFUSED' });
});

test('Linear takes the grant as a form, with the scopes of the client', async () => {
  const token = { access_token: 'linear-token', token_type: 'Bearer', expires_in: 2_591_999 };
  const form = { 'content-type': /^application\/x-www-form-urlencoded$/ };
  const vendor = await startVendor(UNDOCUMENTED, {}, [
    rule('POST', /^\/oauth\/token$/, () => ({ body: token }), { headers: form }),
    rule('POST', /^\/graphql$/, () => graphqlError('Entity not found: Issue', 'INPUT_ERROR')),
  ]);
  closing.push({ close: () => finish(vendor) });
  const { oauthClient } = clientAt(vendor);
  const target = processOf(vendor, linearSettings({ token: undefined, oauthClient }), () => new Date(START));
  expect(await target.readItem?.('ENG-1', context())).toEqual({ status: 'missing' });
  expect(Object.fromEntries(new URLSearchParams(vendor.requests[0]?.body))).toEqual({
    grant_type: 'client_credentials',
    scope: 'read,write',
    client_id: 'app',
    client_secret: SECRET,
  });
  expect(vendor.requests[1]?.headers.authorization).toBe('Bearer linear-token');
});

test('a GitHub App signs for the token of its installation, from a key of one line too', async () => {
  const api = await startAppApi();
  for (const key of [PEM, PEM.replaceAll('\n', '\\n')]) {
    await database.pool.query('truncate ledger.kept_secrets');
    const target = processOf(api, appOf(key), () => new Date(START));
    await target.check?.(context());
    expect(api.requests.at(-1)?.headers.authorization).toBe('Bearer ghs_installation');
  }
});

test('a key that is no key disables the target before anything is sent', async () => {
  const api = await startAppApi();
  const target = processOf(api, appOf('not a key'), () => new Date(START));
  const [finding] = (await target.check?.(context())) ?? [];
  expect(finding).toMatchObject({
    status: 'problem',
    detail: expect.stringContaining('targets.outside.app.privateKey is not a private key'),
  });
  expect(api.requests).toHaveLength(0);
});

test('an app whose repository was renamed is found at the new address', async () => {
  const api = await startAppApi();
  const moved = { message: 'Moved Permanently', url: `${api.url}/repos/octo/shop`, documentation_url: 'https://x' };
  for (const path of ['/repos/octo/shop/installation', '/repos/octo/shop']) {
    api.next({ status: 301, headers: { location: path }, body: moved }, (request) => request.path === path);
  }
  await processOf(api, appOf(PEM), () => new Date(START)).check?.(context());
  expect(api.requests.map(({ path }) => path)).toEqual([
    '/repos/octo/shop/installation',
    '/repos/octo/shop/installation',
    '/app/installations/42/access_tokens',
    '/repos/octo/shop',
    '/repos/octo/shop',
  ]);
});

test('an app that is not installed is refused with what to check', async () => {
  const api = await startAppApi();
  api.next({ status: 404, body: { message: 'Not Found' } });
  const [finding] = (await processOf(api, appOf(PEM), () => new Date(START)).check?.(context())) ?? [];
  expect(finding?.detail).toMatch(/TOKEN_REFUSED: .*installation.*HTTP 404.*check targets.outside.app: .*installed/);
});

test.each([401, 403, 404, 422])(
  'an app that gets no token (HTTP %i) disables the target, because no call can be made',
  async (status) => {
    const api = await startAppApi();
    const message = 'This installation has been suspended';
    api.next({ status, body: { message } }, ({ method }) => method === 'POST');
    const target = processOf(api, appOf(PEM), () => new Date(START));
    expect(await target.readItem?.('octo/shop#1', context())).toMatchObject({
      status: 'disabled',
      reason: 'TOKEN_REFUSED',
      detail: expect.stringMatching(/suspended; check targets.outside.app: (?!.*check)/), // it says what to do once
    });
  },
);
