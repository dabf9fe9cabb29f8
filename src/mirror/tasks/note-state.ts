/** Records a state that Lockstep itself has given to a task, so that the next scan finds nothing new. */
import type { TaskEvent, TaskState } from '../../contract/target.ts';
import { type KnownTask, keepVersions, knownTasks, type TaskScope } from '../../engine/ledger/tasks/task-versions.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { eventOf, taskHash } from './task-state.ts';
import { toVersion } from './watching.ts';

export type Noted =
  /** For all targets other than the one it came from. */
  | { readonly status: 'noted'; readonly event: TaskEvent; readonly version: number }
  /** Nothing has to be sent. */
  | { readonly status: 'unchanged' };

/** Records that the task is in this state now, because of the target `origin`; undefined: a read has shown the state. */
export function noteStateHere(
  db: Queryable,
  sync: TaskScope,
  task: TaskState,
  origin: string | undefined,
): Promise<Noted> {
  return note(db, sync, task, origin, (before, hash) => eventOf(before, task, hash));
}

/** Gives the known state a version of its own, so that it can be sent again. */
export function noteStateAgain(db: Queryable, sync: TaskScope, task: TaskState): Promise<Noted> {
  return note(db, sync, task, undefined, (before, hash) =>
    before === undefined || before.isGone || before.hash !== hash ? undefined : 'changed',
  );
}

async function note(
  db: Queryable,
  sync: TaskScope,
  task: TaskState,
  origin: string | undefined,
  happened: (before: KnownTask | undefined, hash: string) => TaskEvent | undefined,
): Promise<Noted> {
  const hash = taskHash(task);
  for (;;) {
    const before = (await knownTasks(db, sync, task.kind, [task.id])).get(task.id);
    const event = happened(before, hash);
    if (event === undefined) return { status: 'unchanged' };
    const version = (before?.version ?? 0) + 1;
    const kept = await keepVersions(db, sync, task.kind, [{ ...toVersion({ task, hash, version }), origin }]);
    if (kept.has(task.id)) return { status: 'noted', event, version }; // otherwise a scan has written a version meanwhile
  }
}
