/**
 * Reads that may be repeated: a few tries in place with full jitter, then the job gives its slot back. For the budget they
 * wait in place, however long: a list half read would be read from its beginning again, and never to its end where the
 * budget is small.
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { CallOptions, StreamOptions } from '../client/client.ts';
import type { Applied, Outcome, Streamed, StreamOutcome } from '../client/outcome.ts';
import type { OperationName } from '../contract/operations.ts';
import type { Account } from './accounts.ts';
import { RunFailed, troubleOf } from './trouble.ts';

const TRIES = 5;
const BASE_MS = 200;
const CAP_MS = 5_000;

export interface ReadOptions {
  /** Told of the calls it took, once the read was answered: a run without any call has never had an answer. */
  readonly onCalls?: (calls: { readonly calls: number; readonly limited: number }) => Promise<void>;
  /** Tries in place. Default 5. */
  readonly tries?: number;
}

/** Calls a repeatable operation until it is answered. @throws RunFailed, ComeBack */
export function readCall(
  account: Account,
  operation: OperationName,
  options: CallOptions & ReadOptions,
): Promise<Applied> {
  return untilApplied(account, operation, options, () => account.client.call(operation, options));
}

/** Streams a list until it has come whole; records of a broken try are handed over again. @throws RunFailed, ComeBack */
export function readStream(
  account: Account,
  operation: OperationName,
  options: StreamOptions & ReadOptions,
): Promise<Streamed> {
  return untilApplied(account, operation, options, () => account.client.stream(operation, options));
}

async function untilApplied<T extends { status: 'applied' }>(
  account: Account,
  operation: OperationName,
  { signal, tries = TRIES, onCalls }: CallOptions & ReadOptions,
  attempt: () => Promise<T | Exclude<Outcome | StreamOutcome, { status: 'applied' }>>,
): Promise<T> {
  const made = { calls: 0, limited: 0 };
  for (let tried = 1; ; ) {
    const outcome = await attempt();
    if (outcome.status !== 'not-sent') made.calls++;
    if (outcome.status === 'applied') {
      await onCalls?.(made);
      return outcome;
    }
    const trouble = troubleOf(outcome, account, operation);
    if (trouble instanceof RunFailed || signal?.aborted) throw trouble;
    const isLimited = outcome.status === 'limited';
    if (isLimited) made.limited++;
    const waitMs = isLimited ? trouble.inMs : Math.random() * Math.min(CAP_MS, BASE_MS * 2 ** tried);
    if (!isLimited && (!trouble.isTrouble || tried++ === tries)) throw trouble;
    await delay(waitMs, undefined, { signal }).catch(() => undefined); // aborted: the next try says so
  }
}
