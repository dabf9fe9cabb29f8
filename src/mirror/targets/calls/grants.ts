/**
 * How vendors issue tokens: to an installed GitHub App, and by OAuth to a client (RFC 6749, 4.4 and 6). What differs between
 * vendors of OAuth is data.
 */
import { createPrivateKey, createSign, type KeyObject } from 'node:crypto';
import { z } from 'zod';
import type { TargetFailure } from '../../../contract/target.ts';
import type { SettingsOf, TargetSettings } from '../../../settings/schema-target.ts';
import { githubVendor } from '../github/github-answers.ts';
import { connect, type TargetNeeds } from '../items/item-calls.ts';
import { failedFor, isMarkup, type Reply, tokenRefused, type VendorAnswers } from '../items/item-outcome.ts';
import type { Asked } from '../items/item-target.ts';
import { dateOf } from './call-answers.ts';
import type { TargetCaller } from './caller.ts';
import type { Grant, IssuedToken, TokenSource } from './token-source.ts';

type GrantNeeds = Pick<TargetNeeds, 'caller' | 'readSecret' | 'now'>;

/** Undefined if the settings have a token. `callerAt`: opens a caller at another address, which is closed with `close`. */
export function grantOf(
  target: TargetSettings,
  needs: GrantNeeds,
  callerAt: (baseUrl: string) => TargetCaller,
): (Grant & { close(): Promise<void> }) | undefined {
  if (target.type === 'github' && target.app) {
    return { ...githubAppGrant(target, target.app, needs), close: async () => undefined };
  }
  if (!('oauthClient' in target) || target.oauthClient === undefined) return undefined;
  const { tokenUrl } = target.oauthClient;
  const caller = callerAt(tokenUrl);
  const vendor = target.type === 'http' ? anyVendor(tokenUrl, target.oauthClient.scope) : OAUTH[target.type];
  return { ...oauthGrant(vendor, target.oauthClient, { ...needs, caller }), close: caller.close };
}

/** GitHub accepts ten minutes; clocks may differ by one. */
const JWT_MS = 9 * 60_000;
const CLOCKS_MS = 60_000;

const installationToken = z.object({ token: z.string(), expires_at: z.coerce.date() });

/**
 * The token of an installation, which GitHub issues for an hour.
 * docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app
 */
function githubAppGrant(
  { owner, repo }: SettingsOf<'github'>,
  app: NonNullable<SettingsOf<'github'>['app']>,
  needs: GrantNeeds,
): Grant {
  const where = app.privateKey.where;
  const remedy = `check ${where.replace(/\.privateKey$/, '')}: the id of the app, its private key, and that it is installed for the repository with the permission Issues: read and write`;
  return {
    secret: () => needs.readSecret(app.privateKey),
    async issue(secret) {
      const key = privateKey(secret);
      if (key === undefined) return keyUnreadable(where);
      const now = needs.now();
      let aheadMs = 0;
      const caller: TargetCaller = {
        ...needs.caller,
        async send(...given) {
          const answered = await needs.caller.send(...given);
          const time = answered.status === 'failed' ? undefined : dateOf(answered.headers);
          aheadMs = time === undefined ? aheadMs : now.getTime() - time.getTime();
          return answered;
        },
      };
      const first = signedJwt(app.id, key, now.getTime());
      // GitHub refuses a time that is not its own.
      const byItsTime = () =>
        Math.abs(aheadMs) < CLOCKS_MS / 2 ? undefined : signedJwt(app.id, key, now.getTime() - aheadMs);
      const tokens: TokenSource = {
        read: async () => first,
        renew: async (refused) => (refused === first ? byItsTime() : undefined),
      };
      const github = githubVendor(remedy);
      const judge = (reply: Reply, nowMs: number) => github.judge(reply, nowMs) ?? notIssued(github, reply);
      const calls = await connect({ ...github, judge }, undefined, { ...needs, caller, tokens }, untilAnswered());
      if ('status' in calls) return calls;
      const installation =
        app.installation === undefined
          ? await calls.ask(
              { method: 'GET', path: `/repos/${owner}/${repo}/installation` },
              z.object({ id: z.int() }).transform(({ id }) => id),
            )
          : ({ status: 'ok', value: app.installation } as const);
      if (installation.status !== 'ok') return issuedOr(installation, remedy);
      const path = `/app/installations/${installation.value}/access_tokens`;
      const issued = await calls.ask({ method: 'POST', path, isRead: true, body: {} }, installationToken);
      if (issued.status !== 'ok') return issuedOr(issued, remedy);
      const { token, expires_at } = issued.value;
      return { status: 'ok', value: { token, expiresAt: new Date(expires_at.getTime() + aheadMs) } };
    },
  };
}

