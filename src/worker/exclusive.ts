/** Work that only one process at a time may do on a run: under an exclusive claim, renewed until it is done. */
import type pg from 'pg';
import { inTransaction } from '../database/transaction.ts';
import {
  type Claim,
  ClaimLost,
  claimTtlMs,
  dropClaims,
  holdClaim,
  renewClaim,
  takeClaim,
} from '../engine/ledger/claims.ts';
import type { JobContext, JobResult } from './job.ts';

export interface Exclusive {
  /** A transaction that commits only while the claim is held. */
  transaction<T>(work: (db: pg.PoolClient) => Promise<T>): Promise<T>;
}

/** Does `work` unless another process is at it or takes over: then this job is idle. */
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
    renewClaim(pool, claim).catch((error: unknown) => log.warn({ err: error, run: run.id }, 'a claim was not renewed'));
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
    await dropClaims(pool, [claim.id]);
  }
}
