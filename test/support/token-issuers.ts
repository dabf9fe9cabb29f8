/** Vendors that issue tokens, and targets over them as one process or several open them. */
import { createVerify, generateKeyPairSync } from 'node:crypto';
import { afterAll, afterEach, beforeAll, expect } from 'vitest';
import type { Target } from '../../src/contract/target.ts';
import { keptSecretsOf } from '../../src/mirror/inbound/ledger-secrets.ts';
import { openCaller } from '../../src/mirror/targets/calls/caller.ts';
import { grantOf } from '../../src/mirror/targets/calls/grants.ts';
import type { KeptSecrets } from '../../src/mirror/targets/calls/kept-secrets.ts';
import { issuedTokens } from '../../src/mirror/targets/calls/token-source.ts';
import { openGithub } from '../../src/mirror/targets/github/github.ts';
import { openHttp } from '../../src/mirror/targets/http/http.ts';
import type { ItemNeeds } from '../../src/mirror/targets/items/item-calls.ts';
import { openJira } from '../../src/mirror/targets/jira/jira.ts';
import { openLinear } from '../../src/mirror/targets/linear/linear.ts';
import type { TargetSettings } from '../../src/settings/schema-target.ts';
import { freshLedger } from '../engine/ledger/fresh-ledger.ts';
import type { FreshDatabase } from './database.ts';
import { freeBudget } from './free-budget.ts';
import { githubSettings } from './github-standin.ts';
import type { Reply, SeenRequest } from './http-server.ts';
import { context, needsOf, secretRef } from './item-vendor.ts';
import { jiraSettings } from './jira-standin.ts';
import { linearSettings } from './linear-standin.ts';
import { openApiContract, UNDOCUMENTED } from './vendor-contract.ts';
import { rule, startVendor, type VendorStandin } from './vendor-standin.ts';

export const SECRET = 'canary-client-secret-4c1d';
const KEY = generateKeyPairSync('rsa', { modulusLength: 2048 });
export const PEM = KEY.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
export const START = Date.parse('2026-03-01T12:00:00Z');

export let database: FreshDatabase;
export const closing: { close(): Promise<void> }[] = [];

/** A ledger for the tests of a file; what is in `closing` is closed after each of them. */
export function useLedger(): void {
  beforeAll(async () => {
    database = await freshLedger();
  });
  afterEach(async () => {
    for (const one of closing.splice(0)) await one.close();
    await database.pool.query('truncate ledger.kept_secrets');
  });
  afterAll(() => database.close());
}

/** The target as one process opens it, over this API and with this clock. */
export function processOf(
  api: VendorStandin,
  settings: TargetSettings,
  now: () => Date,
  kept = keptSecretsOf(database.pool, 'outside'),
): Target {
  const base = { ...needsOf(api), now };
  const callerAt = (baseUrl: string) => {
    const take = (signal: AbortSignal) => freeBudget().take({ lane: 'batch', signal });
    return openCaller({ name: 'outside', baseUrl, allowPrivate: true, timeoutMs: 5_000, take });
  };
  const grant = grantOf(settings, base, callerAt);
  if (grant === undefined) throw new Error('the settings have a token');
  const needs = { ...base, tokens: issuedTokens(grant, kept, now) };
  const target = openOne(settings, needs);
  closing.push(target, grant);
  return target;
}

function openOne(settings: TargetSettings, needs: ItemNeeds): Target {
  if (settings.type === 'github') return openGithub(settings, needs);
  if (settings.type === 'jira') return openJira(settings, needs);
  if (settings.type === 'http') return openHttp(settings, needs);
  return openLinear(linearSettings(settings.type === 'linear' ? settings : {}), needs);
}

/** Issues `token-1`, `token-2` and so on, each for an hour, to one call at a time; each refresh token is good for one call. */
export async function startIssuer(): Promise<
  VendorStandin & { readonly issued: string[]; refresh: string | undefined }
> {
  const issued: string[] = [];
  const vendor = await startVendor(openApiContract('oauth'), {}, [
    rule('POST', /^\/oauth\/token$/, ({ body }): Reply => {
      const asked = JSON.parse(body);
      const isKnown = asked.client_id === 'app' && asked.client_secret === SECRET;
      if (!isKnown) return { status: 401, body: { error: 'invalid_client' } };
      if (asked.refresh_token !== issuer.refresh) return { status: 400, body: { error: 'invalid_grant' } };
      issued.push(`access-token-${issued.length + 1}`);
      if (issuer.refresh !== undefined) issuer.refresh = `refresh-${issued.length}`;
      const token = { access_token: issued.at(-1), token_type: 'Bearer', expires_in: 3600 };
      return { body: { ...token, ...(issuer.refresh !== undefined && { refresh_token: issuer.refresh }) } };
    }),
  ]);
  const issuer = Object.assign(vendor, { issued, refresh: undefined as string | undefined });
  closing.push({ close: () => finish(issuer) });
  return issuer;
}

