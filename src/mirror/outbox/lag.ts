/** How long deliveries took from being queued until they arrived, by target and hour. */
import type { Queryable } from '../../storage/queryable.ts';

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
