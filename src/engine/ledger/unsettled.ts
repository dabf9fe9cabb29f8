/** Rows without a verdict: sent, not confirmed, or never sent. */
import type { Queryable } from '../../storage/queryable.ts';

export interface Unsettled {
  /** Sent, or claimed to be sent, and neither an answer nor a read has confirmed them. */
  readonly sent: number;
  readonly neverSent: number;
}

/** SQL: rows of run `$1` that may have arrived at the service. A chunk holds only rows without a recorded attempt. */
const MAY_HAVE_ARRIVED = `select n from ledger.attempts where run_id = $1 and outcome in ('acked', 'unknown', 'lost')
  union select unnest(rows) from ledger.chunks where run_id = $1`;

/** SQL: the reason of row `n` of run `$1`, which has no verdict and no reason of its own. */
export const OPEN_REASON = (n: string) =>
  `case when exists (select from (${MAY_HAVE_ARRIVED}) sent where sent.n = ${n}) then 'NOT_CONFIRMED' else 'NEVER_SENT' end`;

/** Of `open` rows without a verdict: how many may have arrived. */
export async function splitUnsettled(db: Queryable, runId: string, open: number): Promise<Unsettled> {
  if (open === 0) return { sent: 0, neverSent: 0 };
  const found = await db.query<{ sent: number }>(
    `select count(*)::int as sent from (${MAY_HAVE_ARRIVED}) s
     where not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = s.n)`,
    [runId],
  );
  const sent = Math.min(open, found.rows[0]?.sent ?? 0);
  return { sent, neverSent: open - sent };
}
