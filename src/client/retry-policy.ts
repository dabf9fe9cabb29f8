/**
 * What follows from the outcome of a call: the one policy of retries, pure. An outcome, the operation's traits (may it
 * be sent twice, is there a read that shows whether it was applied) and the attempt go in; a decision comes out.
 * Source: PROTOCOLS.md, sections 1 and 3; full jitter after Marc Brooker, "Exponential Backoff And Jitter" (AWS, 2015).
 *
 * Nothing that may have been applied is sent again before a read has shown that it was not, unless sending it twice
 * leaves what sending it once leaves. What has no such read is sent at most once.
 */
import { type Operation, type OperationName, operations } from '../contract/operations.ts';
import type { NotSent, Outcome, Refused, StreamOutcome, Unknown, UnknownReason } from './outcome.ts';

export type GiveUpReason =
  /** The service said no to this call. */
  | 'REFUSED_BY_SERVICE'
  /** Repeated as often as it makes sense, and never a clear answer. */
  | 'GAVE_UP'
  /** In doubt, and nothing can be read that would tell: sending it again might do it twice. */
  | 'CANNOT_BE_CHECKED'
  /** What answers is not the service, or not in a form that can be read: settings have to change. */
  | 'SERVICE_UNREADABLE'
  | 'SERVICE_CERTIFICATE';

export type RetryDecision =
  /** Send it again after `afterMs`. */
  | {
      readonly status: 'retry';
      readonly afterMs: number;
      /** An attempt is spent where the service may have seen the call; it also takes a token of the retry budget. */
      readonly spendsAttempt: boolean;
      /** The service, the network or the budget's store is away: of that a run bears only so much. */
      readonly isTrouble: boolean;
    }
  /** In doubt: a read has to show whether it was applied before it may be sent again. */
  | { readonly status: 'settle' }
  /** The key is refused: nothing of this account is sent until a read with it succeeds. */
  | { readonly status: 'suspend' }
  | { readonly status: 'give-up'; readonly reason: GiveUpReason };

export interface Attempt {
  /** Calls of this operation that spent an attempt, this one included; from 1. */
  readonly attempt: number;
  /** In [0, 1). */
  readonly random: number;
}

/** Calls that may spend an attempt before a repeatable operation is given up. */
export const MAX_ATTEMPTS = 5;
const BASE_MS = 200;
const CAP_MS = 5_000;
/** Between tries to reach a service, or a store, that is away. */
const AWAY_MS = 2_000;
const NO_TOKEN_MS = 1_000;

/** Answers that asking again does not change. */
const UNREADABLE: ReadonlySet<UnknownReason | undefined> = new Set(['html', 'no-list', 'too-large', 'redirect']);

const SETTLE: RetryDecision = { status: 'settle' };

/** What became of a call that was not simply applied. */
export type Failure = Exclude<Outcome | StreamOutcome, { status: 'applied' }>;

export function decideRetry(operation: OperationName, outcome: Failure, attempt: Attempt): RetryDecision {
  switch (outcome.status) {
    case 'limited':
      return waitFor(outcome.retryAfterMs, { isTrouble: false });
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

/** Full jitter: anything from nothing to the growing cap, so that callers who failed together do not return together. */
export function backoffMs({ attempt, random }: Attempt): number {
  return random * Math.min(CAP_MS, BASE_MS * 2 ** attempt);
}

/** Whether a refusal is about the key rather than the record. */
export function isKeyRefused({ httpStatus, message }: Pick<Refused, 'httpStatus' | 'message'>): boolean {
  if (httpStatus === 401 || httpStatus === 403) return true;
  return httpStatus === 200 && /\b(unauthori[sz]ed|api[ _-]?key|forbidden|authenticat)/i.test(message);
}

function afterNotSent({ reason, retryAfterMs }: NotSent): RetryDecision {
  switch (reason) {
    case 'budget':
      return waitFor(retryAfterMs ?? NO_TOKEN_MS, { isTrouble: false });
    case 'breaker':
      return waitFor(retryAfterMs ?? AWAY_MS, { isTrouble: true });
    case 'deadline':
    case 'aborted':
    case 'closed':
      return waitFor(0, { isTrouble: false });
    case 'certificate':
      return { status: 'give-up', reason: 'SERVICE_CERTIFICATE' };
    case 'budget-away':
    case 'unreachable':
    case undefined:
      return waitFor(AWAY_MS, { isTrouble: true });
    default:
      return reason satisfies never;
  }
}

function afterRefusal(name: OperationName, refused: Refused): RetryDecision {
  if (isKeyRefused(refused)) return { status: 'suspend' };
  const { repeatable, readBack }: Operation = operations[name];
  // A conflict may say that it is there already, sent by an attempt whose answer was lost: the read-back tells.
  if (refused.httpStatus === 409 && !repeatable && readBack !== undefined) return SETTLE;
  return { status: 'give-up', reason: 'REFUSED_BY_SERVICE' };
}

/** A gateway may answer one read with its own page; one that always does is no API. */
const PAGE_TRIES = 3;

function afterDoubt(name: OperationName, { reason }: Unknown, attempt: Attempt): RetryDecision {
  const { repeatable, readBack, result }: Operation = operations[name];
  const isRead = result !== undefined;
  const isLasting = reason !== 'html' || attempt.attempt >= PAGE_TRIES;
  if (isRead && UNREADABLE.has(reason) && isLasting) return { status: 'give-up', reason: 'SERVICE_UNREADABLE' };
  if (!repeatable) {
    return readBack === undefined ? { status: 'give-up', reason: 'CANNOT_BE_CHECKED' } : SETTLE;
  }
  if (attempt.attempt >= MAX_ATTEMPTS) {
    return { status: 'give-up', reason: isRead && reason === 'unreadable' ? 'SERVICE_UNREADABLE' : 'GAVE_UP' };
  }
  return { status: 'retry', afterMs: backoffMs(attempt), spendsAttempt: true, isTrouble: true };
}

function waitFor(afterMs: number, { isTrouble }: { isTrouble: boolean }): RetryDecision {
  return { status: 'retry', afterMs, spendsAttempt: false, isTrouble };
}
