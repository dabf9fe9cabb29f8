/** What the list of rows in review can be filtered by, in the page and in the API. */
import { z } from 'zod';
import type { ReviewCursor } from '../../engine/ledger/review-items.ts';

/** Text that Postgres can hold. */
export const plainText = z.string().refine((text) => !text.includes('\0'), 'it has a NUL character');
const text = plainText.max(200);
const place: z.ZodType<ReviewCursor> = z.tuple([z.string(), z.string(), z.string(), z.number().int()]);

export const reviewQuery = z.object({
  reason: text.optional().describe('Code of the reason.'),
  account: text.optional(),
  sync: text.optional().describe('Name of the sync, or of the loaded file.'),
  after: z
    .string()
    .transform((value, context) => {
      try {
        return place.parse(JSON.parse(value));
      } catch {
        context.addIssue('expected the `next` of the page before');
        return z.NEVER;
      }
    })
    .optional()
    .describe('The `next` of the page before.'),
});
