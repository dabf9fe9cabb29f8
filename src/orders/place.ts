/** How far a load has come before its orders are sent: kept as its run's checkpoint, so that any process can go on. */
import { z } from 'zod';
import { type Queryable, type Run, recordProgress } from '../engine/ledger/runs.ts';

const placeSchema = z.object({
  /** Absent in checkpoints of earlier versions. */
  job: z.literal('orders').default('orders'),
  /**
   * What is to be done next: find the customers, wait for those that are created, take the orders' keys, or read the
   * orders that are there and decide.
   */
  step: z.enum(['customers', 'creating', 'keys', 'orders']).default('customers'),
  /** A person was shown what is planned, where the load asks for it. */
  isShown: z.boolean().default(false),
  /** The run that creates missing customers, or has created them. */
  creator: z.string().optional(),
  /** The run that it waits for, and since when, on the clock of a process. */
  waits: z.object({ run: z.string(), sinceMs: z.number() }).optional(),
  /** How many orders the service's list held before the first write; unknown where it came in pages. */
  ordersBefore: z.number().optional(),
  /** How many orders the last decision plans to update. */
  updates: z.number().optional(),
});

export type Place = Readonly<Omit<z.infer<typeof placeSchema>, 'job'>>;

export function placeOf(run: Pick<Run, 'checkpoint'>): Place {
  return placeSchema.parse(run.checkpoint);
}

export async function keepPlace(db: Queryable, runId: string, place: Place): Promise<void> {
  await recordProgress(db, runId, { checkpoint: { ...place, job: 'orders' } });
}
