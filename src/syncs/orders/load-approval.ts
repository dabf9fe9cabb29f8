/** A load that a person has to approve: because the person is at a terminal, because of its guards, or because of what it reads. */
import type pg from 'pg';
import { formatCount } from '../../base/counts.ts';
import { approveRun, holdRest, releaseRest, type ShownPlan } from '../../engine/ledger/approval.ts';
import { undecide } from '../../engine/ledger/matching/decide-orders.ts';
import { keepShown } from '../../engine/ledger/matching/shown-writes.ts';
import { loadedBefore } from '../../engine/ledger/repeated-loads.ts';
import { countRows } from '../../engine/ledger/rows.ts';
import { pauseRun } from '../../engine/ledger/run-status.ts';
import { AWAITS_CONFIRMATION, addNote, type Run, readRun } from '../../engine/ledger/runs.ts';
import type { JobContext, JobResult } from '../../engine/worker/job.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { exceeds, exceedsMessage, isGuarded } from '../guards.ts';
import { checkpointOf, type LoadCheckpoint, saveCheckpoint } from './load-checkpoint.ts';
import { type OrdersOptions, ordersRunOptions } from './options.ts';
import { repeatsWords } from './repeated-content.ts';

/** Whether a load needs approval although the person who loads the file does not wait for its plan. */
export async function isHeld(db: Queryable, run: Pick<Run, 'id' | 'options'>): Promise<boolean> {
  const options = ordersRunOptions.parse(run.options);
  if (isGuarded(options) || options.doubt !== undefined) return true;
  return (await loadedBefore(db, run.id))?.isLikely ?? false;
}

/** Whether it creates customers before anything else is known: not if a person may have to approve the load first. */
export async function createsNow(
  { pool, run, options }: Pick<JobContext<OrdersOptions>, 'pool' | 'run' | 'options'>,
  { isCleared }: LoadCheckpoint,
): Promise<boolean> {
  if (!options.createCustomers || run.dryRun) return false;
  return isCleared || run.isBound || !(options.confirm || (await isHeld(pool, run)));
}

/** The message that asks a person for approval; undefined if the load needs none, or has it. */
export async function whyApproval(
  db: Queryable,
  { run, options }: Pick<JobContext<OrdersOptions>, 'run' | 'options'>,
  { isCleared, isPartial }: LoadCheckpoint,
  writes: number,
): Promise<string | undefined> {
  if (run.isBound || isCleared) return undefined;
  if (isPartial) return 'The first orders were approved before. The load waits until the others are approved.';
  const repeat = await loadedBefore(db, run.id);
  if (repeat?.isLikely)
    return `Nothing is written yet: ${repeatsWords(repeat)}. Approve the load only if they are new orders; otherwise decline it, and load a file with the other rows.`;
  if (options.doubt !== undefined)
    return `Nothing is written yet: ${options.doubt}. Approve the load only if each line is an order; otherwise decline it.`;
  if (options.confirm) return 'Nothing is written yet: the load waits for approval.';
  const extent = { writes, of: (await countRows(db, run.id)).in };
  return exceeds(options, extent) ? exceedsMessage('rows', options, extent) : undefined;
}

/**
 * Runs in the transaction that planned the load: the load continues only after the operator approves it, and then
 * decides again from the current data.
 */
export async function askFirst(db: Queryable, run: Run, message: string): Promise<JobResult> {
  await keepShown(db, run);
  await undecide(db, run);
  await pauseRun(db, run.id, { code: AWAITS_CONFIRMATION, message });
  return { status: 'paused' };
}

/**
 * Approves only the first orders of the plan, in the order of the file. Once they are settled, the load plans the others again
 * and waits for their approval. False like `approveRun`. `by`: user and host.
 */
export function approveFirst(pool: pg.Pool, plan: ShownPlan, by: string, first: number): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    if (!(await approveRun(db, plan, by))) return false;
    const held = await holdRest(db, plan.id, first);
    if (held === 0) return true;
    await saveCheckpoint(db, plan.id, { ...checkpointOf(await readRun(db, plan.id)), isPartial: true });
    await addNote(
      db,
      plan.id,
      `at first, only the first ${formatCount(first)} of ${formatCount(first + held)} orders were approved`,
    );
    return true;
  });
}

/** Opens the orders that were not approved with the first ones, to plan them and ask for approval. False if all are approved. */
export async function planTheRest(db: Queryable, run: Pick<Run, 'id'>): Promise<boolean> {
  const checkpoint = checkpointOf(await readRun(db, run.id));
  if (!checkpoint.isPartial) return false;
  const isPartial = (await releaseRest(db, run.id)) > 0;
  await saveCheckpoint(
    db,
    run.id,
    isPartial ? { step: 'customers', isCleared: false, isPartial } : { ...checkpoint, isPartial },
  );
  return isPartial;
}
