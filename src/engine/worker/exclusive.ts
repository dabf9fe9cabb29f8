/** Work on a run that only one process at a time may do, under an exclusive claim that is renewed until it is done. */
import type pg from 'pg';
import { inTransaction } from '../../storage/transaction.ts';
import {
  type Claim,
  ClaimLost,
  claimTtlMs,
  extendClaim,
  holdClaim,
  releaseClaim,
  takeClaim,
} from '../ledger/claims.ts';
import type { JobContext, JobResult } from './job.ts';

export interface Exclusive {
  /** A transaction that commits only while the claim is held. */
  transaction<T>(work: (db: pg.PoolClient) => Promise<T>): Promise<T>;
}

/** Does `work` unless another process is doing it or takes it over; then this job is idle. */
export async function exclusively(
  { pool, run, worker, account, log }: JobContext<unknown>,
  work: (exclusive: Exclusive) => Promise<JobResult>,
): Promise<JobResult> {
  const ttlMs = claimTtlMs(account.timeoutMs);
  const claim: Claim | undefined = await takeClaim(pool, run.id, worker, {
    kind: 'exclusive',
    ttlMs,
    phase: run.phase,
  });
  if (!claim) return { status: 'idle' };
  const renewing = setInterval(() => {
    extendClaim(pool, 'ledger.claims', claim).catch((error: unknown) => {
      log.warn({ err: error, run: run.id }, 'renewing a claim failed');
    });
  }, ttlMs / 3);
  try {
    return await work({
      transaction: (writes) =>
        inTransaction(pool, async (db) => {
          await holdClaim(db, claim);
          return writes(db);
        }),
    });
  } catch (error) {
    if (error instanceof ClaimLost) return { status: 'idle' };
    throw error;
  } finally {
    clearInterval(renewing);
    await releaseClaim(pool, claim);
  }
}
