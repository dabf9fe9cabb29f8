/**
 * What a webhook's receiver means by its answer. Pure. Standard Webhooks: 2xx is a success, 410 is the end, and all else
 * is tried again, because a receiver's 404 or 401 is more often a deployment gone wrong than a verdict on the event.
 */
import type { Answered, AnswerHeaders } from './caller.ts';
import { failureWithoutReply, limited, waitOf } from './item-outcome.ts';
import type { DeliveryOutcome } from './target.ts';

export function webhookOutcome(answered: Answered, name: string): DeliveryOutcome {
  if (answered.status === 'answered') return outcomeOfStatus(answered.httpStatus, answered.headers, name);
  // A status is an answer, however the body ends: nobody reads a receiver's body, least of all an endless one.
  if (answered.status === 'unknown' && answered.httpStatus !== undefined) {
    return outcomeOfStatus(answered.httpStatus, answered.headers ?? {}, name);
  }
  return failureWithoutReply(answered);
}

function outcomeOfStatus(httpStatus: number, headers: AnswerHeaders, name: string): DeliveryOutcome {
  const says = `the receiver answers HTTP ${httpStatus}`;
  if (httpStatus >= 200 && httpStatus < 300) return { status: 'delivered' };
  if (httpStatus === 410) {
    const detail = `${says}: it wants no more deliveries; give targets.${name} its new address, or take it out`;
    return { status: 'disabled', reason: 'GONE', detail };
  }
  const wait = waitOf({ headers }, Date.now());
  if (httpStatus === 429) return limited(says, wait);
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
