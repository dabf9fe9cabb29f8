/**
 * Opens a load that has ended once more, for what failed in it: such rows are decided anew, from reads that are made after
 * all they have sent has settled, so that nothing is sent twice. What succeeded stays as it is.
 */

import type pg from 'pg';
import { absenceAfterMs } from '../absence.ts';
import { inTransaction } from '../database/transaction.ts';
import { dropDeadClaims } from '../engine/ledger/claims.ts';
import { type Queryable, resumeRun } from '../engine/ledger/runs.ts';
import { LockstepError } from '../errors.ts';
import { keepPlace } from './place.ts';

/**
 * Rows to be decided again. Duplicates and what was sent and differs are there already, and what the list cannot show may be:
 * sending them again helps nothing. Copies of a row follow it.
 */
const FAILED = `(state <> 'settled' or verdict in ('rejected', 'review', 'unknown'))
  and coalesce(reason, '') not in ('DUPLICATE', 'CONTENT_DIFFERS', 'NOT_RECOGNISED', 'NOT_IN_LIST', 'DUP_IN_FILE')`;

/** Answers how many rows are tried again; with 0 the load is left as it is. @throws LockstepError LOAD_STOPPING, RUN_IN_THE_WAY */
export async function reopenLoad(pool: pg.Pool, runId: string): Promise<number> {
  await dropDeadClaims(pool);
  return inTransaction(pool, async (db) => {
    await db.query('select 1 from ledger.runs where id = $1 for update', [runId]);
    await refuseWhileSending(db, runId);
    // A row that was refused has sent nothing that may still be committed; any other may, even one whose claim was lost.
    // A name that gave a row its customer is looked up again; an id that the file gave stays.
    const staged = await db.query(
      `update ledger.rows set state = 'staged', verdict = null, reason = null, detail = null, action = null,
         record_id = null,
         client_id = case when customer is null then client_id end
       where run_id = $1 and ${FAILED}`,
      [runId],
    );
    const rows = staged.rowCount ?? 0;
    if (rows === 0) return 0;
    await keepPlace(db, runId, { step: 'customers', isShown: true });
    await db.query(
      `update ledger.runs set status = 'failed', phase = 'load-orders', counts = null,
         rows_settled = (select count(*) from ledger.rows where run_id = $1 and state = 'settled' and sends > 0) where id = $1`,
      [runId],
    );
    if (!(await resumeRun(db, runId))) {
      const message = `Run ${runId} cannot be opened again: the same file is being loaded. See: lockstep runs`;
      throw new LockstepError('RUN_IN_THE_WAY', message, { exitCode: 3 });
    }
    return rows;
  });
}

/** How long until what the run's undecided rows have sent before has settled: milliseconds, 0 when it has. */
export async function sentBeforeUnsettledForMs(db: Queryable, runId: string, settleMs: number): Promise<number> {
  const found = await db.query<{ ms: number }>(
    `select coalesce(greatest(0, extract(epoch from max(since) - clock_timestamp()) * 1000 + $2), 0)::float8 as ms
     from ledger.rows where run_id = $1 and state = 'staged' and since is not null`,
    [runId, absenceAfterMs(settleMs)],
  );
  return found.rows[0]?.ms ?? 0;
}

async function refuseWhileSending(db: Queryable, runId: string): Promise<void> {
  const sending = await db.query(
    'select 1 from ledger.claims where run_id = $1 and expires_at > clock_timestamp() limit 1',
    [runId],
  );
  if (sending.rowCount === 0) return;
  const message = `A worker is still finishing the last calls of run ${runId}. Run the same command again in a moment.`;
  throw new LockstepError('LOAD_STOPPING', message, { exitCode: 3 });
}
