/**
 * Reads with retries: a few immediate tries by the retry policy, then the job frees its slot. For the budget a read waits
 * as long as necessary: an interrupted list starts again from its beginning and would never finish on a small budget. (A
 * read that waits long holds no worker slot: see parked.ts.)
 */
import { pause } from '../../base/pause.ts';
import type { CallOptions, StreamOptions } from '../../client/call/client.ts';
import { type Applied, callsFor, type Streamed } from '../../client/call/outcome.ts';
import {
  backoffMs,
  decideRetry,
  type Failure,
  MAX_ATTEMPTS,
  type RetryDecision,
} from '../../client/call/retry-policy.ts';
import type { ShownApart } from '../../client/lists/repeated-ids.ts';
import type { OperationName } from '../../contract/operations.ts';
import { addNote, type RunProgress, recordAwaited, recordProgress } from '../ledger/runs.ts';
import type { JobContext } from '../worker/job.ts';
import type { Account } from './account.ts';
import { OperationForbidden, RetryLater, stopFor } from './failure.ts';
import { stopAfterRefusal } from './key-check.ts';

/** A key without quota gets one such answer and waits as long as it asks. This many in a row are not caused by the rate. */
export const LIMITED_IN_A_ROW = 20;
const SLOW_DOWN_MS = 2_000;
/** A gateway may forbid a read by mistake: it is tried again, once, after this time. */
const FORBIDDEN_MS = 1_000;
/** How long a read waits for a cache to ask the service again. */
const CACHED_MS = 5_000;
/** It waits so often in place: a list that begins again finds the pages of its last try in the cache. */
const CACHED_IN_A_ROW = 12;

export interface ReadOptions {
  /**
   * Receives the number of calls once the read got an answer, which may be a refusal: a run with no calls has never had an answer. Of a
   * read that got none, it only receives that there were calls.
   */
  readonly onCalls?: (calls: {
    readonly calls: number;
    readonly limited: number;
    readonly callsMissed?: true;
  }) => Promise<unknown>;
  /** Immediate tries. Default 5. */
  readonly tries?: number;
  /** Called before each try: discard the records of earlier tries. */
  readonly onTry?: () => void;
}

/** How a run reads: in its lane, until it is stopped; the ledger counts the calls. */
export function readsOf({ pool, run, signal }: Pick<JobContext<unknown>, 'pool' | 'run' | 'signal'>) {
  return { lane: run.lane, signal, onCalls: (made: RunProgress) => recordProgress(pool, run.id, made) };
}

/** Calls a repeatable operation until it gets an answer. @throws Stop */
export function readCall(
  account: Account,
  operation: OperationName,
  options: CallOptions & ReadOptions,
): Promise<Applied> {
  return untilApplied(account, operation, options, (isRetry) =>
    account.client.call(operation, { ...options, isRetry }),
  );
}

/** Streams a list until it is complete; a retry hands its records over again. @throws Stop */
export function readStream(
  account: Account,
  operation: OperationName,
  options: StreamOptions & ReadOptions,
): Promise<Streamed> {
  return untilApplied(account, operation, options, async (isRetry) => {
    options.onTry?.();
    let hasRecords = false;
    const onRecords: StreamOptions['onRecords'] = (records) => {
      hasRecords = true;
      return options.onRecords(records);
    };
    try {
      return await account.client.stream(operation, { ...options, isRetry, onRecords });
    } catch (error) {
      if (hasRecords) await options.onCalls?.({ calls: 1, limited: 0 }); // its reader has seen enough
      throw error;
    }
  });
}

/** The decision for an answer without an immediate retry. */
function lastOf(operation: OperationName, failure: Failure): Exclude<RetryDecision, { status: 'suspend' }> {
  const last = decideRetry(operation, failure, { attempt: MAX_ATTEMPTS, random: Math.random() });
  return last.status === 'suspend' ? { status: 'give-up', reason: 'GAVE_UP' } : last;
}

/** The error for a service that answers every call with a rate limit. */
export function nothingButLimited(what: string): RetryLater {
  const words = `the service answered with a rate limit ${LIMITED_IN_A_ROW} times in a row`;
  return new RetryLater(`${what}: ${words} (HTTP 429): check the key’s quota`, SLOW_DOWN_MS);
}

/** An answer that was given before, and may lack what was written since. */
function fromCache(operation: OperationName, ageS: number): RetryLater {
  const words = `a cache has answered with what the service said ${ageS} s ago, so new records may be missing`;
  return new RetryLater(`${operation}: ${words}. Let the calls of Lockstep bypass the cache`, CACHED_MS);
}

