/**
 * What an operator does with runs: cancel, resume, approve, retry. A worker continues what is opened here. Each function
 * throws a LockstepError that says why it cannot be done, and what to do instead; `hint` completes the commands in it.
 */
import type pg from 'pg';
import { LockstepError, wrongUse } from '../base/errors.ts';
import { otherScope } from '../engine/account/identity.ts';
import { approveRun, awaitsApproval, declineRun, NOT_APPROVED } from '../engine/ledger/approval.ts';
import { NEXT_AUDIT_MINUTES } from '../engine/ledger/audit-debts.ts';
import { isHalfRead, runRemedy } from '../engine/ledger/run-remedy.ts';
import { acknowledgeRun, cancelledBy, endRun, resumeRun } from '../engine/ledger/run-status.ts';
import { isUnfinished, type Run, readRun } from '../engine/ledger/runs.ts';
import { scopeNamed } from '../engine/ledger/scopes/scopes.ts';
import type { Queryable } from '../storage/queryable.ts';
import { type Transactional, together } from '../storage/transaction.ts';
import { forgetReceived, readLoad } from '../syncs/orders/begin-load.ts';
import { approveFirst } from '../syncs/orders/load-approval.ts';
import { reopenLoad } from '../syncs/orders/reopen-load.ts';
import { againCommand } from './hints.ts';

type Hint = (command: string) => string;

/**
 * Ends an unfinished run for good, also one that awaits approval. `by`: who does it. `declines`: only one that awaits approval.
 * @throws LockstepError RUN_ENDED, APPROVAL_OVER
 */
export function cancelRun(db: Transactional, { id }: Run, by: string, declines = false): Promise<void> {
  return together(db, async (one) => {
    await one.query('select from ledger.runs where id = $1 for update', [id]); // another person may approve or end it just now
    await cancelAsItIs(one, await readRun(one, id), by, declines);
  });
}

async function cancelAsItIs(db: Transactional, run: Run, by: string, declines: boolean): Promise<void> {
  if (declines && isUnfinished(run) && !awaitsApproval(run)) {
    const message = `Run ${run.id} no longer waits for approval, so nothing was done. To stop it, cancel it.`;
    throw wrongUse(message, 'APPROVAL_OVER');
  }
  if (isHalfRead(run)) await forgetReceived(db, run.id);
  const why = cancelledBy(by, whatCancelled(run));
  const ended = await (awaitsApproval(run) ? declineRun(db, run.id, by) : endRun(db, run.id, 'cancelled', why));
  if (!ended) throw alreadyEnded(run, 'There is nothing to cancel.');
}

/** What a person has to know about the cancelled run; undefined if it is what they expect. */
function whatCancelled(run: Run): string | undefined {
  if (isHalfRead(run)) return ' before the whole file was read: nothing was sent. To load the file, load it again.';
  if (run.type !== 'audit') return undefined;
  return `. The audit is still due: a worker makes it again after ${NEXT_AUDIT_MINUTES} minutes.`;
}

/** Keeps that a person knows what is wrong with an ended run: status and alerts leave it out. @throws LockstepError RUN_UNFINISHED, RUN_ACKNOWLEDGED */
export async function acknowledgeProblems(db: Queryable, { id }: Run, by: string, hint: Hint): Promise<void> {
  if (await acknowledgeRun(db, id, `${by} has acknowledged its problems`)) return;
  if (isUnfinished(await readRun(db, id))) {
    const message = `Run ${id} is unfinished: only the problems of an ended run can be acknowledged. See: ${hint(`runs show ${id}`)}`;
    throw wrongUse(message, 'RUN_UNFINISHED');
  }
  throw wrongUse(`Run ${id} was acknowledged already.`, 'RUN_ACKNOWLEDGED');
}

interface Approving {
  readonly by: string;
  /** The name of the plan; default: the plan of the moment. */
  readonly seen?: string | undefined;
  /** How many orders of a load; default: all. */
  readonly first?: number | undefined;
}

/** @throws RunPaused RUN_OF_OTHER_TENANT */
async function requireItsTenant(db: Queryable, run: Run): Promise<void> {
  const now = await scopeNamed(db, run.account);
  if (now !== run.scope) throw otherScope(run, now);
}

/** Whether the run can be resumed. @throws LockstepError RUN_ENDED, RUN_OF_OTHER_TENANT, LOAD_NOT_RECEIVED */
export async function requireResumable(db: Queryable, run: Run, hint: Hint): Promise<void> {
  const { id, status, phase, account } = run;
  if (status === 'done' || status === 'cancelled')
    throw alreadyEnded(
      run,
      run.dryRun
        ? `A dry run has sent nothing that could be resumed. To send it: ${hint(againCommand(run))}`
        : `See its rows, and what to do about those that need work: ${hint(`runs show ${id}`)}`,
    );
  if (status === 'failed' && phase === undefined)
    throw alreadyEnded(
      run,
      `A later run has decided its records again, so there is nothing left to resume. See: ${hint(`runs show ${id}`)}`,
    );
  await requireItsTenant(db, run);
  const load = await readLoad(db, id);
  if (load?.isReceived !== false) return;
  const message = `The file ${load.fileName} of run ${id} was not read to its end, so nothing was sent. Load it again with the same command: ${hint(`orders load FILE --account ${account}`)}`;
  throw new LockstepError('LOAD_NOT_RECEIVED', message, { exitCode: 3 });
}

