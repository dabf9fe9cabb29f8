/**
 * Tasks that a scan has not seen. A task is gone only if two complete scans in a row miss it and a get by its id does not find
 * it; if the get finds it, the list had only moved.
 */
import { readAhead } from '../../base/read-ahead.ts';
import type { TaskKind, TaskState } from '../../contract/target.ts';
import { type LookedUp, lookUp as lookUpRecord } from '../../engine/account/look-up.ts';
import { readsOf } from '../../engine/account/reads.ts';
import {
  childrenOf,
  type LastState,
  MISSED_FOR_GOOD,
  missedAtLeast,
  missedOnce,
  presentIds,
  type TaskScope,
} from '../../engine/ledger/tasks/task-versions.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { type Happened, keepChanges, type Watching } from './watching.ts';

/** Calls in flight at most. */
const MOST_AT_ONCE = 16;

/** Known tasks of a kind that are not in `seen`. */
export async function missingFrom(
  db: Queryable,
  scope: TaskScope,
  kind: TaskKind,
  seen: { has(id: string): boolean },
): Promise<readonly string[]> {
  const missing: string[] = [];
  for await (const ids of presentIds(db, scope, kind)) missing.push(...ids.filter((id) => !seen.has(id)));
  return missing;
}

/** So many tasks are gone even if the scan has seen no task. */
export const FEW_TASKS = 2;

/**
 * Reads tasks by their ids, and first a task that the scan has just seen. If none of those is found either, reading by id does
 * not work at this service, and the result is undefined. So it is if the scan has seen no task and many are missing: a service
 * that shows an empty list by mistake may not find them either.
 */
export async function lookUpTasks(
  context: JobContext<unknown>,
  ids: readonly string[],
  witnesses: readonly string[],
): Promise<ReadonlyMap<string, LookedUp> | undefined> {
  if (witnesses.length === 0 ? ids.length > FEW_TASKS : !(await isAnyFound(context, witnesses))) return undefined;
  const found = new Map<string, LookedUp>();
  const read = async (id: string) => [id, await lookUp(context, id)] as const;
  for await (const [id, answer] of readAhead(ids, read, () => MOST_AT_ONCE)) found.set(id, answer);
  return found;
}

/** Any of them is enough: one may have been deleted since. */
async function isAnyFound(context: JobContext<unknown>, ids: readonly string[]): Promise<boolean> {
  for (const id of ids) if ((await lookUp(context, id)).status === 'found') return true;
  return false;
}

function lookUp(context: JobContext<unknown>, id: string): Promise<LookedUp> {
  return lookUpRecord(context.account, 'tasks', id, readsOf(context));
}

/**
 * Inside a transaction: records that a complete scan has missed these tasks, and queues changes for tasks that are gone now.
 * `isAbsent`: the service was asked for the task and does not have it. A gone task's subtasks are gone with it.
 */
export async function keepMissing(
  db: Queryable,
  watching: Watching,
  kind: TaskKind,
  missing: readonly string[],
  isAbsent: (id: string) => boolean,
): Promise<void> {
  const { run } = watching;
  if (missing.length === 0) return;
  if (!run.dryRun) await missedOnce(db, run, kind, missing);
  const times = run.dryRun ? MISSED_FOR_GOOD - 1 : MISSED_FOR_GOOD; // a dry run does not count as a scan
  const gone = (await missedAtLeast(db, run, kind, missing, times)).filter(({ taskId }) => isAbsent(taskId));
  if (gone.length === 0) return;
  await keepChanges(db, watching, kind, gone.map(toGone), { isSilent: false });
  if (kind !== 'task') return;
  const ids = gone.map(({ taskId }) => taskId);
  const children = await childrenOf(db, run, ids);
  await keepChanges(db, watching, 'subtask', children.map(toGone), { isSilent: false });
}

function toGone({ version, hash, state }: LastState): Happened {
  // Safe, because keepVersions has written the state.
  return { task: { ...(state as TaskState), isGone: true }, hash, event: 'gone', version: version + 1 };
}
