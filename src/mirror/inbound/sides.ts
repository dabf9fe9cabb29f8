/** Both sides of a link, as the ledger knows them: the last seen state of the task, and the last state sent to its item. */
import { TASK_KINDS, type TaskState } from '../../contract/target.ts';
import type { TaskScope } from '../../engine/ledger/tasks/task-versions.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { linkKind } from '../links/item-links.ts';
import { unclearUntil } from '../outbox/delivery-sql.ts';

/** A task of one sync that an item is linked with. */
export interface LinkedTask extends TaskScope {
  readonly kind: TaskState['kind'];
  readonly id: string;
}

export interface Sides {
  /** Undefined: no scan of this sync has seen the task yet. */
  readonly known: { readonly version: number; readonly state: TaskState } | undefined;
  /** The states of its deliveries to the target that wait or are on their way. */
  readonly waiting: readonly boolean[];
  readonly isSending: boolean;
  /** A delivery has reached the target since the given moment. */
  readonly isToldSince: boolean;
  /**
   * The item's state when it was last read or last sent one, whichever is later. An item that Lockstep has created was open.
   * Undefined: none of that has happened.
   */
  readonly lastSeen: boolean | undefined;
  /**
   * States that it may have been sent since then by deliveries whose arrival is unknown: deliveries that were tried
   * without an answer, given up, or superseded when they may have been on their way, or may still be. While the task was
   * gone, its item may have been closed, by Lockstep or by a person who was told so: that says nothing about a task that has
   * come back.
   */
  readonly maybeTold: readonly boolean[];
}

/** The known earlier state of an item that is now in this state; a state that we may have sent ourselves is not a move. */
export function stateBefore({ lastSeen, maybeTold }: Sides, isCompleted: boolean): boolean | undefined {
  return maybeTold.includes(isCompleted) ? isCompleted : lastSeen;
}

/** Since when: a moment of the database's clock, or this long before the item's report came in. */
export type Since = { readonly at: string } | { readonly beforeReportMs: number };

/** When the item's report came in. */
export const REPORTED: Since = { beforeReportMs: 0 };

/**
 * The tasks that an item of a target is linked with in each of these syncs. `own`: the target has no items other than the
 * tasks themselves, by their ids.
 */
export async function tasksOf(
  db: Queryable,
  { target, itemId }: { readonly target: string; readonly itemId: string },
  scopes: readonly TaskScope[],
  { own }: { readonly own: boolean },
): Promise<readonly LinkedTask[]> {
  if (own) return scopes.map(({ scope, sync }) => ({ scope, sync, kind: 'task', id: itemId }));
  const found = await db.query<{ scope: string; source: string }>(
    'select scope, source_id as source from ledger.links where scope = any($1) and kind = $2 and record_id = $3',
    [scopes.map(({ scope }) => scope), linkKind(target), itemId],
  );
  return found.rows.flatMap(({ scope, source }) => {
    const task = sourceOf(source);
    const inScope = scopes.filter((each) => each.scope === scope);
    return task === undefined ? [] : inScope.map(({ sync }) => ({ scope, sync, ...task }));
  });
}

/** SQL: delivery `d` is a state of the task, for the target. */
const OF_TASK = 'd.target = $1 and d.scope = $3 and d.sync = $4 and d.kind = $5 and d.task_id = $6';

export async function readSides(
  db: Queryable,
  { target, itemId }: { readonly target: string; readonly itemId: string },
  { scope, sync, kind, id }: LinkedTask,
  since: Since,
): Promise<Sides> {
  // -> and not ->>, which fails if another member has a character that Postgres cannot store as text.
  const found = await db.query<{
    version: number | null;
    state: TaskState | null;
    waiting: readonly boolean[];
    isSending: boolean;
    isToldSince: boolean;
    lastSeen: boolean | null;
    maybeTold: readonly boolean[];
  }>(
    `select t.version, t.state, open.states as waiting, open.sending > 0 as "isSending",
       coalesce(told.ended_at >= coalesce($7::timestamptz, r.reported_at - $8 * interval '1 ms'), false) as "isToldSince",
       case when told.ended_at is null or r.seen_at > told.ended_at then coalesce(r.seen_completed, created.is_completed)
         else told.is_completed end as "lastSeen",
       array(select distinct (d.task->'isCompleted')::text = 'true' from ledger.deliveries d where ${OF_TASK}
           and (d.state <> 'ended' or (d.verdict in ('superseded', 'dead')
             and (r.seen_at is null or greatest(d.ended_at, ${unclearUntil('d.unclear_at')}) > r.seen_at)))
           and d.sequence > coalesce(told.sequence, 0)
         union select true from ledger.deliveries d where ${OF_TASK}
           and (d.task->'isGone')::text = 'true' and d.sequence >= coalesce(told.sequence, 0)) as "maybeTold"
     from (select 1) one
     left join ledger.tasks t on t.scope = $3 and t.sync = $4 and t.kind = $5 and t.task_id = $6
     left join ledger.item_reports r on r.target = $1 and r.item_id = $2
     left join lateral (select false as is_completed from ledger.creations
       where scope = $3 and target = $1 and source_id = $5 || ':' || $6 and result = $2) created on true
     left join lateral (select (d.task->'isCompleted')::text = 'true' as is_completed, d.ended_at, d.sequence
       from ledger.deliveries d where ${OF_TASK} and d.verdict in ('delivered', 'already') order by d.ended_at desc limit 1) told on true
     cross join lateral (select coalesce(array_agg(distinct (d.task->'isCompleted')::text = 'true'), '{}') as states,
       count(*) filter (where d.state = 'sending') as sending
       from ledger.deliveries d where ${OF_TASK} and d.state <> 'ended') open`,
    [target, itemId, scope, sync, kind, id, 'at' in since ? since.at : null, 'at' in since ? 0 : since.beforeReportMs],
  );
  const row = found.rows[0];
  if (row === undefined) throw new Error('unreachable: one row is always answered');
  const { version, state, lastSeen, ...rest } = row;
  const known = version === null || state === null ? undefined : { version, state };
  return { ...rest, known, lastSeen: lastSeen ?? undefined };
}

/** `task:12`. */
function sourceOf(source: string): Pick<TaskState, 'kind' | 'id'> | undefined {
  const at = source.indexOf(':');
  const kind = TASK_KINDS.find((each) => each === source.slice(0, at));
  return kind === undefined ? undefined : { kind, id: source.slice(at + 1) };
}