/** The vendor may count a call that we break off: it ends by the timeout of the target. */
function untilAnswered() {
  return { signal: new AbortController().signal };
}

/** A key in one line, as an environment variable has it, is accepted too. */
function privateKey(secret: string): KeyObject | undefined {
  try {
    return createPrivateKey(secret.replaceAll('\\n', '\n'));
  } catch {
    return undefined;
  }
}

function keyUnreadable(where: string): TargetFailure {
  const detail = `${where} is not a private key in PEM format: use the file that GitHub made for the app`;
  return { status: 'disabled', reason: 'TOKEN_REFUSED', detail };
}

function signedJwt(issuer: string, key: KeyObject, nowMs: number): string {
  const seconds = (ms: number) => Math.floor((nowMs + ms) / 1000);
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const claims = { iat: seconds(-CLOCKS_MS), exp: seconds(JWT_MS), iss: issuer };
  const text = `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}`;
  return `${text}.${createSign('RSA-SHA256').update(text).sign(key, 'base64url')}`;
}

/** What is known about the token endpoint of a vendor. */
interface OAuthVendor {
  readonly name: string;
  /** Of a token that the client gets for itself. */
  readonly scope?: string | undefined;
  readonly sends: 'form' | 'json';
  /** How long a token is valid if the answer does not say. */
  readonly usualMs: number;
}

const HOUR_MS = 60 * 60_000;
/** Some vendors gave tokens for ten years. */
const MOST_S = 400_000_000;

/**
 * Jira: support.atlassian.com/user-management/docs/create-oauth-2-0-credential-for-service-accounts and
 * developer.atlassian.com/cloud/jira/platform/oauth-2-3lo-apps. Linear: linear.app/developers/oauth-2-0-authentication.
 */
const OAUTH: Readonly<Record<'jira' | 'linear', OAuthVendor>> = {
  jira: { name: 'Atlassian', sends: 'json', usualMs: HOUR_MS },
  linear: { name: 'Linear', sends: 'form', usualMs: 24 * HOUR_MS, scope: 'read,write' },
};

/** As RFC 6749 has it. */
function anyVendor(tokenUrl: string, scope: string | undefined): OAuthVendor {
  return { name: new URL(tokenUrl).host, sends: 'form', usualMs: HOUR_MS, scope };
}

/** A token of any form is used: its refresh token is the only one that the vendor still accepts. */
const oauthToken = z.object({
  access_token: z.string().min(1),
  expires_in: z.coerce.number().positive().max(MOST_S).optional().catch(undefined),
  refresh_token: z.string().min(1).optional().catch(undefined),
});

const errorCode = z.object({ error: z.string() }).transform(({ error }) => error);
/** Such an error says nothing about the client. */
const PASSING = /slow_down|server_error|unavailable|rate_?limit|internal|timeout/i;
/** Zoho gives its limit the code "Access Denied", and names it in the description only. */
const TOO_MANY = /too many requests/i;
/** RFC 6749, 5.2: these are not about the refresh token. */
const ABOUT_CLIENT = /_client$|_scope$/;

const oauthError = z
  .object({ error: z.string().min(1), error_description: z.string().optional() })
  .transform(({ error, error_description }) => (error_description ? `${error} (${error_description})` : error));

