/**
 * What a failed call to a vendor means for a delivery, by the HTTP status. Pure. A vendor's `judge` decides first about answers
 * that are specific to the vendor, such as a rate limit with status 403.
 */
import type { z } from 'zod';
import { isRedirect } from '../../../client/call/redirect.ts';
import { asksToWait, namedWaitMs, retryAfterMs } from '../../../client/http/retry-after.ts';
import type { TargetFailure } from '../../../contract/target.ts';
import { answerOf, dateOf, excerpt, type Head } from '../calls/call-answers.ts';
import type { Missing } from './item-target.ts';

export interface Reply extends Head {
  /** Without secrets. */
  readonly text: string;
  /** The parsed JSON; undefined if it is not JSON; null for 204, which has no content. */
  readonly body: unknown;
}

/** How a vendor says that something went wrong. */
export interface VendorAnswers {
  readonly name: string;
  /** Whether a moved item is read at its new address. */
  readonly followsMoves?: boolean;
  /** What to do if the token is refused: which setting, which permission. */
  readonly tokenRemedy: string;
  /** Decides about answers that only this vendor gives; `ok`: the call succeeded; undefined: the HTTP status decides. */
  judge?(
    reply: Reply,
    nowMs: number,
    tokenRemedy: string,
  ): TargetFailure | Missing | { readonly status: 'ok' } | undefined;
  /** The vendor's explanation, as the body of an error holds it. */
  readonly message: z.ZodType<string>;
  /** The vendor explains every error, so a 404 without an explanation is the answer of another program, or of a closed site; so is any web page. */
  readonly alwaysExplains?: boolean;
}

/** The pause if a limit names no time: what GitHub asks for, and long enough for the others. */
const LIMITED_MS = 60_000;

/** No clear answer: the target may still be working on the call. */
const UNANSWERED: ReadonlySet<string> = new Set(['TIMEOUT', 'BROKEN_OFF', 'SERVER_ERROR']);

/** What the failure of a call that changes something leaves open. */
export function ofWrite<F extends TargetFailure | Missing | undefined>(failure: F): F {
  return failure?.status === 'later' && UNANSWERED.has(failure.reason) ? { ...failure, isUnclear: true } : failure;
}

/** Failures with an unknown outcome: the call may have been applied. A redirect may lead to what was created, and a conflict be with it. */
const UNSURE: ReadonlySet<string> = new Set([...UNANSWERED, 'TOO_LARGE', 'UNREADABLE', 'REDIRECTED', 'CONFLICT']);

export function mayHaveHappened(failure: TargetFailure): boolean {
  return UNSURE.has(failure.reason);
}

/** Undefined for a 2xx without an explanation of an error. */
export function itemFailureOf(
  vendor: VendorAnswers,
  reply: Reply,
  call: string,
  nowMs: number,
): TargetFailure | Missing | undefined {
  const judged = vendor.judge?.(reply, nowMs, vendor.tokenRemedy);
  if (judged?.status === 'ok') return undefined;
  if (judged !== undefined)
    return judged.status === 'missing' ? judged : { ...judged, answer: answerOf(reply.httpStatus, reply.text) };
  const { httpStatus } = reply;
  const isSuccess = httpStatus >= 200 && httpStatus < 300;
  if (isSuccess && !vendor.message.safeParse(reply.body).success) return undefined;
  const detail = `${call}: ${explain(vendor, reply)}`;
  if (isSuccess) return { ...unreadable(reply, call), detail: `${detail}: an error in a successful answer` };
  const answer = answerOf(httpStatus, reply.text);
  const isMissing = httpStatus === 404 || httpStatus === 410;
  const failure = isMissing ? undefined : { ...byStatus(vendor, reply, detail, nowMs), answer };
  const isPage = httpStatus >= 400 && isMarkup(reply);
  if (failure !== undefined && (failure.status !== 'refused' || !isPage)) return failure;
  const isExplained = !vendor.alwaysExplains || vendor.message.safeParse(reply.body).success;
  if (isMissing && isExplained && !isPage) return { status: 'missing', detail, httpStatus };
  const why = `this does not look like an answer of ${vendor.name}: check this target's url, and that the site is open and no proxy answers instead`;
  return { ...failedFor(waitOf(reply, nowMs), 'UNREADABLE', `${detail}; ${why}`), answer };
}

