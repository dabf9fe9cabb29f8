/** The ready rows of a run as a source for the dispatcher. */
import type { Lane } from '../../client/budget/budget.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { RunFailed, type Stop } from '../account/failure.ts';
import { LIMITED_IN_A_ROW, nothingButLimited } from '../account/reads.ts';
import type { WriteOptions } from '../account/writes.ts';
import type { SendHow, Sent, Source } from '../dispatch/source.ts';
import { type Claim, claimTtlMs, extendClaim, releaseClaim, takeClaim } from '../ledger/claims.ts';
import { type ClaimedRow, claimRows, recordAttempts } from '../ledger/rows.ts';
import { recordProgress } from '../ledger/runs.ts';
import type { JobContext } from './job.ts';
import { notSent, type SentRow } from './sent-row.ts';

export type SendRow = (row: ClaimedRow, how: SendRowHow) => Promise<SentRow>;

export interface SendRowHow extends Pick<SendHow, 'dispatchBefore'> {
  /** Aborts when the process shuts down: a call that was sent is finished; a call that waits for the budget is not sent. */
  readonly stopWaiting: AbortSignal;
}

/** A sender waits this long for the budget before it frees its worker slot: longer waits would delay other accounts. */
const PATIENCE_MS = 2_000;

/** The options of a write of this row. */
export function writeOptions(lane: Lane, { sends, sourceId }: ClaimedRow, how: SendRowHow): WriteOptions {
  const { dispatchBefore, stopWaiting } = how;
  return { lane, stopWaiting, dispatchBefore, maxWaitMs: PATIENCE_MS, sends, record: sourceId };
}

export function rowSource(
  { pool, run, worker, account, mostClaims, signal }: JobContext<unknown>,
  send: SendRow,
): Source<Claim, ClaimedRow, SentRow, Stop> {
  const ttlMs = claimTtlMs(account.timeoutMs);
  let limitedInARow = 0;

  /**
   * When a limit is reached, all calls in flight get a rate limit as the answer. Many more in a row are not caused by
   * the rate.
   */
  function afterLimited({ calls, limited }: SentRow): Stop | undefined {
    if (calls === 0) return undefined;
    limitedInARow = limited === calls ? limitedInARow + limited : 0;
    return limitedInARow > LIMITED_IN_A_ROW + account.concurrency ? nothingButLimited('sending') : undefined;
  }

  async function sendRow(row: ClaimedRow, { dispatchBefore }: SendHow): Promise<Sent<SentRow, Stop>> {
    try {
      const sent = await send(row, { dispatchBefore, stopWaiting: signal });
      return { outcome: sent, stop: afterLimited(sent) ?? sent.stop };
    } catch (error) {
      // Failed calls are results, so this is a defect. The row may have been sent, and a read settles it.
      return { stop: new RunFailed('SEND_FAILED', `Sending a row failed: ${String(error)}`, { cause: error }) };
    }
  }

  return {
    takeClaim: () => takeClaim(pool, run.id, worker, { kind: 'shared', ttlMs, most: mostClaims }),
    renew: (claim) => extendClaim(pool, 'ledger.claims', claim),
    claim: (claim, limit) => claimRows(pool, claim, limit),
    send: sendRow,
    unsent: (row) => notSent(row),
    async record(claim, sent) {
      const results = sent.map(({ result }) => result);
      const rowsSettled = results.filter(({ outcome, verdict }) => verdict !== undefined || outcome === 'acked').length;
      const calls = sent.reduce((sum, one) => sum + one.calls, 0);
      const limited = sent.reduce((sum, one) => sum + one.limited, 0);
      const status = await inTransaction(pool, async (db) => {
        await recordAttempts(db, claim, results);
        return recordProgress(db, run.id, { calls, limited, rowsSettled });
      });
      return { status: status === 'running' ? 'recorded' : 'over' }; // cancelled, paused or failed meanwhile
    },
    drop: (claim) => releaseClaim(pool, claim),
  };
}
