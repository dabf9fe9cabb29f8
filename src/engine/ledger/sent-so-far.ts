/** What a run has sent before it stops. */
import { formatCount, plural } from '../../base/counts.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Verdict } from './rows.ts';
import { ARRIVED } from './unsettled.ts';

/** `Nothing was written.`, or how many rows were sent and what is known of them. */
export async function sentSoFar(db: Queryable, runId: string): Promise<string> {
  const counts = await countSent(db, runId);
  if (counts.length === 0) return 'Nothing was written.';
  const rows = counts.reduce((sum, { count }) => sum + count, 0);
  const decided = counts.map(
    ({ verdict, count }) => `${formatCount(count)} ${verdict === 'unknown' ? 'not confirmed' : verdict}`,
  );
  return `Before that, the run has sent ${plural(rows, 'row')}: ${decided.join(', ')}.`;
}

/** Whether a run has begun to send: the service may show its records by id before it lists them. */
export async function hasSent(db: Queryable, runId: string): Promise<boolean> {
  const found = await db.query(
    `select where exists (select from ledger.attempts where run_id = $1) or exists (select from ledger.chunks where run_id = $1)`,
    [runId],
  );
  return found.rowCount === 1;
}

/** Rows of a run and its parts that may have arrived, by what was decided about them. Empty if nothing was sent; `unknown`: nothing was decided yet. */
async function countSent(
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
