/** How far the deliveries to each target are behind. */
import type { Queryable } from '../../storage/queryable.ts';

/** Reads one row of an index for each target, however many deliveries there are. */
export async function overdueDeliveries(
  db: Queryable,
  targets: readonly string[],
): Promise<readonly { readonly target: string; readonly overdueMs: number }[]> {
  const found = await db.query<{ target: string; overdueMs: number }>(
    `select t.target, coalesce((
       select greatest(0, extract(epoch from clock_timestamp() - d.due_at) * 1000) from ledger.deliveries d
       where d.target = t.target and d.state = 'waiting' order by d.due_at limit 1), 0)::float8 as "overdueMs"
     from unnest($1::text[]) t(target)`,
    [targets],
  );
  return found.rows;
}
