/** The stored counts of ended runs, after a verdict was replaced. Their figures (run-figures.ts) are read again. */
import type { Queryable } from '../../storage/queryable.ts';
import type { Verdict } from './rows.ts';

export interface Recounted {
  readonly run: string;
  readonly was: Verdict;
  readonly is: Verdict;
}

export async function recount(db: Queryable, changed: readonly Recounted[]): Promise<void> {
  if (changed.length === 0) return;
  await db.query(
    `with changed as (select * from unnest($1::text[], $2::text[], $3::text[]) as t (run_id, was, became))
     update ledger.runs u set revision = revision + 1, counts = (
       select jsonb_object_agg(verdict, n) from (
         select verdict, sum(n) as n from (
           select key as verdict, value::bigint as n from jsonb_each_text(u.counts)
           union all select was, -1 from changed where run_id = u.id
           union all select became, 1 from changed where run_id = u.id) each
         group by verdict having sum(n) <> 0) counted)
     where u.id in (select run_id from changed) and u.counts is not null`,
    [changed.map(({ run }) => run), changed.map(({ was }) => was), changed.map(({ is }) => is)],
  );
}
