/**
 * The retry policy: decides what follows from the outcome of a call. Pure. Input: an outcome, the operation's traits (may
 * it be sent twice, does a read show whether it was applied) and the attempt. Output: a decision. Source:
 * docs/protocol.md, "Outcomes"; full jitter after Marc Brooker, "Exponential Backoff And Jitter" (AWS, 2015).
 *
 * A call that may have been applied is sent again only after a read has shown that it was not, unless it is idempotent. A
 * call without such a read is sent at most once.
 */
import type { Operation } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { NotSent, Outcome, Refused, StreamOutcome, Unknown, UnknownReason } from './outcome.ts';

export type GiveUpReason =
  /** The service refused this call. */
  | 'REFUSED_BY_SERVICE'
  /** Retried as often as it makes sense, without a clear answer. */
  | 'GAVE_UP'
  /** The outcome is unknown and no read shows it: a retry might apply the call twice. */
  | 'CANNOT_BE_CHECKED'
  /** The answer is not from the service, or not readable: the settings have to change. */
  | 'SERVICE_UNREADABLE'
  | 'SERVICE_CERTIFICATE';

export type RetryDecision =
  /** Send it again after `afterMs`. */
  | {
      readonly status: 'retry';
      readonly afterMs: number;
      /** True if the service may have seen the call. It then also takes a token of the retry budget. */
      readonly spendsAttempt: boolean;
      /** The service, the network or the budget's store is unavailable: a run tolerates this only for a limited time. */
      readonly isFailure: boolean;
    }
  /** The outcome is unknown: a read has to show whether it was applied before it may be sent again. */
  | { readonly status: 'settle' }
  /** The key is refused: no call of this account is sent until a read with the key succeeds. */
  | { readonly status: 'suspend' }
  | { readonly status: 'give-up'; readonly reason: GiveUpReason };

export interface Attempt {
  /** Calls of this operation that spent an attempt, this one included; from 1. */
  readonly attempt: number;
  /** In [0, 1). */
  readonly random: number;
}

/** Attempts before the client gives up on a repeatable operation. */
export const MAX_ATTEMPTS = 5;
const BASE_MS = 200;
const CAP_MS = 5_000;
/** Between tries to reach an unavailable service or store. */
const AWAY_MS = 2_000;
const NO_TOKEN_MS = 1_000;

/** Answers that a retry does not change. */
const UNREADABLE: ReadonlySet<UnknownReason | undefined> = new Set([
  'html',
  'empty',
  'no-list',
  'too-large',
  'redirect',
]);

const SETTLE: RetryDecision = { status: 'settle' };

/** The outcome of a call that was not applied. */
export type Failure = Exclude<Outcome | StreamOutcome, { status: 'applied' }>;

export function decideRetry(operation: OperationName, outcome: Failure, attempt: Attempt): RetryDecision {
  switch (outcome.status) {
    case 'limited':
      return waitFor(outcome.retryAfterMs, { isFailure: false });
    case 'not-sent':
      return afterNotSent(outcome);
    case 'refused':
      return afterRefusal(operation, outcome);
    case 'unknown':
      return afterDoubt(operation, outcome, attempt);
    default:
      return outcome satisfies never;
  }
}

/** Full jitter: a random delay between 0 and the growing cap, so that callers that failed together do not retry together. */
export function backoffMs({ attempt, random }: Attempt): number {
  return random * Math.min(CAP_MS, BASE_MS * 2 ** attempt);
}

/** Whether a refusal concerns the key, not the record. */
export function isKeyRefused({ httpStatus, message }: Pick<Refused, 'httpStatus' | 'message'>): boolean {
  if (httpStatus === 401 || httpStatus === 403) return true;
  return httpStatus === 200 && /\b(unauthori[sz]ed|api[ _-]?key|forbidden|authenticat)/i.test(message);
}

function afterNotSent({ reason, retryAfterMs }: NotSent): RetryDecision {
  switch (reason) {
    case 'budget':
      return waitFor(retryAfterMs ?? NO_TOKEN_MS, { isFailure: false });
    case 'breaker':
      return waitFor(retryAfterMs ?? AWAY_MS, { isFailure: true });
    case 'deadline':
    case 'aborted':
    case 'closed':
      return waitFor(0, { isFailure: false });
    case 'certificate':
      return { status: 'give-up', reason: 'SERVICE_CERTIFICATE' };
    case 'budget-away':
    case 'unreachable':
    case undefined:
      return waitFor(AWAY_MS, { isFailure: true });
    default:
      return reason satisfies never;
  }
}

/** What services say about a record that exists already. */
const IS_THERE = /\balready\b|\bduplicate|\bbeen taken\b/i;

function afterRefusal(name: OperationName, refused: Refused): RetryDecision {
  if (isKeyRefused(refused)) return { status: 'suspend' };
  const { repeatable, readBack }: Operation = operations[name];
  // An earlier attempt with a lost answer may have created the record that is there: the read-back shows it.
  const isThere = refused.httpStatus === 409 || IS_THERE.test(refused.message);
  if (isThere && !repeatable && readBack !== undefined) return SETTLE;
  return { status: 'give-up', reason: 'REFUSED_BY_SERVICE' };
}

/** A gateway may answer a read with nothing or its own page, or redirect it there, occasionally; a server that always does is not an API. */
const GATEWAY_TRIES = 3;
const BY_GATEWAYS: ReadonlySet<UnknownReason | undefined> = new Set(['html', 'redirect', 'empty']);

function afterDoubt(name: OperationName, { reason }: Unknown, attempt: Attempt): RetryDecision {
  const { repeatable, readBack, result }: Operation = operations[name];
  const isRead = result !== undefined;
  const isLasting = !BY_GATEWAYS.has(reason) || attempt.attempt >= GATEWAY_TRIES;
  if (isRead && UNREADABLE.has(reason) && isLasting) return { status: 'give-up', reason: 'SERVICE_UNREADABLE' };
  if (!repeatable) {
    return readBack === undefined ? { status: 'give-up', reason: 'CANNOT_BE_CHECKED' } : SETTLE;
  }
  if (attempt.attempt >= MAX_ATTEMPTS) {
    return { status: 'give-up', reason: isRead && reason === 'unreadable' ? 'SERVICE_UNREADABLE' : 'GAVE_UP' };
  }
  return { status: 'retry', afterMs: backoffMs(attempt), spendsAttempt: true, isFailure: true };
}

function waitFor(afterMs: number, { isFailure }: { isFailure: boolean }): RetryDecision {
  return { status: 'retry', afterMs, spendsAttempt: false, isFailure };
}
