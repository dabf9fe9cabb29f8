/** Tokens that vendors issue: shared by processes, replaced before they expire, stored encrypted. */
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import type { Target } from '../../../src/contract/target.ts';
import { keptSecretsOf } from '../../../src/mirror/inbound/ledger-secrets.ts';
import { openCaller } from '../../../src/mirror/targets/calls/caller.ts';
import { grantOf } from '../../../src/mirror/targets/calls/grants.ts';
import { issuedTokens } from '../../../src/mirror/targets/calls/token-source.ts';
import { openGithub } from '../../../src/mirror/targets/github/github.ts';
import { openJira } from '../../../src/mirror/targets/jira/jira.ts';
import { openLinear } from '../../../src/mirror/targets/linear/linear.ts';
import type { TargetSettings } from '../../../src/settings/schema-target.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import type { FreshDatabase } from '../../support/database.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { githubSettings } from '../../support/github-standin.ts';
import type { Reply, SeenRequest } from '../../support/http-server.ts';
import { context, needsOf, secretRef } from '../../support/item-vendor.ts';
import { jiraSettings } from '../../support/jira-standin.ts';
import { graphqlError, linearSettings } from '../../support/linear-standin.ts';
import { openApiContract, UNDOCUMENTED } from '../../support/vendor-contract.ts';
import { startVendor, type VendorStandin } from '../../support/vendor-standin.ts';

const SECRET = 'canary-client-secret-4c1d';
const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = KEY.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const START = Date.parse('2026-03-01T12:00:00Z');

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshLedger();
});
const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of closing.splice(0)) await one.close();
  await database.pool.query('truncate ledger.kept_secrets');
});
afterAll(() => database.close());

/** The target as one process opens it, over this API and with this clock. */
function processOf(api: VendorStandin, settings: TargetSettings, now: () => Date): Target {
  const base = { ...needsOf(api), now };
  const callerAt = (baseUrl: string) => {
    const take = (signal: AbortSignal) => freeBudget().take({ lane: 'batch', signal });
    return openCaller({ name: 'outside', baseUrl, allowPrivate: true, timeoutMs: 5_000, take });
  };
  const grant = grantOf(settings, base, callerAt);
  if (grant === undefined) throw new Error('the settings have a token');
  const kept = keptSecretsOf(database.pool, 'outside');
  const needs = { ...base, tokens: issuedTokens(grant, kept, now) };
  const target =
    settings.type === 'github'
      ? openGithub(settings, needs)
      : settings.type === 'jira'
        ? openJira(settings, needs)
        : openLinear(linearSettings(settings.type === 'linear' ? settings : {}), needs);
  closing.push(target, grant);
  return target;
}

/** Issues `token-1`, `token-2` and so on, each for an hour, to one call at a time; each refresh token is good for one call. */
async function startIssuer(): Promise<VendorStandin & { readonly issued: string[]; refresh: string | undefined }> {
  const issued: string[] = [];
  const vendor = await startVendor(openApiContract('oauth'), {}, [
    {
      method: 'POST',
      path: /^\/oauth\/token$/,
      answer({ body }): Reply {
        const asked = JSON.parse(body);
        const isKnown = asked.client_id === 'app' && asked.client_secret === SECRET;
        if (!isKnown) return { status: 401, body: { error: 'invalid_client' } };
        if (asked.refresh_token !== issuer.refresh) return { status: 400, body: { error: 'invalid_grant' } };
        issued.push(`access-token-${issued.length + 1}`);
        if (issuer.refresh !== undefined) issuer.refresh = `refresh-${issued.length}`;
        const token = { access_token: issued.at(-1), token_type: 'Bearer', expires_in: 3600 };
        return { body: { ...token, ...(issuer.refresh !== undefined && { refresh_token: issuer.refresh }) } };
      },
    },
  ]);
  const issuer = Object.assign(vendor, { issued, refresh: undefined as string | undefined });
  closing.push({ close: () => finish(issuer) });
  return issuer;
}

async function finish(vendor: VendorStandin): Promise<void> {
  await vendor.close();
  expect(vendor.complaints).toEqual([]);
}

/** An API that accepts these tokens, and keeps those that it has seen. */
async function startApi(accepts: () => readonly string[]): Promise<VendorStandin & { readonly seen: string[] }> {
  const seen: string[] = [];
  const answer = ({ headers }: SeenRequest): Reply => {
    const token = String(headers.authorization).replace('Bearer ', '');
    seen.push(token);
    if (!accepts().includes(token)) return { status: 401, body: {} };
    return { body: { key: 'ABC-1', fields: { status: { name: 'Done', statusCategory: { key: 'done' } } } } };
  };
  const vendor = await startVendor(UNDOCUMENTED, {}, [{ method: 'GET', path: /^\/rest/, answer }]);
  closing.push({ close: () => finish(vendor) });
  return Object.assign(vendor, { seen });
}

