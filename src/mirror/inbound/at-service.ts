/** Reads the task at the service and sets its state. Failures are returned, and only defects are thrown. */
import { elapsedMs } from '../../base/clock.ts';
import { LockstepError, messageOf } from '../../base/errors.ts';
import { recordIn } from '../../client/call/decode.ts';
import { idOf, toWireId } from '../../client/call/dialect.ts';
import type { Account } from '../../engine/account/account.ts';
import { KeyRefused, RetryLater, RunFailed } from '../../engine/account/failure.ts';
import { readCall } from '../../engine/account/reads.ts';
import { write } from '../../engine/account/writes.ts';
import { AccountSuspended } from '../../engine/ledger/scopes/suspensions.ts';
import { toTaskState } from '../tasks/task-state.ts';
import type { PutOff } from './waiting-reports.ts';

/** It is tried again after this time, or later if it has failed before. */
export type Later = { readonly status: 'later' } & Omit<PutOff, 'afterMs'> & { readonly afterMs?: number | undefined };

export type TaskFound =
  /** `isCompleted` is undefined if the service does not say. */
  { readonly status: 'found'; readonly isCompleted: boolean | undefined } | { readonly status: 'missing' } | Later;

export type TaskWritten =
  | { readonly status: 'written' }
  | { readonly status: 'missing' | 'refused'; readonly detail: string }
  | Later;

/** How long a call waits for the budget before it is put off. */
export const BUDGET_PATIENCE_MS = 10_000;
/** The runner retries a refused key, for all work that uses it; a person resumes a suspended account. */
const SUSPENDED_MS = 60_000;

export async function findTask(account: Account, id: string, signal: AbortSignal): Promise<TaskFound> {
  try {
    const how = {
      lane: 'batch',
      signal,
      query: { id: toWireId(id) },
      maxWaitMs: BUDGET_PATIENCE_MS,
      tries: 2,
    } as const;
    const { content } = await readCall(account, 'tasks.get', how);
    const record = recordIn(content, account.dialect, 'tasks');
    if (record === undefined || idOf(record, 'tasks', account.dialect) !== id) return { status: 'missing' };
    const read = toTaskState(record, account.dialect);
    if (read.status === 'read')
      return { status: 'found', isCompleted: read.saysCompletion ? read.task.isCompleted : undefined };
    const detail = `the answer to tasks.get does not say in a known way whether task ${id} is completed`;
    return { status: 'later', reason: 'SERVICE_UNREADABLE', detail, isSpent: true };
  } catch (error) {
    if (error instanceof RunFailed && error.code === 'SERVICE_REFUSED') return { status: 'missing' };
    return laterFor(error);
  }
}

/** Marks the task completed or open. Retries are safe: sending it several times has the effect of sending it once. */
export async function completeTask(
  account: Account,
  id: string,
  isCompleted: boolean,
  signal: AbortSignal,
): Promise<TaskWritten> {
  const { written } = await write(account, 'tasks.complete', {
    lane: 'batch',
    path: { task_id: toWireId(id) },
    body: { isCompleted },
    stopWaiting: signal,
    maxWaitMs: BUDGET_PATIENCE_MS,
    dispatchBefore: elapsedMs() + BUDGET_PATIENCE_MS,
    sends: 0,
    record: id,
  });
  switch (written.status) {
    case 'applied':
      return { status: 'written' };
    case 'refused': {
      const isMissing = written.httpStatus === 404 || written.httpStatus === 410;
      return { status: isMissing ? 'missing' : 'refused', detail: written.message };
    }
    case 'in-doubt':
    case 'given-up':
      return { status: 'later', reason: 'NO_ANSWER', detail: written.message, isSpent: true };
    case 'not-now':
      return written.stop === undefined ? NO_BUDGET : laterFor(written.stop);
    default:
      return written satisfies never;
  }
}

const NO_BUDGET: Later = {
  status: 'later',
  reason: 'BUDGET',
  detail: 'the rate budget granted no token in time',
  isSpent: false,
  afterMs: 1_000,
};

/** Rethrows defects. */
export function laterFor(error: unknown): Later {
  const detail = messageOf(error);
  if (error instanceof RetryLater)
    return { status: 'later', reason: 'NO_ANSWER', detail, isSpent: error.isFailure, afterMs: error.inMs };
  if (error instanceof KeyRefused || error instanceof AccountSuspended)
    return { status: 'later', reason: error.code, detail, isSpent: false, afterMs: SUSPENDED_MS };
  if (error instanceof LockstepError) return { status: 'later', reason: error.code, detail, isSpent: true };
  throw error;
}