export async function finish(vendor: VendorStandin): Promise<void> {
  await vendor.close();
  expect(vendor.complaints).toEqual([]);
}

/** An API that accepts these tokens, and keeps those that it has seen. */
export async function startApi(accepts: () => readonly string[]): Promise<VendorStandin & { readonly seen: string[] }> {
  const seen: string[] = [];
  const answer = ({ headers }: SeenRequest): Reply => {
    const token = String(headers.authorization).replace('Bearer ', '');
    seen.push(token);
    if (!accepts().includes(token)) return { status: 401, body: {} };
    return { body: { key: 'ABC-1', fields: { status: { name: 'Done', statusCategory: { key: 'done' } } } } };
  };
  const vendor = await startVendor(UNDOCUMENTED, {}, [rule('GET', /^\/rest/, answer)]);
  closing.push({ close: () => finish(vendor) });
  return Object.assign(vendor, { seen });
}

export function clientAt(issuer: VendorStandin, refreshToken?: string) {
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

export function clockAt(startMs: number) {
  let ms = startMs;
  return {
    now: () => new Date(ms),
    set: (to: number) => {
      ms = to;
    },
  };
}

export const read = (target: Target) => target.readItem?.('ABC-1', context());

/** A vendor that issues tokens, an API, and targets at it; `accepts`: which of the issued tokens the API takes, by default all. */
export async function startIssuing({
  refresh,
  accepts = (issued) => issued,
  atMs = START,
}: {
  readonly refresh?: string;
  readonly accepts?: (issued: readonly string[]) => readonly string[];
  readonly atMs?: number;
} = {}) {
  const issuer = await startIssuer();
  issuer.refresh = refresh;
  const api = await startApi(() => accepts(issuer.issued));
  const clock = clockAt(atMs);
  /** A target of another process. */
  const open = (kept?: KeptSecrets) => processOf(api, clientAt(issuer, refresh), clock.now, kept);
  return { issuer, api, clock, open };
}

/** GitHub with an app whose installation 42 belongs to octo/shop. Its clock shows START, until a test sets it. */
export async function startAppApi(): Promise<VendorStandin> {
  const isJwt = /^Bearer ([\w-]+)\.([\w-]+)\.([\w-]+)$/;
  const asApp = { authorization: isJwt };
  const nowMs = () => Number(vendor.serverTime);

  /** Why the call is refused, by the signature of its token and by the times in it; undefined if it is not. */
  function refusal({ headers }: SeenRequest): Reply | undefined {
    const [, head = '', claims = '', signature = ''] = isJwt.exec(String(headers.authorization)) ?? [];
    const isSigned = createVerify('RSA-SHA256')
      .update(`${head}.${claims}`)
      .verify(KEY.publicKey, signature, 'base64url');
    const { iss, iat, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString());
    const isNow = iat * 1000 <= nowMs() && exp * 1000 > nowMs() && exp * 1000 <= nowMs() + 600_000;
    if (isSigned && iss === 'Iv1.shop' && isNow) return undefined;
    return { status: 401, body: { message: 'A JSON web token could not be decoded' } };
  }

  const rules = [
    rule(
      'GET',
      /^\/repos\/octo\/shop\/installation$/,
      () => ({
        body: { id: 42, app_id: 7, permissions: {}, repository_selection: 'selected', suspended_at: null },
      }),
      { headers: asApp },
    ),
    rule(
      'POST',
      /^\/app\/installations\/42\/access_tokens$/,
      (request: SeenRequest): Reply =>
        refusal(request) ?? {
          status: 201,
          body: { token: 'ghs_installation', expires_at: new Date(nowMs() + 3_600_000).toISOString() },
        },
      { headers: asApp },
    ),
    // GitHub checks the token here too; its document does not describe that answer.
    rule('GET', /^\/repos\/octo\/shop$/, () => ({ status: 404, body: { message: 'Not Found' } }), {
      headers: { authorization: /^Bearer ghs_installation$/ },
    }),
  ];
  const vendor: VendorStandin = await startVendor(
    openApiContract('github'),
    { accept: /^application\/vnd\.github\+json$/ },
    rules,
  );
  vendor.serverTime = new Date(START);
  closing.push({ close: () => finish(vendor) });
  return vendor;
}

export function appOf(privateKey: string) {
  const app = { id: 'Iv1.shop', privateKey: secretRef(privateKey, 'targets.outside.app.privateKey') };
  return githubSettings({ token: undefined, app, create: false });
}
