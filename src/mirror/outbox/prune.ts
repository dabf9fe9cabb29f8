/** Deletes deliveries that ended long ago. */
import type { Queryable } from '../../storage/queryable.ts';
import { CHANGE_COMMENT } from '../targets/items/item-comments.ts';
import { isOlder, isSameTask } from './delivery-sql.ts';

/** Rows per statement, so that no statement takes long. */
const BATCH = 5_000;

/**
 * SQL: delivery `d` ended longer than `$1` milliseconds ago, and it is an alert, or a newer one of its task and target exists. The
 * last one that has reached the target is kept, too: it is what the target is known to have.
 */
const MAY_GO = `d.state = 'ended' and d.ended_at < clock_timestamp() - $1::float8 * interval '1 ms' and (d.kind = 'alert' or exists (
  select from ledger.deliveries n where ${isSameTask('n', 'd')} and ${isOlder('d', 'n')}
    and (d.verdict not in ('delivered', 'already') or n.verdict in ('delivered', 'already'))))`;

/** Deletes old deliveries, and the records of their comments, until none is left or the signal aborts; returns how many. */
export async function pruneDeliveries(db: Queryable, olderThanMs: number, signal?: AbortSignal): Promise<number> {
  let count = 0;
  for (let last = BATCH; last === BATCH && signal?.aborted !== true; count += last) {
    const deleted = await db.query(
      `delete from ledger.deliveries where state = 'ended' and id in (select d.id from ledger.deliveries d where ${MAY_GO} limit ${BATCH})`,
      [olderThanMs],
    );
    last = deleted.rowCount ?? 0;
  }
  await db.query(
    `delete from ledger.creations where starts_with(source_id, '${CHANGE_COMMENT}:') and at < clock_timestamp() - $1::float8 * interval '1 ms'`,
    [olderThanMs],
  );
  return count;
}

/** How many deliveries would be deleted. */
export async function countOldDeliveries(db: Queryable, olderThanMs: number): Promise<number> {
  const counted = await db.query<{ n: number }>(`select count(*)::int as n from ledger.deliveries d where ${MAY_GO}`, [
    olderThanMs,
  ]);
  return counted.rows[0]?.n ?? 0;
}
