/** What the list of rows in review can be filtered by, in the page and in the API. */
import { z } from 'zod';
import type { ReviewCursor } from '../../engine/ledger/review-items.ts';
import { afterPlace } from './shapes.ts';

const text = z.string().max(200);
const place: z.ZodType<ReviewCursor> = z.tuple([z.string(), z.string(), z.string(), z.number().int()]);

export const reviewQuery = z.object({
  reason: text.optional().describe('Code of the reason.'),
  account: text.optional(),
  sync: text.optional().describe('Name of the sync, or of the loaded file.'),
  after: afterPlace(place),
});
