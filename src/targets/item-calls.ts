/** Calls to a vendor with its token: JSON both ways, answers checked, and no secret in anything that comes back. */
import { z } from 'zod';
import { LockstepError } from '../errors.ts';
import type { SecretRef } from '../settings/fields.ts';
import type { TargetCaller, TargetRequest } from './caller.ts';
import {
  failureOf,
  failureWithoutReply,
  type ItemFailure,
  type Missing,
  type Reply,
  unreadable,
  type Vendor,
} from './item-outcome.ts';
import type { CallContext } from './target.ts';

export interface TargetNeeds {
  readonly caller: TargetCaller;
  /** Read at each use, so that a rotated secret needs no restart. */
  readSecret(ref: SecretRef): Promise<string>;
  /** Default: the system's. */
  readonly now?: () => Date;
}

export interface ItemRequest {
  readonly method: TargetRequest['method'];
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  readonly body?: unknown;
}

export type Asked<T> = { readonly status: 'ok'; readonly value: T } | ItemFailure | Missing;

export interface Calls {
  /** The answer, as `schema` reads it. */
  ask<T>(request: ItemRequest, schema: z.ZodType<T>): Promise<Asked<T>>;
}

/** Of an answer without content that anybody needs. */
export const nothing = z.unknown();

/** `headersOf`: the headers of every call, made from the token. What it returns is not kept. */
export interface Connection {
  readonly vendor: Vendor;
  readonly token: SecretRef;
  headersOf(token: string): Readonly<Record<string, string>>;
}

/** Reads the token; a failure where it cannot be read, which may be mended while the delivery waits. */
export async function connect(
  { vendor, token: ref, headersOf }: Connection,
  { caller, readSecret, now = () => new Date() }: TargetNeeds,
  context: CallContext,
): Promise<Calls | ItemFailure> {
  let token: string;
  try {
    token = await readSecret(ref);
  } catch (error) {
    if (!(error instanceof LockstepError)) throw error;
    return { status: 'later', reason: error.code, detail: error.message };
  }
  const headers = headersOf(token);
  const scrub = scrubber([token, ...(headers.authorization ?? '').split(' ')]);

  return {
    async ask({ method, path, headers: own, body }, schema) {
      const call = `${method} ${path.replace(/\?.*$/, '')} of ${vendor.name}`;
      const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
      const sent = body === undefined ? {} : { body: JSON.stringify(body) };
      const answered = await caller.send({ method, path, headers: { ...headers, ...type, ...own }, ...sent }, context);
      if (answered.status !== 'answered') {
        return failureWithoutReply(vendor, answered);
      }
      // Scrubbed before it is read: a vendor, or whoever stands in for it, may send back what it was sent.
      const text = scrub(answered.text);
      const reply: Reply = { httpStatus: answered.httpStatus, headers: answered.headers, text, body: parse(text) };
      const failure = failureOf(vendor, reply, call, now().getTime());
      if (failure !== undefined) return failure;
      // An empty answer may be all there is to say; a page of HTML with a 200 is not the vendor's.
      const isReadable = reply.body !== undefined || text.trim() === '';
      const read = schema.safeParse(reply.body);
      return isReadable && read.success ? { status: 'ok', value: read.data } : unreadable(reply, call);
    },
  };
}

/** Words shorter than a token, such as Bearer, are words of every answer. */
function scrubber(parts: readonly string[]): (text: string) => string {
  const secrets = parts.filter((part) => part.length >= 8);
  return (text) => secrets.reduce((scrubbed, secret) => scrubbed.replaceAll(secret, '***'), text);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
