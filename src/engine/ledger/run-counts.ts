/** The counts by verdict that are stored with an ended run. */
import type { Queryable } from '../../storage/queryable.ts';

/** SQL: the rows of run `u` by verdict. `open`: how many have none. */
export const COUNTS = (open: string) => `(select jsonb_object_agg(verdict, n) from (
  select verdict, sum(n) as n from (
    select verdict, count(*) as n from ledger.verdicts where run_id = u.id group by 1
    union all select 'unknown', ${open}
    union all select 'unchanged', u.unchanged
    union all select key, value::bigint from jsonb_each_text(u.pruned)) each
  group by verdict having sum(n) > 0) counted)`;

const OPEN = `(select count(*) from ledger.inputs where run_id = u.id) - (select count(*) from ledger.verdicts where run_id = u.id)`;

/** Counts the rows of runs again that were cancelled, or failed, while others were working on them. */
export async function recountStopped(db: Queryable, runIds: readonly string[]): Promise<void> {
  await db.query(
    `with counted as materialized (
       select u.id, ${COUNTS(OPEN)} as counts from ledger.runs u where u.id = any($1) and u.status in ('cancelled', 'failed'))
     update ledger.runs u set revision = revision + 1, counts = c.counts
     from counted c where u.id = c.id and u.counts is distinct from c.counts`,
    [runIds],
  );
}
