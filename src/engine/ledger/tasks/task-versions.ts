/**
 * The last seen state of each task of a sync: one row each, whose version counts the changes. Unchanged tasks are not
 * written.
 */
import type { TaskKind } from '../../../contract/target.ts';
import { columnsOf } from '../../../storage/columns.ts';
import type { Queryable } from '../../../storage/queryable.ts';

/** The owner of the tasks: ids are unique only within one scope. */
export interface TaskScope {
  readonly scope: string;
  readonly sync: string;
}

/** After this many complete scans in a row without a task it may be gone. */
export const MISSED_FOR_GOOD = 2;

export interface KnownTask {
  readonly taskId: string;
  readonly version: number;
  readonly hash: string;
  /**
   * Title, description, start and end, as last seen; null if the task has none. Null as a whole if the operator has
   * confirmed since then that the tenant is the same, regardless of its records.
   */
  readonly said: readonly (string | null)[] | null;
  readonly isCompleted: boolean;
  readonly isGone: boolean;
  /** Complete scans in a row that have not seen it. */
  readonly missed: number;
  /** How long ago this version was written. */
  readonly ageMs: number;
}

export interface NewVersion {
  readonly taskId: string;
  readonly parentId: string | undefined;
  /** One more than the version before, or 1. */
  readonly version: number;
  readonly state: object;
  readonly hash: string;
  readonly isGone: boolean;
  /** The target that the change came from; absent: it was seen at the service. */
  readonly origin?: string | undefined;
}

/** The known state of these tasks, by id. */
export async function knownTasks(
  db: Queryable,
  { scope, sync }: TaskScope,
  kind: TaskKind,
  ids: readonly string[],
): Promise<ReadonlyMap<string, KnownTask>> {
  const found = await db.query<KnownTask>(
    `select task_id as "taskId", version, hash,
       case when changed_at > coalesce((select rebound_at from ledger.scopes where id = $1), '-infinity')
         then array[state->>'title', state->>'description', state->>'startDate', state->>'endDate'] end as said,
       (state->>'isCompleted')::bool as "isCompleted", is_gone as "isGone", missed,
       (extract(epoch from clock_timestamp() - changed_at) * 1000)::float8 as "ageMs"
     from ledger.tasks where scope = $1 and sync = $2 and kind = $3 and task_id = any($4)`,
    [scope, sync, kind, ids],
  );
  return new Map(found.rows.map((known) => [known.taskId, known]));
}

/** Writes the next version of each task; returns the ids of the tasks that no other process has changed meanwhile. */
export async function keepVersions(
  db: Queryable,
  { scope, sync }: TaskScope,
  kind: TaskKind,
  versions: readonly NewVersion[],
): Promise<ReadonlySet<string>> {
  if (versions.length === 0) return new Set();
  const columns = columnsOf(versions, 'taskId', 'parentId', 'version', 'state', 'hash', 'isGone', 'origin');
  const kept = await db.query<{ taskId: string }>(
    `insert into ledger.tasks (scope, sync, kind, task_id, parent_id, version, state, hash, is_gone, origin)
     select $1, $2, $3, t.* from unnest($4::text[], $5::text[], $6::int[], $7::jsonb[], $8::text[], $9::bool[], $10::text[]) as t
     on conflict (scope, sync, kind, task_id) do update set parent_id = excluded.parent_id, version = excluded.version,
       state = excluded.state, hash = excluded.hash, is_gone = excluded.is_gone, origin = excluded.origin, missed = 0,
       changed_at = clock_timestamp()
     where ledger.tasks.version = excluded.version - 1
     returning task_id as "taskId"`,
    [scope, sync, kind, ...columns],
  );
  return new Set(kept.rows.map(({ taskId }) => taskId));
}

/** Marks missed tasks as seen again. */
export async function seenAgain(
  db: Queryable,
  { scope, sync }: TaskScope,
  kind: TaskKind,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    `update ledger.tasks set missed = 0
     where scope = $1 and sync = $2 and kind = $3 and task_id = any($4) and missed > 0`,
    [scope, sync, kind, ids],
  );
}

/** The ids of the tasks that are known to exist, in batches. */
export async function* presentIds(
  db: Queryable,
  { scope, sync }: TaskScope,
  kind: TaskKind,
): AsyncGenerator<readonly string[]> {
  const BATCH = 5_000;
  for (let after = ''; ; ) {
    const found = await db.query<{ taskId: string }>(
      `select task_id as "taskId" from ledger.tasks
       where scope = $1 and sync = $2 and kind = $3 and not is_gone and task_id > $4 order by task_id limit ${BATCH}`,
      [scope, sync, kind, after],
    );
    const ids = found.rows.map(({ taskId }) => taskId);
    if (ids.length > 0) yield ids;
    if (ids.length < BATCH) return;
    after = ids.at(-1) ?? after;
  }
}

/** Counts tasks as missed by a complete scan. */
export async function missedOnce(
  db: Queryable,
  { scope, sync }: TaskScope,
  kind: TaskKind,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await db.query(
    `update ledger.tasks set missed = missed + 1
     where scope = $1 and sync = $2 and kind = $3 and task_id = any($4) and not is_gone and missed < ${MISSED_FOR_GOOD}`,
    [scope, sync, kind, ids],
  );
}

export interface LastState {
  readonly taskId: string;
  readonly parentId: string | null;
  readonly version: number;
  readonly hash: string;
  readonly state: unknown;
}

const LAST_STATE = `task_id as "taskId", parent_id as "parentId", version, hash, state`;

/** The tasks among these that were missed this many times in a row, in their last state. */
export async function missedAtLeast(
  db: Queryable,
  { scope, sync }: TaskScope,
  kind: TaskKind,
  ids: readonly string[],
  times: number,
): Promise<readonly LastState[]> {
  if (ids.length === 0) return [];
  const found = await db.query<LastState>(
    `select ${LAST_STATE} from ledger.tasks
     where scope = $1 and sync = $2 and kind = $3 and task_id = any($4) and not is_gone and missed >= $5`,
    [scope, sync, kind, ids, times],
  );
  return found.rows;
}

/** The existing subtasks of these parents, in their last state. */
export async function childrenOf(
  db: Queryable,
  { scope, sync }: TaskScope,
  parentIds: readonly string[],
): Promise<readonly LastState[]> {
  if (parentIds.length === 0) return [];
  const found = await db.query<LastState>(
    `select ${LAST_STATE} from ledger.tasks
     where scope = $1 and sync = $2 and kind = 'subtask' and parent_id = any($3) and not is_gone order by task_id`,
    [scope, sync, parentIds],
  );
  return found.rows;
}
