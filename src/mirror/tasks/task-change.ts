/** One change of a task, a subtask or a card: its event, and its form in the outbox. Pure. */
import type { TaskEvent, TaskState } from '../../contract/target.ts';

export interface TaskChange {
  readonly sync: string;
  readonly scope: string;
  /** Undefined: no run has seen it; a target has reported it. */
  readonly runId: string | undefined;
  readonly task: TaskState;
  readonly event: TaskEvent;
  /** Ascending per task. */
  readonly version: number;
  readonly seenAt: Date;
}

export interface KnownState {
  readonly isCompleted: boolean;
  readonly isGone: boolean;
  readonly hash: string;
}

/**
 * Undefined if nothing has changed. Completing and reopening take precedence over other changes: the delivered state holds all
 * of them. A task that was gone and is back is reopened or, if it came back completed, created.
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
