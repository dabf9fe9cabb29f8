import { beginRead, type Reading } from '../engine/ledger/match-index.ts';
import { ledgerNow } from '../engine/ledger/set-clock.ts';
import type { Exclusive } from '../engine/worker/exclusive.ts';
import type { JobContext } from '../engine/worker/job.ts';

/** Marks the start of a read in the ledger. If the clock was set since the last check, the ledger's times move first. */
export async function beginReading(
  { pool, run }: Pick<JobContext<unknown>, 'pool' | 'run'>,
  exclusive: Exclusive,
  reading: Reading,
): Promise<void> {
  await ledgerNow(pool);
  await exclusive.transaction((db) => beginRead(db, run.id, reading));
}
