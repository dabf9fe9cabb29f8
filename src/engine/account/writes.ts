/**
 * One write, by the retry policy: retried immediately if that is safe, and never if it might be applied twice. A refused
 * record is distinguished from a refused key, which concerns the whole account.
 */
import { elapsedMs } from '../../base/clock.ts';
import { pause } from '../../base/pause.ts';
import type { CallOptions } from '../../client/call/client.ts';
import { type Applied, callsFor } from '../../client/call/outcome.ts';
import { decideRetry, type Failure, type RetryDecision } from '../../client/call/retry-policy.ts';
import type { Operation } from '../../contract/operation.ts';
import { type OperationName, operations } from '../../contract/operations.ts';
import type { Account } from './account.ts';
import { OperationForbidden, operationForbidden, type Stop, stopFor, wordsOf } from './failure.ts';
import { lookAtContacts, stopAfterRefusal } from './key-check.ts';

export type Written =
  | { readonly status: 'applied'; readonly outcome: Applied }
  /** The service refused this record: nothing changed there. */
  | { readonly status: 'refused'; readonly httpStatus: number; readonly message: string }
  /**
   * It may have been applied: a read has to show it. `wasLimited`: by a send that was answered with a rate limit. `isThere`: the
   * service refused it, because the record exists.
   */
  | { readonly status: 'in-doubt'; readonly message: string; readonly wasLimited?: true; readonly isThere?: true }
  /** All sensible retries were made, or the outcome is unknown and no read can resolve it: the operator decides. */
  | { readonly status: 'given-up'; readonly message: string }
  /** Certainly not applied, to be sent later; `stop` is set if the whole run has to wait or end. */
  | { readonly status: 'not-now'; readonly stop: Stop | undefined };

export interface WriteReport {
  readonly written: Written;
  /** Number of calls, and how many were answered with a rate limit. */
  readonly calls: number;
  readonly limited: number;
  /** HTTP status of the last answer, if there was one. */
  readonly http: number | undefined;
  /** Duration of the last call, including the wait for the rate budget. */
  readonly ms: number;
}

export interface WriteOptions extends CallOptions {
  readonly dispatchBefore: number;
  readonly stopWaiting: AbortSignal;
  /** Earlier sends of the same row with an unknown outcome. */
  readonly sends: number;
  /** Name of the written record, unique for its operation. */
  readonly record: string;
}

const ALWAYS_LIMITED: Written = {
  status: 'in-doubt',
  message: 'the service answers reads, but each write with a rate limit',
  wasLimited: true,
};

/** What became of the write; if it could not be sent now, with the `stop` for the run (failure.ts), or without one if only this row waits. */
export async function write(account: Account, operation: OperationName, options: WriteOptions): Promise<WriteReport> {
  if (await mustReadBack(account, operation, options))
    return { calls: 1, limited: 0, http: undefined, ms: 0, written: ALWAYS_LIMITED };
  const made = { calls: 0 };
  let limited = 0;
  for (let attempt = options.sends + 1; ; attempt++) {
    const startedMs = elapsedMs();
    const outcome = await account.client.call(operation, made.calls === 0 ? options : { ...options, isRetry: true });
    const ms = elapsedMs() - startedMs;
    const http = outcome.status === 'not-sent' ? undefined : outcome.httpStatus;
    made.calls += callsFor(outcome);
    if (outcome.status === 'limited') {
      limited++;
      account.permissions.limited(operation, options.record);
    }
    if (outcome.status === 'applied') {
      account.permissions.worked(operation);
      return { ...made, limited, http, ms, written: { status: 'applied', outcome } };
    }
    const decision = decideRetry(operation, outcome, { attempt, random: Math.random() });
    const isRepeatedHere = decision.status === 'retry' && decision.spendsAttempt;
    if (isRepeatedHere && (await mayRepeat(account, decision.afterMs, options))) continue;
    const written: Written = isRepeatedHere
      ? { status: 'in-doubt', message: wordsOf(outcome) }
      : await writtenAfter(decision, outcome, account, operation, options.record, made);
    return { ...made, limited, http, ms, written };
  }
}

/** The service limits each write, and answers reads: then a write that it limits may be applied, and a read-back has to show it. */
async function mustReadBack(account: Account, operation: OperationName, options: WriteOptions): Promise<boolean> {
  const { repeatable, readBack }: Operation = operations[operation];
  if (repeatable || readBack === undefined) return false;
  if (!account.permissions.takeLimitDoubt(operation, options.record)) return false;
  return (await lookAtContacts(account.client, account.dialect, options)).status === 'applied';
}

/** Waits until it may be sent again; false if there is no time, no retry budget, or no more reason to. */
async function mayRepeat(
  account: Account,
  afterMs: number,
  { dispatchBefore, stopWaiting }: WriteOptions,
): Promise<boolean> {
  if (elapsedMs() + afterMs >= dispatchBefore) return false;
  if ((await account.takeRetry()).status === 'empty') return false;
  await pause(afterMs, stopWaiting);
  return !stopWaiting.aborted;
}

async function writtenAfter(
  decision: RetryDecision,
  failure: Failure,
  account: Account,
  operation: OperationName,
  record: string,
  made: { calls: number },
): Promise<Written> {
  const message = wordsOf(failure);
  switch (decision.status) {
    case 'settle':
      return { status: 'in-doubt', message, ...(failure.status === 'refused' && { isThere: true }) };
    case 'retry':
      return {
        status: 'not-now',
        stop: isRowsOwn(failure) ? undefined : stopFor(decision, failure, account, operation),
      };
    case 'suspend':
      return afterKeyRefused(failure, account, operation, record, made);
    case 'give-up':
      switch (decision.reason) {
        case 'REFUSED_BY_SERVICE':
          return refused(failure);
        case 'GAVE_UP':
        case 'CANNOT_BE_CHECKED':
          return { status: 'given-up', message };
        default:
          return { status: 'not-now', stop: stopFor(decision, failure, account, operation) };
      }
    default:
      return decision satisfies never;
  }
}

/** Whether only this row has to wait: other rows may still be sent. */
function isRowsOwn(failure: Failure): boolean {
  if (failure.status === 'limited') return true;
  return failure.status === 'not-sent' && ['deadline', 'aborted', 'closed'].includes(failure.reason ?? '');
}

/**
 * A service may refuse one record or one operation with the same message or status as a key. A read shows whether the key
 * is refused; the results of other records show whether the record or the operation is.
 */
async function afterKeyRefused(
  failure: Failure,
  account: Account,
  operation: OperationName,
  record: string,
  made: { calls: number },
): Promise<Written> {
  const stop = await stopAfterRefusal(account, failure, operation, made);
  if (!(stop instanceof OperationForbidden)) return { status: 'not-now', stop };
  const forbidden = account.permissions.refused(operation, record);
  switch (forbidden.status) {
    case 'record':
      return refused(failure);
    case 'again':
      return { status: 'not-now', stop: undefined };
    case 'operation':
      return { status: 'not-now', stop: operationForbidden(account, failure, operation, forbidden.records) };
    default:
      return forbidden satisfies never;
  }
}

function refused(failure: Failure): Written {
  const httpStatus = 'httpStatus' in failure ? (failure.httpStatus ?? 0) : 0;
  return { status: 'refused', httpStatus, message: wordsOf(failure) };
}
