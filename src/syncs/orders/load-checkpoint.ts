/** How far a load has come before its orders are sent: its run's checkpoint, from which any process can resume. */
import { z } from 'zod';
import { type Run, recordProgress } from '../../engine/ledger/runs.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { JobResult } from '../../engine/worker/job.ts';
import type { Queryable } from '../../storage/queryable.ts';

const checkpointSchema = z.object({
  /** Absent in checkpoints of earlier versions. */
  job: z.literal('orders').default('orders'),
  /**
   * The next step: find the customers, wait for customers that are being created, take the orders' keys, or read the
   * existing orders and decide.
   */
  step: z.enum(['customers', 'creating', 'keys', 'orders']).default('customers'),
  /**
   * What it would write needed no approval, or got it: missing customers may be created, and failed rows are retried without
   * another approval.
   */
  isCleared: z.boolean().default(false),
  /** Only the first orders of the plan were approved: the load asks again for the others. */
  isPartial: z.boolean().optional(),
  /** The run that creates missing customers, or has created them. */
  creator: z.string().optional(),
  /** The run that this load waits for, and since when, on the clock of a process. */
  waits: z.object({ run: z.string(), sinceMs: z.number() }).optional(),
  /** How many orders the last decision plans to update. */
  updates: z.number().optional(),
});

export type LoadCheckpoint = Readonly<Omit<z.infer<typeof checkpointSchema>, 'job'>>;

export function checkpointOf(run: Pick<Run, 'checkpoint'>): LoadCheckpoint {
  return checkpointSchema.parse(run.checkpoint);
}

export async function saveCheckpoint(db: Queryable, runId: string, checkpoint: LoadCheckpoint): Promise<void> {
  await recordProgress(db, runId, { checkpoint: { ...checkpoint, job: 'orders' } });
}

/** One step is done, or the whole job. */
export type Stepped = { readonly status: 'on'; readonly checkpoint: LoadCheckpoint } | JobResult;

export async function continueFrom(exclusive: Exclusive, runId: string, checkpoint: LoadCheckpoint): Promise<Stepped> {
  await exclusive.transaction((db) => saveCheckpoint(db, runId, checkpoint));
  return { status: 'on', checkpoint };
}