/** A web page, such as that of a proxy. */
export function isMarkup({ text }: Pick<Reply, 'text'>): boolean {
  return /^\s*</.test(text);
}

/** A limit of the vendor: no attempt is spent, and all deliveries to the target wait. */
export function limitedFailure(detail: string, waitMs: number | undefined): TargetFailure {
  return { status: 'later', reason: 'LIMITED', detail, retryAfterMs: waitMs ?? LIMITED_MS, isLimited: true };
}

/** The wait that the answer asks for; undefined if it asks for none. */
export function waitOf({ headers }: Pick<Head, 'headers'>, nowMs: number): number | undefined {
  return asksToWait(headers) ? retryAfterMs(headers, nowMs) : undefined;
}

/** How long it is until a time that the vendor names: by the clock in its answer, because that of this machine may be wrong. */
export function untilTime(atMs: number, { headers }: Pick<Head, 'headers'>, nowMs: number): number {
  return atMs - (dateOf(headers)?.getTime() ?? nowMs);
}

/** A 2xx with an unexpected body. `why`: what it lacks. */
export function unreadable(reply: Reply, call: string, why = ''): TargetFailure {
  const looks = isMarkup(reply) ? 'markup (a login or error page?)' : `not the expected JSON${why}`;
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

const NOT_FOLLOWED =
  'this redirect is not followed: set the new address, or the new name of what has moved, in the settings';

/** Another caller has changed the item meanwhile, or is changing it. 412: since it was read, by what `If-Match` says. */
export function isConflict(httpStatus: number): boolean {
  return httpStatus === 409 || httpStatus === 412 || httpStatus === 423;
}

type Later = Extract<TargetFailure, { status: 'later' }>;

/** A failure that may pass, after this wait if the answer names one. */
export function failedFor(wait: number | undefined, reason: string, detail: string): Later {
  return { status: 'later', reason, detail, ...(wait !== undefined && { retryAfterMs: wait }) };
}

/** To wait until the server says that it is back is no failed attempt. Some servers always say that it is back at once. */
export function serverFailed(reply: Head, detail: string, nowMs: number): TargetFailure {
  const failed = failedFor(waitOf(reply, nowMs), 'SERVER_ERROR', detail);
  const isNamed = namedWaitMs(reply.headers, nowMs) !== undefined;
  return reply.httpStatus === 503 && isNamed ? { ...failed, isLimited: true } : failed;
}

function byStatus(vendor: VendorAnswers, reply: Reply, detail: string, nowMs: number): TargetFailure {
  const { httpStatus } = reply;
  const wait = waitOf(reply, nowMs);
  if (httpStatus === 429) return limitedFailure(detail, wait);
  if (httpStatus === 401) return tokenRefused(vendor.tokenRemedy, detail);
  // The refusal may concern this item alone, so other deliveries must not wait for it.
  if (httpStatus === 403)
    return { status: 'refused', reason: 'NOT_ALLOWED', detail: `${detail}; ${vendor.tokenRemedy}` };
  if (httpStatus >= 500 || httpStatus === 408) return serverFailed(reply, detail, nowMs);
  if (isConflict(httpStatus)) return failedFor(wait, 'CONFLICT', detail);
  const redirected = `${detail}; ${NOT_FOLLOWED}`;
  if (httpStatus === 301 || httpStatus === 308) return { status: 'refused', reason: 'MOVED', detail: redirected };
  if (isRedirect(httpStatus)) return { status: 'later', reason: 'REDIRECTED', detail: redirected };
  if (httpStatus < 400) return { status: 'later', reason: 'UNREADABLE', detail: `${detail}, which shows no content` };
  return { status: 'refused', reason: 'REJECTED', detail };
}

function explain(vendor: VendorAnswers, { httpStatus, body }: Reply): string {
  const message = vendor.message.safeParse(body).data;
  return message === undefined ? `HTTP ${httpStatus}` : `HTTP ${httpStatus}: ${excerpt(message)}`;
}
