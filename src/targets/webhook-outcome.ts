/**
 * What a webhook's receiver means by its answer. Pure. Standard Webhooks: 2xx is a success, 410 is the end, and all else
 * is tried again, because a receiver's 404 or 401 is more often a deployment gone wrong than a verdict on the event.
 */
import { retryAfterMs } from '../client/retry-after.ts';
import type { Answered, AnswerHeaders } from './caller.ts';
import type { DeliveryOutcome } from './target.ts';

/** Of a 429 that does not say for how long. */
const LIMITED_MS = 60_000;

export function webhookOutcome(answered: Answered, name: string): DeliveryOutcome {
  if (answered.status === 'not-sent') return outcomeOfNotSent(answered, name);
  if (answered.status === 'answered') return outcomeOfStatus(answered.httpStatus, answered.headers, name);
  const { httpStatus, headers = {}, reason, detail } = answered;
  // A status is an answer, however the body ends: nobody reads a receiver's body, least of all an endless one.
  if (httpStatus !== undefined) return outcomeOfStatus(httpStatus, headers, name);
  return { status: 'later', reason, detail };
}

function outcomeOfNotSent(answered: Extract<Answered, { status: 'not-sent' }>, name: string): DeliveryOutcome {
  const { reason, detail, retryAfterMs: waitMs } = answered;
  if (reason === 'ADDRESS_REFUSED') {
    const remedy = `if that is meant, set targets.${name}.allowPrivate to true`;
    return { status: 'refused', reason, detail: `${detail}; ${remedy}` };
  }
  const wait = waitMs === undefined ? {} : { retryAfterMs: waitMs };
  // Our own budget is no failure of the receiver's: no attempt is spent on it.
  return { status: 'later', reason, detail, ...wait, ...(reason === 'BUDGET' && { isLimited: true }) };
}

function outcomeOfStatus(httpStatus: number, headers: AnswerHeaders, name: string): DeliveryOutcome {
  const says = `the receiver answers HTTP ${httpStatus}`;
  if (httpStatus >= 200 && httpStatus < 300) return { status: 'delivered' };
  if (httpStatus === 410) {
    const detail = `${says}: it wants no more deliveries; give targets.${name} its new address, or take it out`;
    return { status: 'disabled', reason: 'GONE', detail };
  }
  const wait = asksToWait(headers);
  if (httpStatus === 429) {
    return { status: 'later', reason: 'LIMITED', detail: says, isLimited: true, retryAfterMs: wait ?? LIMITED_MS };
  }
  const later = { status: 'later', ...(wait !== undefined && { retryAfterMs: wait }) } as const;
  if (httpStatus >= 300 && httpStatus < 400) {
    const detail = `${says}, a redirect, which is never followed: give targets.${name}.url the address it leads to`;
    return { ...later, reason: 'REDIRECTED', detail };
  }
  if (httpStatus === 408 || httpStatus >= 500) return { ...later, reason: 'SERVER_ERROR', detail: says };
  return { ...later, reason: 'NOT_ACCEPTED', detail: `${says}${remedyOf(httpStatus, name)}` };
}

function remedyOf(httpStatus: number, name: string): string {
  if (httpStatus === 401 || httpStatus === 403) return `: has it the secret that targets.${name}.secret names?`;
  if (httpStatus === 404 || httpStatus === 405) return `: is targets.${name}.url right?`;
  return '';
}

function asksToWait(headers: AnswerHeaders): number | undefined {
  const retryAfter = headers['retry-after'];
  return retryAfter === undefined ? undefined : retryAfterMs({ retryAfter, date: headers.date }, Date.now());
}
