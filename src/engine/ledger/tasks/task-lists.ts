/** Which lists of tasks a sync has scanned completely, and which tasks are next to have their subtasks read. */
import type { Queryable } from '../../../storage/queryable.ts';
import type { TaskScope } from './task-versions.ts';

/** The lists whose first scan is complete. */
export async function scannedLists(db: Queryable, { scope, sync }: TaskScope): Promise<ReadonlySet<string>> {
  const found = await db.query<{ list: string }>('select list from ledger.task_lists where scope = $1 and sync = $2', [
    scope,
    sync,
  ]);
  return new Set(found.rows.map(({ list }) => list));
}

export async function keepScannedLists(
  db: Queryable,
  { scope, sync }: TaskScope,
  lists: readonly string[],
): Promise<void> {
  await db.query(
    `insert into ledger.task_lists (scope, sync, list) select $1, $2, unnest($3::text[]) on conflict do nothing`,
    [scope, sync, lists],
  );
}

export interface ParentTask {
  readonly taskId: string;
  /** The task was created after the first scan and found in this run: its children are new, too. */
  readonly isNew: boolean;
  readonly wasAsked: boolean;
}

/**
 * Tasks whose subtasks are read: tasks that changed in this run, tasks with a subtask that was missed once, and a share of
 * the others, those read longest ago first. In a first scan no task has changed.
 */
export async function parentsToAsk(
  db: Queryable,
  { scope, sync }: TaskScope,
  { runId, isFirstScan, share }: { runId: string; isFirstScan: boolean; share: number },
): Promise<readonly ParentTask[]> {
  const found = await db.query<ParentTask>(
    `with mine as (select task_id, subtasks_at, version from ledger.tasks
       where scope = $1 and sync = $2 and kind = 'task' and not is_gone),
     changed as (select substr(r.source_id, 6) as task_id, r.fields->>'event' in ('created', 'completed') as came
       from ledger.inputs r where r.run_id = $3 and r.source_id like 'task:%' and r.fields->>'event' <> 'gone' and not $4),
     missed as (select distinct parent_id as task_id from ledger.tasks
       where scope = $1 and sync = $2 and kind = 'subtask' and missed > 0 and not is_gone),
     turn as (select task_id from mine order by subtasks_at nulls first, length(task_id), task_id
       limit ceil($5::float8 * (select count(*) from mine)))
     select m.task_id as "taskId", coalesce(c.came, false) and m.version = 1 as "isNew",
       m.subtasks_at is not null as "wasAsked"
     from mine m left join changed c using (task_id)
     where (c.task_id is not null and coalesce(m.subtasks_at < (select created_at from ledger.runs where id = $3), true))
       or task_id in (select task_id from missed) or task_id in (select task_id from turn)
     order by task_id`,
    [scope, sync, runId, isFirstScan, share],
  );
  return found.rows;
}

/** Notes that the subtasks of a task were read now. */
export async function noteAsked(db: Queryable, { scope, sync }: TaskScope, taskId: string): Promise<void> {
  await db.query(
    `update ledger.tasks set subtasks_at = clock_timestamp()
     where scope = $1 and sync = $2 and kind = 'task' and task_id = $3`,
    [scope, sync, taskId],
  );
}
