/** The account of a target: the parts that are needed, and what a failed call means for a delivery. */
import type { RetryTaken } from '../../../client/budget/budget.ts';
import type { Client } from '../../../client/call/client.ts';
import type { Dialect } from '../../../client/call/dialect.ts';
import { type Failure, isKeyRefused } from '../../../client/call/retry-policy.ts';
import type { OperationName } from '../../../contract/operations.ts';
import type { TargetFailure } from '../../../contract/target.ts';

/** Its own budget paces its calls. */
export interface ServiceAccount {
  readonly name: string;
  readonly client: Pick<Client, 'call' | 'stream'>;
  readonly dialect: Dialect;
  /** How long after a call the service may still apply it. */
  readonly settleMs: number;
  /** Where a person fixes a refused key. */
  readonly keySource: string;
  checkKey(): Promise<
    | { readonly status: 'accepted' }
    | { readonly status: 'refused'; readonly refused: { readonly message: string } }
    | { readonly status: 'unclear'; readonly why: string }
  >;
  /** Nothing is sent to the account until the service accepts its key. */
  suspend(why: string): Promise<void>;
  /** The wait before a read is retried. */
  takeRetry(): Promise<RetryTaken>;
}

const MAX_WORDS = 300;
/** The wait if the budget's store is unavailable, or if the service asks for a pause without a time. */
const SOON_MS = 2_000;
/** The wait until the next look whether the account has been resumed. */
const SUSPENDED_MS = 15_000;

/** `REJECTED`: the service refused this call, and nothing changed there. */
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

/** Waiting for a token or for the breaker spends no attempt. */
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

/** A service may refuse one task with the same message or status as a refused key. A read shows which it is. */
async function afterKeyRefused(
  failure: Extract<Failure, { status: 'refused' }>,
  detail: string,
  account: ServiceAccount,
): Promise<TargetFailure> {
  const key = await account.checkKey();
  const answer = answerOf(failure);
  if (key.status === 'accepted') return { status: 'refused', reason: 'REJECTED', detail, ...answer };
  if (key.status === 'unclear') {
    const unclear = `${detail}; whether it refuses the key is unclear: ${key.why}`;
    return { status: 'later', reason: 'KEY_UNCLEAR', detail: unclear, ...answer };
  }
  await account.suspend(key.refused.message);
  return { ...suspended(key.refused.message), ...answer };
}

/** All deliveries to the account wait, as its runs do. No run waits so long for a target (`isUnderWay`). */
export function suspended(detail: string): TargetFailure {
  return { status: 'later', reason: 'ACCOUNT_SUSPENDED', detail, retryAfterMs: SUSPENDED_MS, isLimited: true };
}

function answerOf({ httpStatus }: { readonly httpStatus?: number }) {
  return httpStatus === undefined ? {} : { answer: { httpStatus } };
}
