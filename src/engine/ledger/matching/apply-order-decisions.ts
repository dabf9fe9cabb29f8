/**
 * Applies what people decided about orders (decisions.ts) when their load is retried. A chosen customer is matched with the
 * row, a differing order is overwritten, and an order that may not have arrived, or that an incomplete list does not
 * show, is sent once.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import { IN_FORCE } from '../review-sql.ts';
import { matchRows } from '../transitions.ts';

const OF_ORDER = (run: string) => `d.kind = 'order' and d.run_id = ${run} and d.undone_at is null`;

/** SQL: a person decided that row `n` of run `$1` is sent again, and that was not done yet. */
export const IS_CREATION_DECIDED = (n: string): string =>
  `exists (select from ledger.decisions d where ${OF_ORDER('$1')} and d.n = ${n} and d.choice = 'create' and ${IN_FORCE})`;

/** SQL: a person decided after `at` that row `n` of run `$1` is sent again. */
export const IS_CREATION_DECIDED_SINCE = (n: string, at: string): string =>
  `exists (select from ledger.decisions d where ${OF_ORDER('$1')} and d.n = ${n} and d.choice = 'create' and d.applied_at > ${at})`;

/** SQL: the rows `n` of run `$1` whose order `record_id` a person decided to overwrite. */
export const OVERWRITTEN = `select distinct d.n, d.record_id from ledger.decisions d
  where ${OF_ORDER('$1')} and d.choice = 'use' and d.reason = 'DIFFERS'`;

/** Run it in the transaction that reopens the rows. */
export async function applyOrderDecisions(db: Queryable, runId: string): Promise<void> {
  await matchRows(db, runId, {
    sql: `select distinct on (d.n) d.n, 'customer' as kind, d.record_id, 'decision' as by
      from ledger.decisions d
      where ${OF_ORDER('$1')} and d.choice = 'use' and d.reason in ('AMBIGUOUS_CUSTOMER', 'CUSTOMER_UNCLEAR')
        and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = d.n)
      order by d.n, d.id desc`,
  });
  await db.query(
    `update ledger.decisions d set applied_at = clock_timestamp(), applied_by = $1
     where ${OF_ORDER('$1')} and d.choice in ('use', 'create') and ${IN_FORCE}`,
    [runId],
  );
}
