/** Approval by a person of what a run would write, and plans: both bind a run to the writes that the person has seen. */
import type { Queryable } from '../../storage/queryable.ts';
import { type Transactional, together } from '../../storage/transaction.ts';
import { endRun, resumeRun } from './run-status.ts';
import { AWAITS_CONFIRMATION, addNote, type Run } from './runs.ts';
import { reopenRows, settleRows } from './transitions.ts';

/** The error code of a cancelled run that a person did not approve. */
export const NOT_APPROVED = 'NOT_APPROVED';

export interface Approval {
  /** User and host. */
  readonly by: string;
  readonly at: Date;
}

/** Whether it waits for the approval of a person. */
export function awaitsApproval({ status, errorCode }: Pick<Run, 'status' | 'errorCode'>): boolean {
  return status === 'paused' && errorCode === AWAITS_CONFIRMATION;
}

/**
 * Approves the plan that a paused run has shown, and resumes it: from now on it writes nothing else. A run of an earlier version
 * has not stored what it showed, and asks again. `by`: user and host. False if it shows another plan now, or none, or if it
 * cannot be resumed (`resumeRun`).
 */
export function approveRun(pool: Transactional, { id, planId }: ShownPlan, by: string): Promise<boolean> {
  return together(pool, async (db) => {
    const shown = await db.query(
      `select from ledger.runs where id = $1 and status = 'paused' and error_code = $2 and coalesce(plan_id, '') = $3 for update`,
      [id, AWAITS_CONFIRMATION, planId ?? ''],
    );
    if (shown.rowCount === 0 || !(await resumeRun(db, id))) return false;
    await db.query(
      `update ledger.runs u set approved_by = $2, approved_at = clock_timestamp(),
         is_bound = exists (select from ledger.shown s where s.run_id = $1)
       where id = $1`,
      [id, by],
    );
    return true;
  });
}

/**
 * Settles all writes that a run has shown except the `first` ones, until `releaseRest`. Runs in the transaction of the approval.
 * Returns how many.
 */
export function holdRest(db: Queryable, id: string, first: number): Promise<number> {
  return settleRows(db, id, {
    sql: `select n, 'unknown' as verdict, 'NOT_APPROVED_YET' as reason, null::jsonb as facts, null::text as record_id
      from ledger.shown where run_id = $1 order by n offset $2`,
    values: [first],
  });
}

/** Opens the writes that were held, and unbinds the run from what was approved. Returns how many. */
export async function releaseRest(db: Queryable, id: string): Promise<number> {
  const sql = `select n from ledger.verdicts where run_id = $1 and reason = 'NOT_APPROVED_YET'`;
  const rows = await reopenRows(db, id, { sql });
  if (rows > 0) await db.query('update ledger.runs set is_bound = false where id = $1', [id]);
  return rows;
}

/** A run with the plan that a person has seen. */
export type ShownPlan = Pick<Run, 'id' | 'planId'>;

/** Who approved what a run writes, or applied a plan; undefined if no one did. */
export async function approvalOf(db: Queryable, id: string): Promise<Approval | undefined> {
  const found = await db.query<Approval>(
    `select approved_by as "by", approved_at as at from ledger.runs where id = $1 and approved_by is not null`,
    [id],
  );
  return found.rows[0];
}

/** Cancels a run that a person did not approve; false if it has ended. */
export async function declineRun(db: Transactional, id: string, by: string): Promise<boolean> {
  const sent = await db.query('select from ledger.attempts where run_id = $1 limit 1', [id]);
  const what = sent.rowCount === 0 ? 'nothing was sent' : 'nothing more was sent';
  return endRun(db, id, 'cancelled', { code: NOT_APPROVED, message: `Not approved by ${by}: ${what}.` });
}

/** Binds a new run to the writes of a saved plan. Runs in the transaction that starts the run. `by`: user and host. */
export async function bindToPlan(db: Queryable, id: string, plan: AppliedPlan): Promise<void> {
  await db.query(
    `insert into ledger.shown (run_id, n, source_id, source, write, was)
     select $1, n, source_id, source, write, was from ledger.shown where run_id = $2`,
    [id, plan.id],
  );
  await db.query(
    `update ledger.runs set is_bound = true, approved_by = $2, approved_at = clock_timestamp() where id = $1`,
    [id, plan.by],
  );
  await addNote(db, id, `applies the plan of run ${plan.id}`);
}

export interface AppliedPlan {
  /** The dry run that saved it. */
  readonly id: string;
  /** User and host that apply it. */
  readonly by: string;
}

export interface PlanFile {
  /** Of the whole file, in hexadecimal. */
  readonly sha256: string;
  readonly savedBy: string;
}

/** Stores which file has the plan of a dry run; a later file replaces it. */
export async function keepPlanFile(db: Queryable, run: string, { sha256, savedBy }: PlanFile): Promise<void> {
  await db.query(
    `insert into ledger.plan_files (run_id, sha256, saved_by) values ($1, $2, $3)
     on conflict (run_id) do update set sha256 = excluded.sha256, saved_by = excluded.saved_by`,
    [run, sha256, savedBy],
  );
}

/** Undefined if no plan of this run was saved, or the run was deleted because of its age. */
export async function readPlanFile(db: Queryable, run: string): Promise<PlanFile | undefined> {
  const found = await db.query<PlanFile>(
    'select sha256, saved_by as "savedBy" from ledger.plan_files where run_id = $1',
    [run],
  );
  return found.rows[0];
}
