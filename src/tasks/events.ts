/** What has happened to a task between the state that was known and the one that is seen now. Pure. */
import type { TaskEvent, TaskState } from '../targets/target.ts';

export interface KnownState {
  readonly isCompleted: boolean;
  readonly isGone: boolean;
  readonly hash: string;
}

/**
 * Undefined where nothing has. Completing and reopening win over other changes: the state that is delivered holds all of
 * them. What was gone and is back is reopened or, where it came back completed, created.
 */
export function eventOf(
  before: KnownState | undefined,
  now: Pick<TaskState, 'isCompleted'>,
  hash: string,
): TaskEvent | undefined {
  if (before === undefined) return now.isCompleted ? 'completed' : 'created';
  if (before.isGone) return now.isCompleted ? 'created' : 'reopened';
  if (now.isCompleted !== before.isCompleted) return now.isCompleted ? 'completed' : 'reopened';
  return hash === before.hash ? undefined : 'changed';
}
