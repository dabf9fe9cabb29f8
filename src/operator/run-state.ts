/**
 * The state of a run as people see it. The ledger knows that a run is unfinished; whether a process works on it, and what it
 * waits for, follows from other facts.
 */
import { NOT_APPROVED } from '../engine/ledger/approval.ts';
import { isAttended } from '../engine/ledger/attended-runs.ts';
import type { Audit } from '../engine/ledger/audit-debts.ts';
import { isHalfRead } from '../engine/ledger/run-remedy.ts';
import { AWAITS_CONFIRMATION, type Run } from '../engine/ledger/runs.ts';
import { suspensionOf } from '../engine/ledger/scopes/suspensions.ts';
import { WAITS_FOR_RUN, waitsFor } from '../engine/ledger/waiting-runs.ts';
import type { Queryable } from '../storage/queryable.ts';
import { isBeingReceived } from '../syncs/orders/begin-load.ts';
import { formatTime } from './format.ts';
import type { RunState } from './report.ts';

export async function runStateOf(db: Queryable, run: Run, audit: Audit | undefined): Promise<RunState> {
  switch (run.status) {
    case 'running':
      return run.attendedAt === undefined ? 'queued' : stateOfBegun(db, run);
    case 'paused':
      if (run.errorCode === AWAITS_CONFIRMATION) return 'awaiting-approval';
      if (run.errorCode === WAITS_FOR_RUN) return 'waiting';
      return isHalfRead(run) && (await isBeingReceived(db, run.id)) ? 'receiving' : 'paused';
    case 'done':
      return (audit?.open ?? 0) > 0 ? 'auditing' : 'done';
    case 'cancelled':
      return run.errorCode === NOT_APPROVED ? 'not-approved' : 'cancelled';
    default:
      return run.status;
  }
}

async function stateOfBegun(db: Queryable, run: Run): Promise<RunState> {
  const [attended, suspension] = await Promise.all([isAttended(db, run.id), suspensionOf(db, run.scope)]);
  // No worker could continue it before a person resumes the account; a refused key is tried by a worker.
  if (suspension?.code === 'ACCOUNT_SUSPENDED') return 'waiting';
  if (!attended) return 'interrupted';
  return waitsFor(run) === undefined && suspension === undefined ? 'running' : 'waiting';
}

/**
 * A few words for a list: `waiting for run-1`, `paused (DIALECT_DRIFTED)`, `auditing until 02:03`. `isAskedToWait`: with a rate
 * limit of the service.
 */
export function stateWords(state: RunState, run: Run, audit: Audit | undefined, isAskedToWait = false): string {
  const why = run.errorCode === undefined ? '' : ` (${run.errorCode})`;
  switch (state) {
    case 'receiving':
      return 'reading the file';
    case 'queued':
      return 'waiting for a worker';
    case 'running':
      if (run.failingSince !== undefined) return 'running, retrying after a failure';
      return `running${isAskedToWait ? ', waiting for the rate limit' : ''}`;
    case 'waiting': {
      const other = waitsFor(run);
      if (run.status === 'running' && other === undefined) return `waiting: account ${run.account} is suspended`;
      return `waiting for ${other ?? 'another run'}`;
    }
    case 'awaiting-approval':
      return 'awaiting approval';
    case 'paused':
      return isHalfRead(run) ? 'paused (file not read to its end)' : `${state}${why}`;
    case 'failed':
      return `${state}${why}`;
    case 'auditing':
      if (!audit?.dueAt) return 'auditing';
      return `${audit.dueAt.getTime() > Date.now() ? 'auditing until' : 'audit due since'} ${formatTime(audit.dueAt)}`;
    case 'not-approved':
      return 'not approved';
    default:
      return state;
  }
}