/** With a refresh token for the user who gave it; otherwise for the client itself. `needs`: its caller is at the address of the tokens. */
function oauthGrant(
  { name, scope, sends, usualMs }: OAuthVendor,
  client: NonNullable<SettingsOf<'jira' | 'linear' | 'http'>['oauthClient']>,
  needs: GrantNeeds,
): Grant {
  const where = client.secret.where.replace(/\.secret$/, '');
  const authentication = 'authentication' in client ? client.authentication : undefined;
  const parts = authentication === undefined ? 'id and secret' : 'id, secret, authentication and scope';
  const ofClient = `check ${where}: its ${parts}, and that ${name} allows it to ask for tokens`;
  const remedyFor = (code: string) =>
    client.refreshToken === undefined || ABOUT_CLIENT.test(code)
      ? ofClient
      : `authorise the client again, and put the new refresh token where ${where}.refreshToken says`;
  const vendor: VendorAnswers = {
    name,
    tokenRemedy: remedyFor(''),
    message: oauthError,
    judge(reply) {
      const code = errorCode.safeParse(reply.body).data ?? '';
      const isPassing = PASSING.test(code) || TOO_MANY.test(oauthError.safeParse(reply.body).data ?? '');
      return notIssued({ ...vendor, tokenRemedy: remedyFor(code) }, reply, isPassing);
    },
  };
  const given = async () => {
    const { secret, refreshToken } = client;
    return { secret: await needs.readSecret(secret), refresh: refreshToken && (await needs.readSecret(refreshToken)) };
  };

  return {
    // A new refresh token in the settings replaces what was kept with the former one.
    secret: async () => JSON.stringify(await given()),
    async issue(_, kept) {
      const { secret, refresh } = await given();
      const refreshToken = kept ?? refresh;
      const grant: Readonly<Record<string, string>> =
        refreshToken === undefined
          ? { grant_type: 'client_credentials', ...(scope !== undefined && { scope }) }
          : { grant_type: 'refresh_token', refresh_token: refreshToken };
      const calls = await connect({ ...vendor, headersOf: () => ({}) }, undefined, needs, untilAnswered());
      if ('status' in calls) return calls;
      const now = needs.now();
      const issued = oauthToken.transform(({ access_token, expires_in, refresh_token }): IssuedToken => {
        const lifeMs = expires_in === undefined ? usualMs : expires_in * 1000;
        const expiresAt = new Date(now.getTime() + lifeMs);
        return { token: access_token, expiresAt, ...(refresh_token !== undefined && { refreshToken: refresh_token }) };
      });
      const basic = authentication === 'basic' ? basicOf(client.id, secret) : undefined;
      const body = basic === undefined ? { ...grant, client_id: client.id, client_secret: secret } : grant;
      const headers = basic !== undefined && { authorization: `Basic ${basic}` };
      const form = { content: formOf(body), headers: { ...FORM, ...headers } };
      const sent = sends === 'form' ? form : { body };
      // As sent, and as a form writes them.
      const secrets = [secret, refreshToken ?? '', basic ?? ''].flatMap((one) => [one, encodeURIComponent(one)]);
      return issuedOr(
        await calls.ask({ method: 'POST', path: '', isRead: true, secrets, ...sent }, issued),
        `check ${where}.tokenUrl`,
      );
    },
  };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

function formOf(members: Readonly<Record<string, string>>): string {
  return new URLSearchParams(members).toString();
}

/** RFC 6749, 2.3.1: the id and the secret are written as in a form, and then as RFC 7617 says. */
function basicOf(id: string, secret: string): string {
  const [user, password] = [id, secret].map((text) => formOf({ '': text }).slice(1));
  return Buffer.from(`${user}:${password}`).toString('base64');
}

/**
 * RFC 6749, 5.2: a refused client or refresh token is a 400 or a 401; some vendors say so with a 200. GitHub answers 403 to an app
 * that is suspended. `isPassing`: the vendor has a failure of its own.
 */
function notIssued(
  { name, message, tokenRemedy }: VendorAnswers,
  reply: Reply,
  isPassing = false,
): TargetFailure | undefined {
  const { httpStatus, body } = reply;
  const said = message.safeParse(body).data;
  if (httpStatus >= 400 && httpStatus < 500 && httpStatus !== 429 && isMarkup(reply)) {
    const why =
      'a web page, so it is not the answer of the vendor: check the address of the tokens, and that no proxy answers instead';
    return failedFor(undefined, 'UNREADABLE', `${name} issues no token: HTTP ${httpStatus}, ${why}`);
  }
  const isRefusal = [400, 401, 403].includes(httpStatus) || (httpStatus < 300 && said !== undefined);
  if (!isRefusal) return undefined;
  const detail = `${name} issues no token: HTTP ${httpStatus}${said === undefined ? '' : `: ${said}`}`;
  return isPassing ? { status: 'later', reason: 'SERVER_ERROR', detail } : tokenRefused(tokenRemedy, detail);
}

/** A vendor that refuses to issue a token refuses everything. Its answer is not kept, because it may hold a token. */
function issuedOr<T>(asked: Asked<T>, remedy: string): { readonly status: 'ok'; readonly value: T } | TargetFailure {
  if (asked.status === 'ok') return asked;
  const isRefused = asked.status === 'missing' || asked.status === 'refused';
  const { answer, ...failure } = isRefused ? tokenRefused(remedy, asked.detail) : asked;
  return failure;
}
