/** What a run that watches a folder keeps about its files, so that any process can resume it. */
import { z } from 'zod';
import type { Facts } from '../../base/reasons/reason.ts';
import { VERDICTS } from '../../engine/ledger/rows.ts';
import { OUTCOMES } from './taken-files.ts';

/** How a file ends. Stored before it is moved, so that it goes to one folder however often the move is interrupted. */
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
/** What the run knows of a file that is not finished. */
const fileSchema = z.object({
  /** Its name in the folder, as bytes in base64. Absent if an earlier run has taken it. */
  entry: z.string().optional(),
  name: z.string(),
  /** The file's version when the run began, and since when it has been unchanged. */
  version: z.string(),
  sinceMs: z.number(),
  /** The run that loads it, whether that run had ended before this one began, and the fingerprint of the file. */
  load: z.string().optional(),
  isBefore: z.boolean().default(false),
  sha256: z.string().optional(),
  end: endSchema.optional(),
});
/** Files by their ids. Files that an older version stored in another form are listed again. */
export const checkpointSchema = z
  .object({
    job: z.literal('watch-orders').default('watch-orders'),
    isListed: z.boolean(),
    files: z.record(z.string(), fileSchema),
  })
  .catch({ job: 'watch-orders', isListed: false, files: {} });
export type WatchedFile = z.infer<typeof fileSchema>;