function clientAt(issuer: VendorStandin, refreshToken?: string) {
  return jiraSettings({
    email: undefined,
    token: undefined,
    oauthClient: {
      id: 'app',
      secret: secretRef(SECRET, 'targets.outside.oauthClient.secret'),
      refreshToken:
        refreshToken === undefined ? undefined : secretRef(refreshToken, 'targets.outside.oauthClient.refreshToken'),
      tokenUrl: `${issuer.url}/oauth/token`,
    },
  });
}

function clockAt(startMs: number) {
  let ms = startMs;
  return {
    now: () => new Date(ms),
    set: (to: number) => {
      ms = to;
    },
  };
}

const read = (target: Target) => target.readItem?.('ABC-1', context());

test('one token serves all processes, and is replaced before it expires', async () => {
  const issuer = await startIssuer();
  const api = await startApi(() => issuer.issued);
  const clock = clockAt(START);
  const processes = [1, 2, 3].map(() => processOf(api, clientAt(issuer), clock.now));
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
  const issuer = await startIssuer();
  issuer.refresh = 'refresh-0';
  const api = await startApi(() => issuer.issued);
  const clock = clockAt(START);
  for (const hour of [0, 1, 2]) {
    clock.set(START + hour * 60 * 60_000);
    const target = processOf(api, clientAt(issuer, 'refresh-0'), clock.now);
    expect(await read(target)).toMatchObject({ status: 'found' });
  }
  expect([issuer.issued.length, issuer.refresh]).toEqual([3, 'refresh-3']);
});

test('a token that is withdrawn before its time is replaced within the call, by one process', async () => {
  const issuer = await startIssuer();
  const api = await startApi(() => issuer.issued.slice(-1));
  const clock = clockAt(START);
  const processes = [1, 2].map(() => processOf(api, clientAt(issuer), clock.now));
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
  const issuer = await startIssuer();
  const api = await startApi(() => []);
  const target = processOf(api, clientAt(issuer), () => new Date(START));
  expect(await read(target)).toMatchObject({ status: 'disabled', reason: 'TOKEN_REFUSED' });
  expect([issuer.issued.length, api.requests.length]).toEqual([1, 1]);
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
    { method: 'POST', path: /^\/oauth\/token$/, headers: form, answer: () => ({ body: token }) },
    { method: 'POST', path: /^\/graphql$/, answer: () => graphqlError('Entity not found: Issue', 'INPUT_ERROR') },
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

/** GitHub with an app whose installation 42 belongs to octo/shop. */
async function startAppApi(): Promise<VendorStandin> {
  const isJwt = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/;
  const asApp = { authorization: isJwt };
  const rules = [
    {
      method: 'GET',
      path: /^\/repos\/octo\/shop\/installation$/,
      headers: asApp,
      answer: () => ({
        body: { id: 42, app_id: 7, permissions: {}, repository_selection: 'selected', suspended_at: null },
      }),
    },
    {
      method: 'POST',
      path: /^\/app\/installations\/42\/access_tokens$/,
      headers: asApp,
      answer({ headers }: SeenRequest): Reply {
        const [, head = '', claims = '', signature = ''] = isJwt.exec(String(headers.authorization)) ?? [];
        const isSigned = createVerify('RSA-SHA256')
          .update(`${head}.${claims}`)
          .verify(KEY.publicKey, signature, 'base64url');
        const { iss, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
        if (!isSigned || iss !== 'Iv1.shop' || exp - iat > 600)
          return { status: 401, body: { message: 'A JSON web token could not be decoded' } };
        return {
          status: 201,
          body: { token: 'ghs_installation', expires_at: new Date(START + 3_600_000).toISOString() },
        };
      },
    },
    {
      method: 'GET',
      path: /^\/repos\/octo\/shop$/,
      headers: { authorization: /^Bearer ghs_installation$/ },
      answer: () => ({ status: 404, body: { message: 'Not Found' } }),
    },
  ];
  const vendor = await startVendor(openApiContract('github'), { accept: /^application\/vnd\.github\+json$/ }, rules);
  closing.push({ close: () => finish(vendor) });
  return vendor;
}

function appOf(privateKey: string) {
  const app = { id: 'Iv1.shop', privateKey: secretRef(privateKey, 'targets.outside.app.privateKey') };
  return githubSettings({ token: undefined, app, create: false });
}

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

test('an app that is not installed is refused with what to check', async () => {
  const api = await startAppApi();
  api.next({ status: 404, body: { message: 'Not Found' } });
  const [finding] = (await processOf(api, appOf(PEM), () => new Date(START)).check?.(context())) ?? [];
  expect(finding?.detail).toMatch(/TOKEN_REFUSED: .*installation.*HTTP 404.*check targets.outside.app: .*installed/);
});

test.each([403, 422])(
  'an app that gets no token (HTTP %i) disables the target, because no call can be made',
  async (status) => {
    const api = await startAppApi();
    const message = 'This installation has been suspended';
    api.next({ status, body: { message } }, ({ method }) => method === 'POST');
    const target = processOf(api, appOf(PEM), () => new Date(START));
    expect(await target.readItem?.('octo/shop#1', context())).toMatchObject({
      status: 'disabled',
      reason: 'TOKEN_REFUSED',
      detail: expect.stringContaining(message),
    });
  },
);
