/** What a run that watches a folder keeps of its files, so that any process can go on with it. */
import { z } from 'zod';
import { VERDICTS } from '../engine/ledger/rows.ts';
import type { Facts } from '../reasons/reason.ts';
import { OUTCOMES } from './taken-files.ts';

/** How a file ends. Kept before it is moved, so that it is moved to one place however often that is interrupted. */
const endSchema = z.object({
  outcome: z.enum(OUTCOMES),
  place: z.string(),
  problem: z.string().optional(),
  verdict: z
    .object({
      verdict: z.enum(VERDICTS),
      reason: z.string(),
      facts: z.custom<Facts>().optional(),
      detail: z.string().optional(),
    })
    // An earlier version kept a text.
    .transform(({ facts, detail = '', ...fate }) => ({ ...fate, facts: facts ?? { said: detail } })),
});
/** What the run knows of a file that is not over. */
const fileSchema = z.object({
  /** Its name in the folder, as bytes in base64. Absent where an earlier run has taken it. */
  entry: z.string().optional(),
  name: z.string(),
  /** As it was when the run began, and since when. */
  version: z.string(),
  sinceMs: z.number(),
  /** The run that loads it, whether that had ended before this one began, and the fingerprint of what it loads. */
  load: z.string().optional(),
  isBefore: z.boolean().default(false),
  sha256: z.string().optional(),
  end: endSchema.optional(),
});
/** Files by an id of their own. What an older version has kept in another form is listed again. */
export const checkpointSchema = z
  .object({
    job: z.literal('watch-orders').default('watch-orders'),
    isListed: z.boolean(),
    files: z.record(z.string(), fileSchema),
  })
  .catch({ job: 'watch-orders', isListed: false, files: {} });
export type WatchedFile = z.infer<typeof fileSchema>;
