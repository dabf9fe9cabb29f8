/** What every request of a page or of the API has to pass: the right host, the right origin, and who asks. */
import type {} from '@fastify/cookie';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { LockstepError } from '../../base/errors.ts';
import { isLoopback } from '../../settings/fields.ts';
import type { People, Person } from './people.ts';

export const COOKIE = 'lockstep-session';

declare module 'fastify' {
  interface FastifyRequest {
    person: Person | undefined;
  }
}

/** Nothing is loaded from elsewhere, and no script or style is in a page. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
];

/** `base`: the addresses that a page may name as its base. */
export const policy = (base: "'none'" | "'self'") => [...POLICY, `base-uri ${base}`].join('; ');

export interface GuardNeeds {
  readonly people: People;
  /** The address that the console listens on. */
  readonly host: string;
}

/** For every answer, also of errors. */
export function addHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers({
      'content-security-policy': policy("'none'"),
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'same-origin',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    });
  });
}

/** Adds the checks to all routes of `app`, and `request.person`. */
export function addGuard(app: FastifyInstance, { people, host }: GuardNeeds): void {
  app.decorateRequest('person', undefined);
  app.addHook('onRequest', async (request) => {
    requireOwnHost(request, host, people.isOpen);
    requireOwnOrigin(request);
    request.person = await personOf(request, people);
  });
  app.addHook('preHandler', async ({ url, body }) => requireText(url, body));
}

/** Postgres stores no NUL character: no address with one names anything, and no body with one can be kept. Files are not read. */
function requireText(url: string, body: unknown): void {
  const hasNul = url.includes('%00') || textsIn(body).some((text) => text.includes('\0'));
  if (hasNul) throw new LockstepError('REQUEST_INVALID', 'The request has a NUL character');
}

/** All texts of a form or of JSON, at any depth. */
function textsIn(body: unknown): readonly string[] {
  const left = body instanceof URLSearchParams ? [...body].flat() : [body];
  const texts: string[] = [];
  for (const value of left) {
    if (typeof value === 'string') texts.push(value);
    else if (Array.isArray(value)) for (const each of value) left.push(each);
    else if (isJsonObject(value)) for (const [name, each] of Object.entries(value)) left.push(name, each);
  }
  return texts;
}

function isJsonObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A page of another site could make its name point to this machine, and read what the console shows without a password. */
function requireOwnHost({ hostname }: FastifyRequest, host: string, isOpen: boolean): void {
  if (!isOpen || isLoopback(hostname) || hostname === host) return;
  const message =
    'Without a password the console answers only on this machine, under localhost or 127.0.0.1. Set console.password to use another name';
  throw new LockstepError('CONSOLE_HOST_REFUSED', message);
}

/** Browsers name the origin of every write. Programs send none, and no cookie either. */
function requireOwnOrigin({ method, headers, host, url }: FastifyRequest): void {
  if (method === 'GET' || method === 'HEAD') return;
  const { origin } = headers;
  if (origin === undefined && url.startsWith('/api/') && headers.cookie === undefined) return;
  if (origin !== undefined && URL.canParse(origin) && new URL(origin).host === host) return;
  const message =
    'This request does not come from a page of the console. Behind a proxy, let the proxy pass the Host header on unchanged';
  throw new LockstepError('CONSOLE_ORIGIN_REFUSED', message);
}

/** Who asks: by token, by session, or anyone on this machine. */
export async function personOf(request: FastifyRequest, people: People): Promise<Person | undefined> {
  const token = tokenOf(request);
  if (token !== undefined) return people.ofToken(token);
  if (people.isOpen) return { name: 'operator', role: 'operator' };
  const cookie = request.cookies[COOKIE];
  return cookie === undefined ? undefined : people.ofCookie(cookie);
}

function tokenOf({ headers }: FastifyRequest): string | undefined {
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1];
}

/** Whether the answer is JSON also if it fails: a program reads it. */
export function isOfProgram(request: FastifyRequest): boolean {
  return request.url.startsWith('/api/') || tokenOf(request) !== undefined;
}

/** @throws LockstepError CONSOLE_SIGN_IN */
export function requirePerson(request: FastifyRequest): Person {
  if (request.person) return request.person;
  const message = isOfProgram(request)
    ? 'The request has no token of console.tokens. Send one: Authorization: Bearer TOKEN'
    : 'Sign in first.';
  throw new LockstepError('CONSOLE_SIGN_IN', message);
}

/** @throws LockstepError CONSOLE_NOT_ALLOWED */
export function requireOperator(person: Person): void {
  if (person.role === 'operator') return;
  const message = `${person.name} is a viewer. Only an operator may do this`;
  throw new LockstepError('CONSOLE_NOT_ALLOWED', message);
}

/** The cookie is sent only with requests that come from the console's own pages. */
export function setSession(reply: FastifyReply, cookie: string | undefined, maxAgeMs: number): void {
  const secure = reply.request.protocol === 'https';
  const how = { path: '/', httpOnly: true, sameSite: 'strict', secure } as const;
  if (cookie === undefined) reply.clearCookie(COOKIE, how);
  else reply.setCookie(COOKIE, cookie, { ...how, maxAge: maxAgeMs / 1_000 });
}
