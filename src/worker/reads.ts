/**
 * Reads that may be repeated: a few tries in place by the retry policy, then the job gives its slot back. For the budget
 * they wait in place, however long: a list half read would be read from its beginning again, and never to its end where
 * the budget is small. (A read that waits long holds no worker slot: see parked.ts.)
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallOptions, StreamOptions } from '../client/client.ts';
import type { Applied, Streamed } from '../client/outcome.ts';
import { backoffMs, decideRetry, type Failure, MAX_ATTEMPTS, type RetryDecision } from '../client/retry-policy.ts';
import type { OperationName } from '../contract/operations.ts';
import type { Account } from './accounts.ts';
import { stopAfterRefusal } from './key-check.ts';
import { RetryLater, stopFor } from './trouble.ts';

/** A key whose quota is used up gets one such answer and waits as told; so many in a row without another come of no rate. */
export const LIMITED_IN_A_ROW = 20;
const SLOW_DOWN_MS = 2_000;

export interface ReadOptions {
  /** Told of the calls it took, once the read was answered: a run without any call has never had an answer. */
  readonly onCalls?: (calls: { readonly calls: number; readonly limited: number }) => Promise<unknown>;
  /** Tries in place. Default 5. */
  readonly tries?: number;
  /** Called before each try: what an earlier one has handed over is void. */
  readonly onTry?: () => void;
}

/** Calls a repeatable operation until it is answered. @throws Stop */
export function readCall(
  account: Account,
  operation: OperationName,
  options: CallOptions & ReadOptions,
): Promise<Applied> {
  return untilApplied(account, operation, options, (isRetry) =>
    account.client.call(operation, { ...options, isRetry }),
  );
}

/** Streams a list until it has come whole; records of a broken try are handed over again. @throws Stop */
export function readStream(
  account: Account,
  operation: OperationName,
  options: StreamOptions & ReadOptions,
): Promise<Streamed> {
  return untilApplied(account, operation, options, (isRetry) => {
    options.onTry?.();
    return account.client.stream(operation, { ...options, isRetry });
  });
}

/** What follows from an answer that is not asked for again in place. */
function lastOf(operation: OperationName, failure: Failure): Exclude<RetryDecision, { status: 'suspend' }> {
  const last = decideRetry(operation, failure, { attempt: MAX_ATTEMPTS, random: Math.random() });
  return last.status === 'suspend' ? { status: 'give-up', reason: 'GAVE_UP' } : last;
}

/** The error for a service that does nothing but tell to slow down. */
export function nothingButLimited(what: string): RetryLater {
  const words = `the service tells to slow down and nothing else, ${LIMITED_IN_A_ROW} times in a row`;
  return new RetryLater(`${what}: ${words} (HTTP 429): is the key’s quota used up?`, SLOW_DOWN_MS);
}

async function untilApplied<T extends { status: 'applied' }>(
  account: Account,
  operation: OperationName,
  { signal, tries = MAX_ATTEMPTS, onCalls }: CallOptions & ReadOptions,
  call: (isRetry: boolean) => Promise<T | Failure>,
): Promise<T> {
  const made = { calls: 0, limited: 0 };
  for (let attempt = 1; ; ) {
    const outcome = await call(attempt > 1);
    if (outcome.status !== 'not-sent') made.calls++;
    if (outcome.status === 'applied') {
      await onCalls?.(made);
      return outcome;
    }
    const decision = decideRetry(operation, outcome, { attempt, random: Math.random() });
    if (decision.status === 'suspend') throw await stopAfterRefusal(account, outcome, operation);
    const stop = stopFor(decision, outcome, account, operation);
    if (decision.status !== 'retry' || signal?.aborted) throw stop;
    let waitMs = decision.afterMs;
    if (outcome.status === 'limited') {
      if (++made.limited > LIMITED_IN_A_ROW) throw nothingButLimited(operation);
    } else {
      if (!decision.isTrouble) throw stop;
      if (attempt++ >= tries) throw stopFor(lastOf(operation, outcome), outcome, account, operation);
      const token = decision.spendsAttempt ? await account.takeRetry() : undefined;
      if (token?.status === 'empty') throw new RetryLater(stop.message, token.retryAfterMs);
      waitMs = Math.min(waitMs, backoffMs({ attempt, random: Math.random() }));
    }
    await delay(waitMs, undefined, { signal }).catch(() => undefined); // aborted: the next try says so
  }
}
