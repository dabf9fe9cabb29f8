/** What a sync of tasks can be told, as its runs keep it. Defaults are the settings' (settings/schema-sync.ts). */
import { z } from 'zod';

export const tasksOptions = z.object({
  subtasks: z.boolean(),
  /** Of the tasks that have not changed, those asked for their subtasks in one scan: 0 to 1. */
  subtasksShare: z.number().min(0).max(1),
  backfill: z.boolean(),
  /** All of them, or these. */
  pipelines: z.union([z.boolean(), z.array(z.string())]),
  /** Columns whose cards count as completed, by their names. */
  doneColumns: z.array(z.string()),
  /** Who has the say where both sides have changed. */
  onConflict: z.enum(['service', 'target']),
  /** Targets whose items each run reads, to find what has changed there. */
  poll: z.array(z.string()),
  /** Of their linked items, those that one run reads: 0 to 1. */
  pollShare: z.number().min(0).max(1),
  /** Read the items of all targets back, and repair what has diverged. */
  reconcile: z.boolean(),
  /** The targets that changes go to. */
  targets: z.array(z.string()),
});

export type TasksOptions = z.infer<typeof tasksOptions>;
