/** The task at the service, read and brought into a state: what comes of either, where nothing has to be thrown. */

import { recordIn } from '../client/decode.ts';
import { idOf, toWireId } from '../client/dialect.ts';
import { elapsedMs } from '../clock.ts';
import { LockstepError, messageOf } from '../errors.ts';
import { toTaskState } from '../tasks/task-state.ts';
import type { Account } from '../worker/accounts.ts';
import { readCall } from '../worker/reads.ts';
import { KeyRefused, RetryLater, RunFailed } from '../worker/trouble.ts';
import { write } from '../worker/writes.ts';
import type { PutOff } from './waiting.ts';

export type Later = { readonly status: 'later' } & Omit<PutOff, 'afterMs'> & { readonly afterMs: number | undefined };

export type TaskFound =
  /** `isCompleted` is undefined where the service does not say. */
  { readonly status: 'found'; readonly isCompleted: boolean | undefined } | { readonly status: 'missing' } | Later;

export type TaskWritten =
  | { readonly status: 'written' }
  | { readonly status: 'missing' | 'refused'; readonly detail: string }
  | Later;

/** Waits so long for the budget in place. */
export const BUDGET_PATIENCE_MS = 10_000;
/** A key that was refused is tried again by the runner, for all that is done with it. */
const KEY_REFUSED_MS = 60_000;

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
    return { status: 'later', reason: 'SERVICE_UNREADABLE', detail, isSpent: true, afterMs: undefined };
  } catch (error) {
    if (error instanceof RunFailed && error.code === 'SERVICE_REFUSED') return { status: 'missing' };
    return laterFor(error);
  }
}

/** Marks the task completed, or open again: sent as often as it takes, which leaves what sending it once leaves. */
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
      return { status: 'later', reason: 'SERVICE_AWAY', detail: written.message, isSpent: true, afterMs: undefined };
    case 'not-now':
      return written.stop === undefined ? NO_BUDGET : laterFor(written.stop);
    default:
      return written satisfies never;
  }
}

const NO_BUDGET: Later = {
  status: 'later',
  reason: 'BUDGET',
  detail: 'no token of the rate budget in time',
  isSpent: false,
  afterMs: 1_000,
};

/** Rethrows what is a defect. */
export function laterFor(error: unknown): Later {
  const detail = messageOf(error);
  if (error instanceof RetryLater)
    return { status: 'later', reason: 'SERVICE_AWAY', detail, isSpent: error.isTrouble, afterMs: error.inMs };
  if (error instanceof KeyRefused)
    return { status: 'later', reason: error.code, detail, isSpent: false, afterMs: KEY_REFUSED_MS };
  if (error instanceof LockstepError)
    return { status: 'later', reason: error.code, detail, isSpent: true, afterMs: undefined };
  throw error;
}
