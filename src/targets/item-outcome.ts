/**
 * What a failed call to a vendor means for a delivery, by HTTP's own words. Pure. What a vendor says in its own way, such
 * as a limit that is a 403, its `judge` says before.
 */
import { retryAfterMs } from '../client/retry-after.ts';
import { excerpt } from './answers.ts';
import type { Answered, AnswerHeaders } from './caller.ts';
import type { DeliveryOutcome } from './target.ts';

export type ItemFailure = Extract<DeliveryOutcome, { status: 'later' | 'refused' | 'disabled' }>;
export type Missing = { readonly status: 'missing'; readonly detail: string };

export interface Reply {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  readonly text: string;
  /** The parsed JSON; undefined where it is none. */
  readonly body: unknown;
}

export interface Vendor {
  readonly name: string;
  /** What to do when the token is refused: which setting, what permission. */
  readonly tokenRemedy: string;
  /** What only this vendor says so; undefined: as HTTP says. */
  judge?(reply: Reply, nowMs: number): ItemFailure | Missing | undefined;
  /** The vendor's explanation of an error. */
  messageOf(body: unknown): string | undefined;
}

/** Where a limit does not say for how long; what GitHub asks for, and long enough for the others. */
const LIMITED_MS = 60_000;
const MAX_MESSAGE = 300;

/** Reasons of failures after which nobody knows whether the call was applied. */
const UNSURE: ReadonlySet<string> = new Set(['TIMEOUT', 'BROKEN_OFF', 'TOO_LARGE', 'SERVER_ERROR', 'UNREADABLE']);

export function mayHaveHappened(failure: ItemFailure): boolean {
  return UNSURE.has(failure.reason);
}

/** Of a call without a whole answer. */
export function failureWithoutReply(vendor: Vendor, answered: Exclude<Answered, { status: 'answered' }>): ItemFailure {
  const { detail } = answered;
  if (answered.status === 'unknown') return { status: 'later', reason: answered.reason, detail };
  const { reason } = answered;
  const wait = answered.retryAfterMs === undefined ? {} : { retryAfterMs: answered.retryAfterMs };
  switch (reason) {
    case 'BUDGET':
      return { status: 'later', reason, detail, ...wait, isLimited: true };
    case 'ADDRESS_REFUSED': {
      const remedy = `set allowPrivate: true for this target if ${vendor.name} runs in your own network`;
      return { status: 'refused', reason, detail: `${detail}; ${remedy}` };
    }
    case 'UNREACHABLE':
    case 'ABORTED':
      return { status: 'later', reason, detail, ...wait };
    default:
      return reason satisfies never;
  }
}

/** Undefined: a 2xx, as far as HTTP is concerned. */
export function failureOf(
  vendor: Vendor,
  reply: Reply,
  call: string,
  nowMs: number,
): ItemFailure | Missing | undefined {
  const judged = vendor.judge?.(reply, nowMs);
  if (judged !== undefined) return judged.status === 'missing' ? judged : { ...judged, answer: answerOf(reply) };
  const { httpStatus } = reply;
  if (httpStatus >= 200 && httpStatus < 300) return undefined;
  const detail = `${call}: ${explain(vendor, reply)}`;
  if (httpStatus === 404 || httpStatus === 410) return { status: 'missing', detail };
  return { ...byStatus(vendor, reply, detail, nowMs), answer: answerOf(reply) };
}

/** A limit of the vendor: no attempt is spent, and the whole target waits. */
export function limited(detail: string, waitMs: number | undefined): ItemFailure {
  return { status: 'later', reason: 'LIMITED', detail, retryAfterMs: waitMs ?? LIMITED_MS, isLimited: true };
}

/** What Retry-After asks for; undefined without one. */
export function waitOf({ headers }: Pick<Reply, 'headers'>, nowMs: number): number | undefined {
  const retryAfter = headers['retry-after'];
  return retryAfter === undefined ? undefined : retryAfterMs({ retryAfter, date: headers.date }, nowMs);
}

/** A 2xx whose body is not what it should be. */
export function unreadable(reply: Reply, call: string): ItemFailure {
  const looks = /^\s*</.test(reply.text) ? 'markup (a login or error page?)' : 'not the JSON it should be';
  return { status: 'later', reason: 'UNREADABLE', detail: `${call}: the answer is ${looks}`, answer: answerOf(reply) };
}

/** Of 404 where no item was asked for: the repository, project or team of the settings. */
export function placeMissing(vendor: Vendor, place: string, { detail }: Missing): ItemFailure {
  const remedy = `${vendor.name} has no such ${place}, or the token may not see it`;
  return { status: 'refused', reason: 'PLACE_MISSING', detail: `${detail}; ${remedy}` };
}

export function tokenRefused(vendor: Vendor, detail: string): ItemFailure {
  return { status: 'disabled', reason: 'TOKEN_REFUSED', detail: `${detail}; ${vendor.tokenRemedy}` };
}

function byStatus(vendor: Vendor, reply: Reply, detail: string, nowMs: number): ItemFailure {
  const { httpStatus } = reply;
  const wait = waitOf(reply, nowMs);
  if (httpStatus === 429) return limited(detail, wait);
  if (httpStatus === 401) return tokenRefused(vendor, detail);
  // It may be about this item alone, and the others shall not wait for it.
  if (httpStatus === 403)
    return { status: 'refused', reason: 'NOT_ALLOWED', detail: `${detail}; ${vendor.tokenRemedy}` };
  if (httpStatus >= 500 || httpStatus === 408) {
    return { status: 'later', reason: 'SERVER_ERROR', detail, ...(wait !== undefined && { retryAfterMs: wait }) };
  }
  if (httpStatus === 409) return { status: 'later', reason: 'CONFLICT', detail };
  if (httpStatus === 301 || httpStatus === 308) {
    return {
      status: 'refused',
      reason: 'MOVED',
      detail: `${detail}; link it by its new name, or set the target's url`,
    };
  }
  if (httpStatus < 400)
    return { status: 'later', reason: 'REDIRECTED', detail: `${detail}; redirects are not followed` };
  return { status: 'refused', reason: 'REJECTED', detail };
}

function explain(vendor: Vendor, { httpStatus, body }: Reply): string {
  const message = body === undefined ? undefined : vendor.messageOf(body);
  return message === undefined ? `HTTP ${httpStatus}` : `HTTP ${httpStatus}: ${squeeze(message)}`;
}

/** The text was scrubbed of secrets before it was read. */
function answerOf({ httpStatus, headers, text }: Reply) {
  return excerpt({ status: 'answered', httpStatus, headers, text }, []) ?? { httpStatus };
}

/** One line without control characters: it is shown in terminals. */
function squeeze(text: string): string {
  return text
    .slice(0, MAX_MESSAGE)
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim();
}
