/** How late deliveries are: how long they took until they arrived, and how far each target is behind. */
import type { Queryable } from '../../storage/queryable.ts';

/** How long deliveries took from being queued until they arrived. */
export interface Lag {
  readonly target: string;
  /** The last hours, the oldest first: the longest time of a delivery that arrived in the hour, 0 if none did. */
  readonly longestMs: readonly number[];
  readonly from: Date;
}

const HOURS = 24;

/** The targets that received a delivery in the last HOURS. */
export async function lagOf(db: Queryable): Promise<readonly Lag[]> {
  const found = await db.query<{ target: string; ago: number; ms: number; from: Date }>(
    `select target, floor(extract(epoch from now() - ended_at) / 3600)::int as ago,
       max(extract(epoch from ended_at - created_at) * 1000)::float8 as ms, now() - $1 * interval '1 hour' as from
     from ledger.deliveries
     where state = 'ended' and verdict in ('delivered', 'already') and ended_at > now() - $1 * interval '1 hour'
     group by 1, 2 order by 1`,
    [HOURS],
  );
  const targets = [...new Set(found.rows.map(({ target }) => target))];
  return targets.map((target) => {
    const own = found.rows.filter((row) => row.target === target);
    const longestMs = Array.from({ length: HOURS }, (_, i) => own.find(({ ago }) => ago === HOURS - 1 - i)?.ms ?? 0);
    return { target, longestMs, from: own[0]?.from ?? new Date() };
  });
}

/** How far the deliveries to each target are behind. Reads one row of an index for each target, however many deliveries there are. */
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
