/** When a new run may read its baseline: what earlier runs sent must have had the time to be committed and shown. */
import type { Queryable, Run } from '../ledger/runs.ts';

/**
 * Milliseconds until everything that earlier runs on the same account and resource left open has settled; 0 when it has.
 * A call on its way, as when a run was cancelled in its midst, may leave at any moment: its time has not begun to run.
 */
export async function unsettledForMs(db: Queryable, run: Run, settleMs: number): Promise<number> {
  const found = await db.query<{ ms: number }>(
    `select coalesce(greatest(0, extract(epoch from max(case when r.state = 'intent' then clock_timestamp() else r.since end)
         - clock_timestamp()) * 1000 + $4), 0)::float8 as ms
     from ledger.runs u join ledger.rows r on r.run_id = u.id
     where u.account = $1 and u.resource = $2 and u.id <> $3 and not u.dry_run
       and r.state in ('intent', 'acked', 'unknown') and r.state <> 'settled'`,
    [run.account, run.resource, run.id, settleMs],
  );
  return found.rows[0]?.ms ?? 0;
}
