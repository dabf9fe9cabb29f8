/** How many rows of a run and its parts may have arrived at the service, by what was decided about them. */
import type { Queryable } from '../../storage/queryable.ts';
import type { Verdict } from './rows.ts';
import { ARRIVED } from './unsettled.ts';

/** Empty if nothing was sent; `unknown`: nothing was decided yet. */
export async function countSent(
  db: Queryable,
  runId: string,
): Promise<readonly { readonly verdict: Verdict; readonly count: number }[]> {
  const counted = await db.query<{ verdict: Verdict; count: number }>(
    `with own as (select id from ledger.runs where id = $1 or part_of = $1), sent as (
       select run_id, n from ledger.attempts where run_id in (select id from own) and outcome in ${ARRIVED}
       union select run_id, unnest(rows) from ledger.chunks where run_id in (select id from own)
     )
     select coalesce(v.verdict, 'unknown') as verdict, count(*)::int as count
     from sent s left join ledger.verdicts v on v.run_id = s.run_id and v.n = s.n group by 1 order by 2 desc, 1`,
    [runId],
  );
  return counted.rows;
}

/** Whether a run has begun to send: the service may show its records by id before it lists them. */
export async function hasSent(db: Queryable, runId: string): Promise<boolean> {
  const found = await db.query(
    `select where exists (select from ledger.attempts where run_id = $1) or exists (select from ledger.chunks where run_id = $1)`,
    [runId],
  );
  return found.rowCount === 1;
}
