/** One change of a task, a subtask or a card as it was seen, on its way to the outbox. */
import type { TaskEvent, TaskState } from '../targets/target.ts';

export interface TaskChange {
  readonly sync: string;
  readonly scope: string;
  /** Undefined: no run has seen it, a target has reported it. */
  readonly runId: string | undefined;
  readonly task: TaskState;
  readonly event: TaskEvent;
  /** Ascending per task. */
  readonly version: number;
  readonly seenAt: Date;
}
