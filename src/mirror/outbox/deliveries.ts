/** Lists deliveries by the filters of the commands. */
import type { TargetAnswer, TaskEvent, TaskState } from '../../contract/target.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { isOlder, isSameTask } from './delivery-sql.ts';
import type { AlertState } from './outbox.ts';

export const DELIVERY_VERDICTS = ['delivered', 'already', 'skipped', 'superseded', 'dead'] as const;
export type DeliveryVerdict = (typeof DELIVERY_VERDICTS)[number];
/** What deliveries are filtered by: `waiting` are those that have not ended, so they have no verdict yet. */
export const DELIVERY_STATES = ['waiting', ...DELIVERY_VERDICTS] as const;

export interface DeliveryFilter {
  readonly ids?: readonly string[];
  readonly target?: string | undefined;
  readonly verdict?: (typeof DELIVERY_STATES)[number] | undefined;
  /** By the time at which they were queued. */
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
  /** Not those that have ended since: a person who asks twice has seen them as they were before. */
  readonly seenAt?: Date | undefined;
}

export interface ListedDelivery {
  readonly id: string;
  readonly target: string;
  readonly account: string;
  readonly sync: string;
  readonly run: string | null;
  /** `task:12`. */
  readonly source: string;
  readonly title: string;
  readonly sequence: number;
  readonly event: TaskEvent | AlertState;
  readonly state: 'waiting' | 'sending' | 'ended';
  readonly verdict: DeliveryVerdict | null;
  readonly reason: string | null;
  readonly detail: string | null;
  readonly attempts: number;
  readonly createdAt: Date;
  /** An older delivery of the same task to the same target, which has to end first. */
  readonly heldBy: string | null;
  /** The earliest time of the next attempt, or of the next attempt of what holds it; null if that is being sent, or this has ended. */
  readonly dueAt: Date | null;
  readonly endedAt: Date | null;
}

export interface ShownDelivery extends Omit<ListedDelivery, 'title'> {
  readonly seenAt: Date;
  readonly task: TaskState;
  readonly answer: TargetAnswer | null;
  /** The last 20 attempts without success, also those before a replay; none of deliveries of an earlier version. */
  readonly failures: readonly FailedAttempt[];
}

export interface FailedAttempt {
  /** ISO 8601. */
  readonly at: string;
  readonly reason?: string;
  readonly detail?: string;
  readonly answer?: TargetAnswer;
}

const COLUMNS = `d.id, d.target, d.scope as account, d.sync, d.run_id as run, d.kind || ':' || d.task_id as source, d.task,
  d.sequence, d.event, d.state, d.verdict, d.reason, d.detail, d.attempts, d.created_at as "createdAt",
  older.id as "heldBy", d.ended_at as "endedAt",
  case when d.state <> 'ended' and older.state is distinct from 'sending' then greatest(coalesce(older.due_at, d.due_at), t.blocked_until) end as "dueAt"`;

/** SQL: deliveries `d`, each with the state of its target and the delivery that has to end before it. */
const FROM = `ledger.deliveries d left join ledger.target_states t on t.target = d.target
  left join lateral (select o.id, o.state, o.due_at from ledger.deliveries o
    where d.state = 'waiting' and ${isSameTask('o', 'd')} and ${isOlder('o', 'd')} and o.state <> 'ended'
    order by o.created_at, o.sequence limit 1) older on true`;

/** The newest first; `after`: the id of the last delivery of the page before. */
export async function listDeliveries(
  db: Queryable,
  filter: DeliveryFilter,
  limit: number,
  after?: string,
): Promise<readonly ListedDelivery[]> {
  const { sql, values } = conditionOf(filter);
  const found = await db.query<Omit<ListedDelivery, 'title'> & { readonly task: TaskState }>(
    `select ${COLUMNS} from ${FROM} left join ledger.deliveries a on a.id = $${values.length + 2}
     where ${sql} and ($${values.length + 2}::text is null or d.created_at < a.created_at
       or d.created_at = a.created_at and (d.target, d.id) > (a.target, a.id))
     order by d.created_at desc, d.target, d.id limit $${values.length + 1}`,
    [...values, limit, after],
  );
  return found.rows.map(({ task, ...row }) => ({ ...row, title: task.title })); // in SQL a title with a NUL is an error
}

/** Undefined if there is no delivery of this id. */
export async function showDelivery(db: Queryable, id: string): Promise<ShownDelivery | undefined> {
  const found = await db.query<ShownDelivery>(
    `select ${COLUMNS}, d.seen_at as "seenAt", d.answer, coalesce(d.failures, '[]') as failures from ${FROM} where d.id = $1`,
    [id],
  );
  return found.rows[0];
}

/** Whether a call with this id is a delivery of our own, which came back. */
export async function isOwnDelivery(db: Queryable, id: string): Promise<boolean> {
  const found = await db.query('select from ledger.deliveries where id = $1', [id]);
  return found.rows.length > 0;
}

/** A filter as SQL over `d`, with its values from $1 on. */
export function conditionOf({ ids, target, verdict, since, until, seenAt }: DeliveryFilter) {
  return {
    sql: `($1::text[] is null or d.id = any($1)) and ($2::text is null or d.target = $2)
       and ($3::text is null or d.verdict = $3 or $3 = 'waiting' and d.state <> 'ended') and ($4::timestamptz is null or d.created_at >= $4)
       and ($5::timestamptz is null or d.created_at < $5)
       and ($6::timestamptz is null or d.ended_at is null or date_trunc('milliseconds', d.ended_at) <= $6)`,
    values: [ids, target, verdict, since, until, seenAt] as readonly unknown[],
  };
}

export interface DeliveryCounts {
  readonly target: string;
  /** Not ended yet. */
  readonly open: number;
  readonly dead: number;
}

/** Of each target that has deliveries, by name. */
export async function countDeliveries(db: Queryable): Promise<readonly DeliveryCounts[]> {
  const found = await db.query<DeliveryCounts>(
    // By indexes of the few that count: most deliveries have ended.
    `with recursive names as (
       select min(target) as target from ledger.deliveries
       union all select (select min(d.target) from ledger.deliveries d where d.target > n.target) from names n where n.target is not null)
     select n.target, waiting + sending as open, dead from names n
       cross join lateral (select count(*)::int as waiting from ledger.deliveries where target = n.target and state = 'waiting') w
       cross join lateral (select count(*)::int as sending from ledger.deliveries where target = n.target and state = 'sending') s
       cross join lateral (select count(*)::int as dead from ledger.deliveries where target = n.target and verdict = 'dead') d
     where n.target is not null order by n.target`,
  );
  return found.rows;
}
