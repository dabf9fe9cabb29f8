/**
 * What a failed call to a vendor means for a delivery, by HTTP's own words. Pure. What a vendor says in its own way, such
 * as a limit that is a 403, its `judge` says before.
 */
import type { z } from 'zod';
import { retryAfterMs } from '../client/retry-after.ts';
import { answerOf, excerpt } from './answers.ts';
import type { Answered, AnswerHeaders } from './caller.ts';
import type { Missing } from './item-target.ts';
import type { TargetFailure } from './target.ts';

export interface Reply {
  readonly httpStatus: number;
  readonly headers: AnswerHeaders;
  /** Without secrets. */
  readonly text: string;
  /** The parsed JSON; undefined where it is none. */
  readonly body: unknown;
}

/** How a vendor says that something went wrong. */
export interface VendorAnswers {
  readonly name: string;
  /** What to do when the token is refused: which setting, what permission. */
  readonly tokenRemedy: string;
  /** What only this vendor says so; undefined: as HTTP says. */
  judge?(reply: Reply, nowMs: number): TargetFailure | Missing | undefined;
  /** The vendor's explanation, as the body of an error holds it. */
  readonly message: z.ZodType<string>;
}

/** Where a limit does not say for how long; what GitHub asks for, and long enough for the others. */
const LIMITED_MS = 60_000;

/** Reasons of failures after which nobody knows whether the call was applied. */
const UNSURE: ReadonlySet<string> = new Set(['TIMEOUT', 'BROKEN_OFF', 'TOO_LARGE', 'SERVER_ERROR', 'UNREADABLE']);

export function mayHaveHappened(failure: TargetFailure): boolean {
  return UNSURE.has(failure.reason);
}

/** Of a call without a whole answer. */
export function failureWithoutReply(answered: Exclude<Answered, { status: 'answered' }>): TargetFailure {
  const { status, reason, detail } = answered;
  if (status === 'unknown') return { status: 'later', reason, detail };
  if (reason === 'ADDRESS_REFUSED') {
    const remedy = 'set allowPrivate: true for this target if it is in your own network';
    return { status: 'refused', reason, detail: `${detail}; ${remedy}` };
  }
  const wait = answered.retryAfterMs === undefined ? {} : { retryAfterMs: answered.retryAfterMs };
  // Our own budget is no failure of the target's: no attempt is spent on it.
  return { status: 'later', reason, detail, ...wait, ...(reason === 'BUDGET' && { isLimited: true }) };
}

/** Undefined: a 2xx, as far as HTTP is concerned. */
export function failureOf(
  vendor: VendorAnswers,
  reply: Reply,
  call: string,
  nowMs: number,
): TargetFailure | Missing | undefined {
  const judged = vendor.judge?.(reply, nowMs);
  if (judged !== undefined)
    return judged.status === 'missing' ? judged : { ...judged, answer: answerOf(reply.httpStatus, reply.text) };
  const { httpStatus } = reply;
  if (httpStatus >= 200 && httpStatus < 300) return undefined;
  const detail = `${call}: ${explain(vendor, reply)}`;
  if (httpStatus === 404 || httpStatus === 410) return { status: 'missing', detail };
  return { ...byStatus(vendor, reply, detail, nowMs), answer: answerOf(reply.httpStatus, reply.text) };
}

/** A limit of the vendor: no attempt is spent, and the whole target waits. */
export function limited(detail: string, waitMs: number | undefined): TargetFailure {
  return { status: 'later', reason: 'LIMITED', detail, retryAfterMs: waitMs ?? LIMITED_MS, isLimited: true };
}

/** What Retry-After asks for; undefined without one. */
export function waitOf({ headers }: Pick<Reply, 'headers'>, nowMs: number): number | undefined {
  const retryAfter = headers['retry-after'];
  return retryAfter === undefined ? undefined : retryAfterMs({ retryAfter, date: headers.date }, nowMs);
}

/** A 2xx whose body is not what it should be. */
export function unreadable(reply: Reply, call: string): TargetFailure {
  const looks = /^\s*</.test(reply.text) ? 'markup (a login or error page?)' : 'not the JSON it should be';
  return {
    status: 'later',
    reason: 'UNREADABLE',
    detail: `${call}: the answer is ${looks}`,
    answer: answerOf(reply.httpStatus, reply.text),
  };
}

export function tokenRefused(remedy: string, detail: string): TargetFailure {
  return { status: 'disabled', reason: 'TOKEN_REFUSED', detail: `${detail}; ${remedy}` };
}

function byStatus(vendor: VendorAnswers, reply: Reply, detail: string, nowMs: number): TargetFailure {
  const { httpStatus } = reply;
  const wait = waitOf(reply, nowMs);
  if (httpStatus === 429) return limited(detail, wait);
  if (httpStatus === 401) return tokenRefused(vendor.tokenRemedy, detail);
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

function explain(vendor: VendorAnswers, { httpStatus, body }: Reply): string {
  const message = vendor.message.safeParse(body).data;
  return message === undefined ? `HTTP ${httpStatus}` : `HTTP ${httpStatus}: ${excerpt(message)}`;
}
