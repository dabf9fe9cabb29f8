/** The account that is a target: what of it is needed, and what a failed call to it means for a delivery. */
import type { RetryTaken } from '../budget/budget.ts';
import type { Client } from '../client/client.ts';
import type { Dialect } from '../client/dialect.ts';
import { type Failure, isKeyRefused } from '../client/retry-policy.ts';
import type { OperationName } from '../contract/operations.ts';
import type { TargetFailure } from './target.ts';

/** Its calls are paced by its own budget. */
export interface ServiceAccount {
  readonly name: string;
  readonly client: Pick<Client, 'call' | 'stream'>;
  readonly dialect: Dialect;
  /** How long after a call its effect may still come. */
  readonly settleMs: number;
  /** Where a person fixes a key that is refused. */
  readonly keySource: string;
  /** Tries the key with a read. */
  checkKey(): Promise<{ readonly status: 'accepted' | 'refused' | 'unclear' }>;
  /** Before a read is repeated. */
  takeRetry(): Promise<RetryTaken>;
}

const MAX_WORDS = 300;
/** The budget's store is away, or a pause of which nobody says how long. */
const SOON_MS = 2_000;

/** `REJECTED`: the service said no to this very call, and nothing changed there. */
export async function serviceFailure(
  failure: Failure,
  operation: OperationName,
  account: ServiceAccount,
): Promise<TargetFailure> {
  const words = 'message' in failure ? failure.message.slice(0, MAX_WORDS) : 'the service asks to slow down';
  const detail = `${operation} of account ${account.name}: ${words}`;
  switch (failure.status) {
    case 'limited':
      return { status: 'later', reason: 'LIMITED', detail, retryAfterMs: failure.retryAfterMs, isLimited: true };
    case 'not-sent':
      return notSent(failure, detail);
    case 'unknown': {
      const reason = (failure.reason ?? 'unknown').toUpperCase().replaceAll('-', '_');
      return { status: 'later', reason, detail, ...answerOf(failure) };
    }
    case 'refused':
      return isKeyRefused(failure)
        ? afterKeyRefused(failure, detail, account)
        : { status: 'refused', reason: 'REJECTED', detail, ...answerOf(failure) };
    default:
      return failure satisfies never;
  }
}

/** Waiting for a token is no attempt, and neither is what the breaker holds back. */
const LIMITS: ReadonlySet<string> = new Set(['BUDGET', 'HELD_BACK']);
const NOT_SENT = {
  budget: 'BUDGET',
  'budget-away': 'BUDGET',
  deadline: 'BUDGET',
  breaker: 'HELD_BACK',
  aborted: 'ABORTED',
  closed: 'ABORTED',
  certificate: 'CERTIFICATE',
  unreachable: 'UNREACHABLE',
};

function notSent(
  { reason: why, retryAfterMs }: Extract<Failure, { status: 'not-sent' }>,
  detail: string,
): TargetFailure {
  const reason = NOT_SENT[why ?? 'unreachable'];
  const limit = LIMITS.has(reason) ? { retryAfterMs: retryAfterMs ?? SOON_MS, isLimited: true } : {};
  return { status: 'later', reason, detail, ...limit };
}

/** A service may refuse one task in the words, or with the status, in which it refuses a key: a read tells which. */
async function afterKeyRefused(
  failure: Extract<Failure, { status: 'refused' }>,
  detail: string,
  account: ServiceAccount,
): Promise<TargetFailure> {
  const key = await account.checkKey();
  const answer = answerOf(failure);
  if (key.status === 'accepted') return { status: 'refused', reason: 'REJECTED', detail, ...answer };
  if (key.status === 'unclear') return { status: 'later', reason: 'KEY_UNCLEAR', detail, ...answer };
  const remedy = `put the right key where ${account.keySource} says it is, then enable the target`;
  return { status: 'disabled', reason: 'TOKEN_REFUSED', detail: `${detail}; ${remedy}`, ...answer };
}

function answerOf({ httpStatus }: { readonly httpStatus?: number }) {
  return httpStatus === undefined ? {} : { answer: { httpStatus } };
}
