/**
 * Opens a load that has ended once more, for what failed in it: such rows are decided anew, from reads that are made after
 * all they have sent has settled, so that nothing is sent twice. What succeeded stays as it is.
 */

import type pg from 'pg';
import { inTransaction } from '../database/transaction.ts';
import { dropDeadClaims } from '../engine/ledger/claims.ts';
import { reopenOrders } from '../engine/ledger/matching/staged-orders.ts';
import { type Queryable, resumeRun } from '../engine/ledger/runs.ts';
import { LockstepError } from '../errors.ts';
import { keepPlace } from './place.ts';

/** Answers how many rows are tried again; with 0 the load is left as it is. @throws LockstepError LOAD_STOPPING, RUN_IN_THE_WAY */
export async function reopenLoad(pool: pg.Pool, runId: string): Promise<number> {
  await dropDeadClaims(pool);
  return inTransaction(pool, async (db) => {
    await db.query('select 1 from ledger.runs where id = $1 for update', [runId]);
    await refuseWhileSending(db, runId);
    // A row that was refused has sent nothing that may still be committed; any other may, even one whose claim was lost.
    const rows = await reopenOrders(db, runId);
    if (rows === 0) return 0;
    await keepPlace(db, runId, { step: 'customers', isShown: true });
    await db.query(`update ledger.runs set status = 'failed', phase = 'load-orders', counts = null where id = $1`, [
      runId,
    ]);
    if (!(await resumeRun(db, runId))) {
      const message = `Run ${runId} cannot be opened again: the same file is being loaded. See: lockstep runs`;
      throw new LockstepError('RUN_IN_THE_WAY', message, { exitCode: 3 });
    }
    return rows;
  });
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
