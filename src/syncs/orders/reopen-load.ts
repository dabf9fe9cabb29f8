/**
 * Opens an ended load again to retry its failed rows. They are decided again, from reads that begin after everything they
 * have sent has settled, so nothing is sent twice. Rows that succeeded stay unchanged. A load that was never approved, or first in
 * part, asks again.
 */
import type pg from 'pg';
import { LockstepError } from '../../base/errors.ts';
import { dropDeadClaims, mayBeSending } from '../../engine/ledger/claims.ts';
import { holdDecisions } from '../../engine/ledger/decisions.ts';
import { reopenOrders } from '../../engine/ledger/matching/staged-orders.ts';
import { resumeRun } from '../../engine/ledger/run-status.ts';
import { isUnfinished, readRun } from '../../engine/ledger/runs.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { checkpointOf, saveCheckpoint } from './load-checkpoint.ts';

/**
 * Returns how many rows are retried; with 0 the load stays unchanged, and so does one that is unfinished (undefined).
 * @throws LockstepError LOAD_STOPPING, RUN_IN_THE_WAY
 */
export async function reopenLoad(pool: pg.Pool, runId: string): Promise<number | undefined> {
  await dropDeadClaims(pool);
  return inTransaction(pool, async (db) => {
    await holdDecisions(db);
    await db.query('select 1 from ledger.runs where id = $1 for update', [runId]);
    if (isUnfinished(await readRun(db, runId))) return undefined;
    await refuseWhileSending(db, runId);
    // A refused row has sent nothing that the service may still commit; any other row may have, even if its claim was lost.
    const rows = await reopenOrders(db, runId);
    if (rows === 0) return 0;
    const { isCleared, isPartial } = checkpointOf(await readRun(db, runId));
    await saveCheckpoint(db, runId, { step: 'customers', isCleared: isCleared && !isPartial, isPartial });
    await db.query(
      `update ledger.runs set status = 'failed', phase = 'load-orders', counts = null, is_bound = false where id = $1`,
      [runId],
    );
    if (!(await resumeRun(db, runId))) {
      const message = `Run ${runId} cannot be opened again: the same file is being loaded. See: \`lockstep runs\``;
      throw new LockstepError('RUN_IN_THE_WAY', message, { exitCode: 3 });
    }
    return rows;
  });
}

async function refuseWhileSending(db: Queryable, runId: string): Promise<void> {
  if (!(await mayBeSending(db, runId))) return;
  const message = `A worker is still finishing the last calls of run ${runId}. Run the same command again in a moment.`;
  throw new LockstepError('LOAD_STOPPING', message, { exitCode: 3 });
}