/**
 * Resumes a failed or paused run; of a run that awaits approval, the plan `seen` is approved, or of a load only its `first` orders.
 * Returns false for a running one, which stays as it is. `by`: who does it. @throws also PLAN_REPLACED, RUN_IN_THE_WAY, NO_PLAN_OF_A_LOAD
 */
export async function reopenRun(pool: pg.Pool, run: Run, approving: Approving, hint: Hint): Promise<boolean> {
  await requireResumable(pool, run, hint);
  const { by, seen = run.planId, first } = approving;
  const { id, status, resource } = run;
  if (first !== undefined && status === 'running') {
    const message = `Run ${id} is running already, so its first orders cannot be approved alone. See what it does: ${hint(`runs show ${id}`)}`;
    throw wrongUse(message, 'NO_PLAN_OF_A_LOAD');
  }
  if (first !== undefined && !(awaitsApproval(run) && (await readLoad(pool, id)))) {
    const { remedy, command } = runRemedy(run);
    const message = `Run ${id} is not a load that waits for approval, so its first orders cannot be approved alone. ${remedy}: ${hint(command)}`;
    throw wrongUse(message, 'NO_PLAN_OF_A_LOAD');
  }
  if (status === 'running') return false;
  const plan = { id, planId: seen };
  const approve = () => (first === undefined ? approveRun(pool, plan, by) : approveFirst(pool, plan, by, first));
  if (await (awaitsApproval(run) ? approve() : resumeRun(pool, id))) return true;
  const now = await readRun(pool, id);
  if (now.status !== status) return reopenRun(pool, now, { ...approving, seen }, hint); // another person was faster
  if (awaitsApproval(now) && now.planId !== seen) {
    const message = `Run ${id} shows another plan now than the one that you approve, so nothing is approved. See its plan, and approve that: ${hint(`runs show ${id}`)}`;
    throw new LockstepError('PLAN_REPLACED', message, { exitCode: 3 });
  }
  const message = `Run ${id} cannot be resumed: a newer run of the same sync, or one that writes the same ${resource}, is unfinished. See: ${hint('runs')}`;
  throw new LockstepError('RUN_IN_THE_WAY', message, { exitCode: 3 });
}

/**
 * Opens a load again for the rows that failed; returns how many. For a run of a sync `undefined`: a new run of the sync
 * retries them. @throws LockstepError RUN_IS_PART, RUN_APPLIED_PLAN, RUN_UNFINISHED, RUN_WAS_DRY, RUN_OF_OTHER_TENANT, ROWS_DELETED, NOTHING_FAILED, LOAD_STOPPING
 */
export async function retryLoad(pool: pg.Pool, run: Run, hint: Hint): Promise<number | undefined> {
  const { id, sync, status, dryRun, partOf, rowsPruned, options } = run;
  if (partOf !== undefined) {
    throw wrongUse(
      `Run ${id} is a part of run ${partOf}. Retry that run: ${hint(`runs retry ${partOf}`)}`,
      'RUN_IS_PART',
    );
  }
  if ((await readLoad(pool, id)) === undefined) {
    if (options.plan === undefined) return undefined;
    const message = `Run ${id} applied a plan. Apply it again for the rows that failed: ${hint('apply FILE')}, or run the sync without a plan: ${hint(`run ${sync}`)}`;
    throw wrongUse(message, 'RUN_APPLIED_PLAN');
  }
  if (isUnfinished({ status })) {
    const { remedy, command } = runRemedy(run);
    throw wrongUse(`Run ${id} is unfinished. ${remedy}: ${hint(command)}`, 'RUN_UNFINISHED');
  }
  if (dryRun) {
    const message = `Run ${id} was a dry run, which sends nothing. To send its rows, load its file with the same options, but without --dry-run and --plan: ${hint(againCommand(run))}`;
    throw wrongUse(message, 'RUN_WAS_DRY');
  }
  await requireItsTenant(pool, run);
  const rows = await reopenLoad(pool, id);
  if (rows === undefined) return retryLoad(pool, await readRun(pool, id), hint); // another person was faster
  if (rows === 0 && rowsPruned > 0) {
    const message = `The rows of run ${id} were deleted because of their age. Load its file again with --again: orders that exist are found, not created twice`;
    throw wrongUse(message, 'ROWS_DELETED');
  }
  if (rows === 0)
    throw wrongUse(
      `Run ${id} has no rows to retry. Rows that are not valid need a corrected file; rows in review need a decision: ${hint('review')}`,
      'NOTHING_FAILED',
    );
  return rows;
}

function alreadyEnded(run: Run, remedy: string): Error {
  const words = {
    done: 'is done',
    failed: 'has failed',
    cancelled: run.errorCode === NOT_APPROVED ? 'was not approved' : 'was cancelled',
    running: 'is running',
    paused: 'is paused',
  };
  return wrongUse(`Run ${run.id} ${words[run.status]}. ${remedy}`, 'RUN_ENDED');
}