/**
 * Replicas and caches agree about a record once `settle` has passed since it changed. A list whose pages show it differently is read again
 * then, once in each phase of a run.
 */
export async function againOnceSettled(
  { pool, run, account }: Pick<JobContext<unknown>, 'pool' | 'run' | 'account'>,
  apart: ShownApart,
): Promise<ShownApart | RetryLater> {
  const waited = `${run.phase}: pages that differ`;
  if (run.listsAwaited.includes(waited)) return apart;
  await recordAwaited(pool, run.id, waited);
  const why = `read a list again, because two of its pages showed record ${apart.id} differently`;
  await addNote(pool, run.id, why);
  return new RetryLater(why, account.settleMs, { isFailure: false });
}

/** The calls of a read so far. `isAnswered`: it has an answer that another try does not change. */
interface Made {
  calls: number;
  limited: number;
  /** Tries that failed, and not because of a limit. */
  failed: number;
  /** Answers of a cache. */
  cached: number;
  isAnswered: boolean;
  /** It was refused once, with a key that the service accepts. */
  wasForbidden: boolean;
}

function countsOf({ calls, limited }: Made): Pick<Made, 'calls' | 'limited'> {
  return { calls, limited };
}

async function untilApplied<T extends Applied | Streamed>(
  account: Account,
  operation: OperationName,
  options: CallOptions & ReadOptions,
  call: (isRetry: boolean) => Promise<T | Failure>,
): Promise<T> {
  const made: Made = { calls: 0, limited: 0, failed: 0, cached: 0, isAnswered: false, wasForbidden: false };
  try {
    const outcome = await answered(account, operation, options, call, made);
    await options.onCalls?.(countsOf(made));
    return outcome;
  } catch (error) {
    if (made.isAnswered) await options.onCalls?.(countsOf(made));
    else if (made.calls > 0) await options.onCalls?.({ calls: 0, limited: 0, callsMissed: true });
    throw error;
  }
}

async function answered<T extends Applied | Streamed>(
  account: Account,
  operation: OperationName,
  options: CallOptions & ReadOptions,
  call: (isRetry: boolean) => Promise<T | Failure>,
  made: Made,
): Promise<T> {
  for (;;) {
    const outcome = await call(made.failed > 0);
    made.calls += callsFor(outcome);
    if (outcome.status === 'applied') {
      if (outcome.cachedForS === undefined) return outcome;
      made.isAnswered = true;
      if (++made.cached > CACHED_IN_A_ROW || options.signal?.aborted) throw fromCache(operation, outcome.cachedForS);
      await pause(CACHED_MS, options.signal);
      continue;
    }
    const waitMs = await waitAfter(outcome, account, operation, options, made);
    await pause(waitMs, options.signal); // if aborted, the next try reports it
  }
}

/** How long to wait before the next try. @throws Stop if there is none */
async function waitAfter(
  failure: Failure,
  account: Account,
  operation: OperationName,
  { signal, tries = MAX_ATTEMPTS }: CallOptions & ReadOptions,
  made: Made,
): Promise<number> {
  const attempt = made.failed + 1;
  const decision = decideRetry(operation, failure, { attempt, random: Math.random() });
  made.isAnswered = failure.status === 'refused' && decision.status !== 'retry';
  if (decision.status === 'suspend') {
    const stop = await stopAfterRefusal(account, failure, operation, made);
    if (!(stop instanceof OperationForbidden) || made.wasForbidden || signal?.aborted) throw stop;
    made.wasForbidden = true;
    return FORBIDDEN_MS;
  }
  const stop = stopFor(decision, failure, account, operation);
  if (decision.status !== 'retry' || signal?.aborted) throw stop;
  if (failure.status === 'limited') {
    made.limited++;
    if (made.limited > LIMITED_IN_A_ROW) throw nothingButLimited(operation);
    return decision.afterMs;
  }
  if (!decision.isFailure) throw stop;
  if (attempt >= tries) throw stopFor(lastOf(operation, failure), failure, account, operation);
  made.failed++;
  const token = decision.spendsAttempt ? await account.takeRetry() : undefined;
  if (token?.status === 'empty') throw new RetryLater(stop.message, token.retryAfterMs);
  return Math.min(decision.afterMs, backoffMs({ attempt: attempt + 1, random: Math.random() }));
}
