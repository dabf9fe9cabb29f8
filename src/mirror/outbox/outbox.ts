/** The outbox: the transaction that writes a change also queues its delivery to each target. */
import { createHash } from 'node:crypto';
import type { ChangeFilter } from '../../settings/target-events.ts';
import { columnsOf } from '../../storage/columns.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { whyFiltered } from '../targets/filtered.ts';
import type { TaskChange } from '../tasks/task-state.ts';
import { isOlder, isSameTask } from './delivery-sql.ts';

/** Changes per statement. */
const CHUNK = 1_000;

/** A target, and which changes it receives; undefined: all. */
export interface Recipient {
  readonly name: string;
  readonly filter: ChangeFilter | undefined;
}

export function recipientsOf(
  names: readonly string[],
  filterOf: (name: string) => ChangeFilter | undefined,
): readonly Recipient[] {
  return names.map((name) => ({ name, filter: filterOf(name) }));
}

/**
 * Queues a delivery of each change to each target. Must be called in the caller's transaction; repeating it with the same
 * changes is safe. A newer state replaces an older one that still waits: the older one ends as superseded. A change that the
 * target does not receive ends as skipped, and replaces none.
 */
export async function queueDeliveries(
  db: Queryable,
  recipients: readonly Recipient[],
  changes: readonly TaskChange[],
): Promise<void> {
  for (const { name, filter } of recipients) {
    const queued = changes.map((change) => {
      const detail = filter && whyFiltered(change, filter)?.detail;
      return { id: deliveryId(name, change), change, skipped: detail };
    });
    for (let from = 0; from < queued.length; from += CHUNK) {
      await insertChunk(db, name, queued.slice(from, from + CHUNK));
    }
    await supersedeOlder(
      db,
      queued.filter(({ skipped }) => skipped === undefined),
    );
  }
}

interface Queued {
  readonly id: string;
  readonly change: TaskChange;
  /** Why the target does not receive it; undefined: it does. */
  readonly skipped: string | undefined;
}

/** Stable: the same change is always the same delivery, however often it is queued. */
export function deliveryId(target: string, { scope, sync, task, version }: TaskChange): string {
  return stableId([scope, sync, task.kind, task.id, version, target]);
}

function stableId(parts: readonly (string | number)[]): string {
  const named = JSON.stringify(parts);
  return `msg_${createHash('sha256').update(named).digest('base64url').slice(0, 24)}`;
}

/** A message about a problem, on its way to one channel. */
export interface QueuedAlert {
  /** The name of the channel in the outbox. */
  readonly target: string;
  /** The problem; of its messages, a newer one replaces an older one that still waits. */
  readonly key: string;
  readonly sync: string;
  readonly sequence: number;
  readonly event: AlertState;
  readonly message: { readonly title: string };
}

export type AlertState = 'opened' | 'recovered';

/** Queues messages about problems. Must be called in the transaction that keeps the state of the problems. */
export async function queueAlerts(db: Queryable, alerts: readonly QueuedAlert[]): Promise<void> {
  const queued = alerts.map((alert) => ({ ...alert, id: stableId(['alert', alert.sequence, alert.target]) }));
  await db.query(
    `insert into ledger.deliveries (id, target, scope, sync, kind, task_id, sequence, event, task, seen_at, state)
     select id, target, '', sync, 'alert', key, sequence, event, message, clock_timestamp(), 'waiting'
     from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::text[], $7::json[])
       as t(id, target, sync, key, sequence, event, message)`,
    [...columnsOf(queued, 'id', 'target', 'sync', 'key', 'sequence', 'event', 'message')],
  );
  await supersedeOlder(db, queued);
}

async function insertChunk(db: Queryable, target: string, queued: readonly Queued[]): Promise<void> {
  const names = ['id', 'scope', 'sync', 'runId', 'kind', 'taskId', 'version', 'event'] as const;
  const rows = queued.map(({ change, ...more }) => ({
    ...change,
    ...more,
    kind: change.task.kind,
    taskId: change.task.id,
  }));
  await db.query(
    `insert into ledger.deliveries
       (id, target, scope, sync, run_id, kind, task_id, sequence, event, task, seen_at, state, verdict, reason, detail, ended_at)
     select id, $1, scope, sync, run_id, kind, task_id, sequence, event, task, seen_at,
       case when skipped is null then 'waiting' else 'ended' end, case when skipped is not null then 'skipped' end,
       case when skipped is not null then 'FILTERED' end, skipped, case when skipped is not null then clock_timestamp() end
     from unnest($2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::int[], $9::text[],
       $10::json[], $11::timestamptz[], $12::text[])
       as t(id, scope, sync, run_id, kind, task_id, sequence, event, task, seen_at, skipped)
     on conflict do nothing`,
    [target, ...columnsOf(rows, ...names, 'task', 'seenAt', 'skipped')],
  );
}

/**
 * Ends older deliveries that wait. Deliveries on their way record which one is newer, and are not retried if they fail. A
 * process that writes their outcome at this moment either sees the newer one or is seen here, because both lock the row.
 */
async function supersedeOlder(db: Queryable, queued: readonly { readonly id: string }[]): Promise<void> {
  await db.query(
    `with newest as (
       select distinct on (target, scope, sync, kind, task_id) id, target, scope, sync, kind, task_id, sequence, created_at
       from ledger.deliveries where id = any($1) order by target, scope, sync, kind, task_id, sequence desc
     ), older as (
       select d.id, n.id as by_id from newest n join ledger.deliveries d on ${isSameTask('d', 'n')}
         and ${isOlder('d', 'n')} and d.state <> 'ended'
       order by d.id collate "C" for update of d
     )
     update ledger.deliveries d set newer_id = by_id,
       state = case d.state when 'waiting' then 'ended' else d.state end,
       verdict = case d.state when 'waiting' then 'superseded' else d.verdict end,
       reason = case d.state when 'waiting' then 'SUPERSEDED' else d.reason end,
       detail = case d.state when 'waiting' then 'by ' || by_id else d.detail end,
       ended_at = case d.state when 'waiting' then clock_timestamp() else d.ended_at end
     from older where d.id = older.id and d.state <> 'ended'`,
    [queued.map(({ id }) => id)],
  );
}
