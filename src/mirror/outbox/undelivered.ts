/** What targets have not taken: deliveries that failed and are retried, and dead letters. */
import type { Queryable } from '../../storage/queryable.ts';
import { IS_NEWER } from './delivery-sql.ts';
import { SCHEDULE_MS } from './retry-policy.ts';

export interface Undelivered {
  readonly target: string;
  /** Undefined if no delivery has failed and waits for a retry. */
  readonly retried: Group | undefined;
  /** Dead letters, except those of tasks for which a newer delivery was queued. */
  readonly dead: Group | undefined;
}

interface Group {
  readonly count: number;
  /** When the first of them failed, up to a minute of jitter; of dead letters, when the first of them was given up. */
  readonly since: Date;
  /** Why the first of them failed. */
  readonly detail: string;
}

/** Since when, and why, deliveries fail: the worker notes it after several failures, and forgets it when the target answers again. */
export function deliveryFailure(noted: Omit<Group, 'count'> | undefined, retried: Group | undefined) {
  const [first, second] = [noted ?? retried, retried ?? noted];
  if (!first || !second) return undefined;
  return { detail: first.detail, since: first.since < second.since ? first.since : second.since };
}

interface Row {
  readonly target: string;
  readonly retried: number;
  readonly retriedSince: Date;
  readonly retriedDetail: string;
  readonly dead: number;
  readonly deadSince: Date;
  readonly deadDetail: string;
}

/** Those of these targets that have any, by name. */
export async function undelivered(db: Queryable, targets: readonly string[]): Promise<readonly Undelivered[]> {
  const found = await db.query<Row>(
    `select t.target, retried, "retriedSince", "retriedDetail", dead, "deadSince", "deadDetail"
     from unnest($1::text[]) t(target)
       cross join lateral (select count(*)::int as retried, min(failed_at) as "retriedSince",
           (array_agg(said order by failed_at))[1] as "retriedDetail"
         from (select coalesce(detail, reason, '') as said,
             greatest(created_at, due_at - ($2::float8[])[attempts + 1] * interval '1 ms') as failed_at
           from ledger.deliveries d where d.target = t.target and state <> 'ended' and attempts > 0) r) r
       cross join lateral (select count(*)::int as dead, min(ended_at) as "deadSince",
           (array_agg(coalesce(detail, reason, '') order by ended_at))[1] as "deadDetail"
         from ledger.deliveries d where d.target = t.target and verdict = 'dead'
           and not exists (select from ledger.deliveries o where ${IS_NEWER} offset 0)) dead
     where retried + dead > 0 order by t.target`,
    [targets, SINCE_FAILURE_MS],
  );
  return found.rows.map((row) => ({
    target: row.target,
    retried: row.retried === 0 ? undefined : { count: row.retried, since: row.retriedSince, detail: row.retriedDetail },
    dead: row.dead === 0 ? undefined : { count: row.dead, since: row.deadSince, detail: row.deadDetail },
  }));
}

/** By attempts spent: the time from the first failure until the next attempt. */
const SINCE_FAILURE_MS = SCHEDULE_MS.map((_, attempts) =>
  SCHEDULE_MS.slice(0, attempts + 1).reduce((sum, ms) => sum + ms, 0),
);
