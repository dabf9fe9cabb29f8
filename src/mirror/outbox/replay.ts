/** Sends ended deliveries again, with the same ids. */
import type { Queryable } from '../../storage/queryable.ts';
import { conditionOf, type DeliveryFilter } from './deliveries.ts';
import { IS_NEWER } from './delivery-sql.ts';

export interface Replayed {
  /** How many wait to be sent again. */
  readonly again: number;
  /** How many are not sent, because they would set their targets back to an old state. */
  readonly superseded: number;
  /** The targets of the deliveries that wait again. */
  readonly targets: readonly string[];
}

/** Names of targets; those in neither list hold items. */
export interface ReplayHow {
  /** They receive events, such as webhooks. */
  readonly events: readonly string[];
  /** They keep each version of a task. */
  readonly versions: readonly string[];
}

/**
 * Makes the matching ended deliveries wait again, due now and with no attempt spent; so it does with deliveries that wait
 * for their retry, if the filter names their ids or `waiting`. A superseded delivery is included only if the filter names its
 * id or the verdict `superseded`.
 *
 * No target is set back to an old state: a delivery that is not its task's newest ends as superseded, unless the newest one
 * follows it to a target that receives events, or a person has selected it by its id or as superseded. To a target that keeps
 * versions all are sent.
 */
export async function replay(db: Queryable, filter: DeliveryFilter, how: ReplayHow): Promise<Replayed> {
  const { sql, values } = matching(filter, how);
  const replayed = await db.query<Replayed>(
    `with ${sql},
     again as (update ledger.deliveries d set state = 'waiting', verdict = null, reason = null, detail = null,
         ended_at = null, attempts = 0,
         -- A retry that a person asks for goes before the retries that are due.
         due_at = case when d.state = 'waiting' then d.created_at else clock_timestamp() end,
         -- Should it fail, it is not tried again while one that is newer waits as well.
         newer_id = (select o.id from ledger.deliveries o where ${IS_NEWER}
           and (o.state <> 'ended' or exists (select from matched other where other.id = o.id and other.is_sent))
           order by o.created_at desc, o.sequence desc limit 1)
       from matched m where d.id = m.id and m.is_sent and d.state <> 'sending' returning d.target),
     superseded as (update ledger.deliveries d set verdict = 'superseded', reason = 'SUPERSEDED', detail = 'by ' || m.newer_id
       from matched m where d.id = m.id and not m.is_sent and d.state = 'ended' returning d.id)
     select (select count(*)::int from again) as again, (select count(*)::int from superseded) as superseded,
       array(select distinct target from again order by 1) as targets`,
    values,
  );
  return replayed.rows[0] ?? NONE;
}

/** What a replay would do, without doing it. */
export async function planReplay(db: Queryable, filter: DeliveryFilter, how: ReplayHow): Promise<Replayed> {
  const { sql, values } = matching(filter, how);
  const planned = await db.query<Replayed>(
    `with ${sql}
     select count(*) filter (where is_sent)::int as again, count(*) filter (where not is_sent)::int as superseded,
       coalesce(array_agg(distinct target) filter (where is_sent), '{}') as targets from matched`,
    values,
  );
  return planned.rows[0] ?? NONE;
}

const NONE: Replayed = { again: 0, superseded: 0, targets: [] };

function matching(filter: DeliveryFilter, { events, versions }: ReplayHow) {
  const { sql, values } = conditionOf(filter);
  const isWaiting = filter.verdict === 'waiting';
  const isAsked = filter.ids !== undefined || filter.verdict === 'superseded' || isWaiting;
  const states = isWaiting
    ? `d.state = 'waiting'`
    : filter.ids === undefined
      ? `d.state = 'ended'`
      : `d.state <> 'sending'`;
  const next = values.length + 1;
  return {
    sql: `found as materialized (
       select d.id, d.target, n.id as newer_id, n.state as newer_state
       from ledger.deliveries d left join lateral (
         select o.id, o.state from ledger.deliveries o where ${IS_NEWER}
         order by o.created_at desc, o.sequence desc limit 1) n on true
       where ${states} and ${sql} ${isAsked ? '' : `and d.verdict <> 'superseded'`}),
     matched as materialized (
       select f.id, f.target, f.newer_id, f.newer_id is null or ${isWaiting} or f.target = any($${next + 1})
         or f.target = any($${next})
           and (${isAsked} or f.newer_state = 'waiting' or f.newer_id in (select id from found)) as is_sent
       from found f)`,
    values: [...values, events, versions],
  };
}
