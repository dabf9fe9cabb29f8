/** Deletes deliveries that ended long ago. */
import type { Queryable } from '../../storage/queryable.ts';

const KEPT_DAYS = 30;
/** Rows per statement, so that no statement takes long. */
const PORTION = 5_000;

/** Deletes deliveries that ended more than 30 days ago, except the newest of each task and target; returns how many. */
export async function pruneDeliveries(db: Queryable, now: Date | undefined): Promise<number> {
  const found = await db.query<{ id: string }>(
    `select id from (
       select id, ended_at, row_number() over (partition by target, sync, kind, task_id order by sequence desc) as age
       from ledger.deliveries) d
     where age > 1 and ended_at < coalesce($1::timestamptz, clock_timestamp()) - $2 * interval '1 day'`,
    [now, KEPT_DAYS],
  );
  const ids = found.rows.map(({ id }) => id);
  for (let from = 0; from < ids.length; from += PORTION) {
    await db.query(`delete from ledger.deliveries where state = 'ended' and id = any($1)`, [
      ids.slice(from, from + PORTION),
    ]);
  }
  return ids.length;
}
