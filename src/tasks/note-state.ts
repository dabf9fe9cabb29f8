/** The way back: a task was brought into a state by Lockstep itself, and the next scan has nothing new to see in it. */
import type { Queryable } from '../engine/ledger/runs.ts';
import { keepVersions, knownTasks, type TaskScope } from '../engine/ledger/task-versions.ts';
import type { TaskEvent, TaskState } from '../targets/target.ts';
import { eventOf } from './events.ts';
import { hashOf } from './task-state.ts';
import { toVersion } from './watching.ts';

export type Noted =
  /** For the targets other than the one it came from. */
  | { readonly status: 'noted'; readonly event: TaskEvent; readonly version: number }
  /** It was known to be so. */
  | { readonly status: 'unchanged' };

/** Records that the task is in this state now, by the wish of the target `origin`; undefined: it was seen to be. */
export async function noteStateHere(
  db: Queryable,
  sync: TaskScope,
  task: TaskState,
  origin: string | undefined,
): Promise<Noted> {
  const hash = hashOf(task);
  for (;;) {
    const before = (await knownTasks(db, sync, task.kind, [task.id])).get(task.id);
    const event = eventOf(before, task, hash);
    if (event === undefined) return { status: 'unchanged' };
    const version = (before?.version ?? 0) + 1;
    const kept = await keepVersions(db, sync, task.kind, [
      { ...toVersion({ task, hash, version }), ...(origin !== undefined && { origin }) },
    ]);
    if (kept.has(task.id)) return { status: 'noted', event, version }; // else a scan has given it a version meanwhile
  }
}

/** Gives the state that is known a version of its own once more, so that it can be told again; undefined where there is none. */
export async function noteStateAgain(
  db: Queryable,
  sync: TaskScope,
  task: TaskState,
): Promise<Extract<Noted, { status: 'noted' }> | undefined> {
  const hash = hashOf(task);
  for (;;) {
    const before = (await knownTasks(db, sync, task.kind, [task.id])).get(task.id);
    if (before === undefined || before.isGone || before.hash !== hash) return undefined;
    const version = before.version + 1;
    const kept = await keepVersions(db, sync, task.kind, [toVersion({ task, hash, version })]);
    if (kept.has(task.id)) return { status: 'noted', event: 'changed', version };
  }
}
