/** Calls to a vendor with its token: JSON both ways, answers checked, and no secret in anything that comes back. */
import { z } from 'zod';
import { LockstepError } from '../../base/errors.ts';
import type { CallContext, TargetFailure } from '../../contract/target.ts';
import type { SecretRef } from '../../settings/fields.ts';
import { withoutSecrets } from './answers.ts';
import type { TargetCaller, TargetRequest } from './caller.ts';
import { itemFailureOf, type Reply, unreadable, type VendorAnswers } from './item-outcome.ts';
import type { Asked } from './item-target.ts';
import { jsonOf } from './json.ts';

export interface TargetNeeds {
  readonly caller: TargetCaller;
  /** Read at each use, so a rotated secret needs no restart. */
  readSecret(ref: SecretRef): Promise<string>;
  /** Default: the system's. */
  readonly now?: () => Date;
}

/** Shorter words of the header, such as Bearer, are not secret and may occur in any answer. */
const MIN_TOKEN_LENGTH = 8;

interface ItemRequest extends Omit<TargetRequest, 'headers' | 'body'> {
  readonly headers?: TargetRequest['headers'];
  /** Sent as JSON. */
  readonly body?: unknown;
}

export interface Calls {
  /** The answer, as `schema` reads it. */
  ask<T>(request: ItemRequest, schema: z.ZodType<T>): Promise<Asked<T>>;
}

/** For an answer whose content does not matter: the call succeeded, and the item is in the state `to`. */
export function moved(to: string, note?: string) {
  return z.unknown().transform(() => ({ to, ...(note !== undefined && { note }) }));
}

/** Calls with this token; a failure if it cannot be read, because that may be fixed while the delivery waits. */
export async function connect(
  vendor: VendorAnswers & { headersOf(token: string): TargetRequest['headers'] },
  ref: SecretRef,
  { caller, readSecret, now = () => new Date() }: TargetNeeds,
  context: CallContext,
): Promise<Calls | TargetFailure> {
  const token = await readSecret(ref).catch(secretUnread);
  if (typeof token !== 'string') return token;
  const headers = vendor.headersOf(token);
  const secrets = [token, ...(headers.authorization ?? '').split(' ')];

  return {
    async ask({ method, path, headers: own, body }, schema) {
      const call = `${method} ${path.replace(/\?.*$/, '')} of ${vendor.name}`;
      const type: TargetRequest['headers'] = body === undefined ? {} : { 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const all = { accept: 'application/json', ...headers, ...type, ...own };
      const answered = await caller.send({ method, path, headers: all, ...sent }, context);
      if (answered.status !== 'answered') return answered.failure;
      // Secrets are removed before it is read: a vendor, or a server in its place, may echo what it received.
      const text = withoutSecrets(answered.text, secrets, MIN_TOKEN_LENGTH);
      const reply: Reply = { httpStatus: answered.httpStatus, headers: answered.headers, text, body: jsonOf(text) };
      const failure = itemFailureOf(vendor, reply, call, now().getTime());
      if (failure !== undefined) return failure;
      // An empty answer may be complete; a page of HTML with a 200 is not the vendor's answer.
      const isReadable = reply.body !== undefined || text.trim() === '';
      const read = schema.safeParse(reply.body);
      return isReadable && read.success ? { status: 'ok', value: read.data } : unreadable(reply, call);
    },
  };
}

/** A time in whole seconds, `2026-03-01T12:00:00Z`: the one form that every vendor reads. */
export function isoSeconds(time: Date): string {
  return time.toISOString().replace(/\.\d+Z$/, 'Z');
}

/** Rethrows defects. */
export function secretUnread(error: unknown): Extract<TargetFailure, { status: 'later' }> {
  if (!(error instanceof LockstepError)) throw error;
  return { status: 'later', reason: error.code, detail: error.message };
}

/** A list in pages that is searched for an item. */
export interface Pages<Page, Item> {
  readonly path: string;
  readonly query: Readonly<Record<string, string>>;
  readonly page: z.ZodType<Page>;
  readonly mostPages: number;
  findIn(page: Page): Item | undefined;
  /** The query for the page after the `count`th; undefined if that was the last page. */
  next(page: Page, count: number): Readonly<Record<string, string>> | undefined;
}

/** Finds the first matching item. `isWhole`: if no item matches, the whole list was read. */
export async function findInPages<Page, Item>(
  calls: Calls,
  { path, query: first, page, mostPages, findIn, next }: Pages<Page, Item>,
): Promise<Asked<{ readonly found: Item | undefined; readonly isWhole: boolean }>> {
  let query = first;
  for (let count = 1; count <= mostPages; count++) {
    const asked = await calls.ask({ method: 'GET', path: `${path}?${new URLSearchParams(query)}` }, page);
    if (asked.status !== 'ok') return asked;
    const found = findIn(asked.value);
    const more = next(asked.value, count);
    if (found !== undefined || more === undefined) return { status: 'ok', value: { found, isWhole: true } };
    query = { ...query, ...more };
  }
  return { status: 'ok', value: { found: undefined, isWhole: false } };
}
