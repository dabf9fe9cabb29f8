/**
 * Deletes data that is no longer needed: finished reads of lists, rows that are read again, and unchanged rows of old
 * runs. prune.ts deletes by age.
 */
import type { Queryable } from '../../../storage/queryable.ts';

/** Runs of a sync whose unchanged rows are kept, the newest ones; older runs keep only their count. */
const RUNS_KEPT_WHOLE = 3;

/** Deletes records of runs that no longer read lists, and what they have shown; a saved plan stays. */
export async function forgetReads(db: Queryable, ids: readonly string[]): Promise<void> {
  for (const table of ['records', 'reads', 'baselines'])
    await db.query(`delete from ledger.${table} where run_id = any($1)`, [ids]);
  await db.query(
    'delete from ledger.shown s using ledger.runs u where s.run_id = any($1) and u.id = s.run_id and not u.dry_run',
    [ids],
  );
}

/** A nightly run over many records leaves as many rows: deletes old rows that were unchanged, or planned by a run without a saved plan. */
export async function thinOut(db: Queryable, id: string): Promise<void> {
  const old = await db.query<{ id: string; isThinned: boolean }>(
    `select * from (
       select old.id, old.is_thinned as "isThinned" from ledger.runs old join ledger.runs this on this.id = $1 and old.sync = this.sync
       where old.ended_at is not null order by old.created_at desc offset ${RUNS_KEPT_WHOLE}) old
     where not "isThinned" and not exists (select from ledger.plan_files p where p.run_id = old.id)`,
    [id],
  );
  for (const run of old.rows) {
    await pruneRows(db, run.id, {
      sql: `select n, verdict from ledger.verdicts where run_id = $1 and (verdict = 'unchanged' or reason = 'PLANNED')`,
      values: [],
    });
    await db.query('update ledger.runs set is_thinned = true where id = $1', [run.id]);
  }
}

/** The tables with the rows of runs, without those that are being sent (`chunks`). */
export const ROW_TABLES = [
  'inputs',
  'matches',
  'plans',
  'again',
  'attempts',
  'verdicts',
  'former_verdicts',
  'evidence',
];

const DELETES = ROW_TABLES.map(
  (table) => `${table} as (delete from ledger.${table} d using chosen c where d.run_id = $1 and d.n = c.n)`,
).join(', ');

/** Deletes all rows of a run that has sent nothing, and counts from 0 again. */
export async function forgetAllRows(db: Queryable, runId: string): Promise<void> {
  for (const table of ROW_TABLES) await db.query(`delete from ledger.${table} where run_id = $1`, [runId]);
  await db.query('update ledger.runs set next_n = 0, rows_seen = 0, rows_settled = 0, unchanged = 0 where id = $1', [
    runId,
  ]);
}

/** Deletes rows of a run; `which`: SQL that selects their numbers in run `$1`. */
export async function forgetRows(db: Queryable, runId: string, which: string): Promise<void> {
  await db.query(`with chosen as materialized (${which}), ${DELETES} select 1`, [runId]);
}

/**
 * Deletes rows of an ended run and keeps their counts with the run. `sql` selects `n, verdict` in run `$1`; `values` are from
 * `$2` on. Returns how many were deleted, and the highest number among them.
 */
export async function pruneRows(
  db: Queryable,
  runId: string,
  { sql, values }: { readonly sql: string; readonly values: readonly unknown[] },
): Promise<{ readonly count: number; readonly last: number }> {
  const pruned = await db.query<{ count: number; last: number }>(
    `with chosen as materialized (${sql}), ${DELETES}, counted as (
       update ledger.runs u set revision = revision + 1, pruned = (select jsonb_object_agg(verdict, n) from (
         select verdict, sum(n) as n from (
           select verdict, 1::bigint as n from chosen union all
           select key, value::bigint from jsonb_each_text(u.pruned)) each group by 1) summed)
       where u.id = $1 and exists (select from chosen)
     )
     select count(*)::int as count, coalesce(max(n), 0)::float8 as last from chosen`,
    [runId, ...values],
  );
  return pruned.rows[0] ?? { count: 0, last: 0 };
}
