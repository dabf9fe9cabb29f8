/** Ends deliveries that a person gives up, because no process sends them. */
import type { Queryable } from '../../storage/queryable.ts';

/** SQL: delivery `d` to target `$1` has not ended, and no process is sending it. */
const IS_IDLE = `d.target = $1 and (d.state = 'waiting' or d.state = 'sending'
  and not exists (select from ledger.delivery_claims c where c.id = d.claim_id and c.expires_at > clock_timestamp()))`;

/** Ends them as skipped: a replay can still send them. Returns how many. */
export async function dropIdle(db: Queryable, target: string, why: string): Promise<number> {
  const dropped = await db.query(
    `with idle as (select d.id from ledger.deliveries d where ${IS_IDLE} order by d.id collate "C" for update)
     update ledger.deliveries d set unclear_at = case when d.state = 'sending' then clock_timestamp() else d.unclear_at end,
       state = 'ended', verdict = 'skipped', reason = 'DROPPED', detail = $2, claim_id = null, ended_at = clock_timestamp()
     from idle where d.id = idle.id`,
    [target, why],
  );
  return dropped.rowCount ?? 0;
}

/** How many would be ended. */
export async function countIdle(db: Queryable, target: string): Promise<number> {
  const { rows } = await db.query<{ n: number }>(
    `select count(*)::int as n from ledger.deliveries d where ${IS_IDLE}`,
    [target],
  );
  return rows[0]?.n ?? 0;
}
