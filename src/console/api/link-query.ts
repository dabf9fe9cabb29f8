/** What the list of links can be filtered by, in the page and in the API. */
import { z } from 'zod';
import type { LinkCursor } from '../../mirror/links/list-links.ts';
import { afterPlace } from './shapes.ts';

const text = z.string().max(200);
const place: z.ZodType<LinkCursor> = z
  .tuple([text, text, text])
  .transform(([target, account, task]) => ({ target, account, task }));

export const linkQuery = z.object({
  target: text.optional().describe('Name of the target.'),
  account: text.optional(),
  q: text.optional().describe('Occurs in the task, such as task:12, or in the item.'),
  after: afterPlace(place),
});
