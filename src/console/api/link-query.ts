/** What the list of links can be filtered by, in the page and in the API. */
import { z } from 'zod';
import type { LinkCursor } from '../../mirror/links/list-links.ts';
import { plainText } from './review-query.ts';

const text = plainText.max(200);
const place = z.tuple([text, text, text]);

export const linkQuery = z.object({
  target: text.optional().describe('Name of the target.'),
  account: text.optional(),
  q: text.optional().describe('Occurs in the task, such as task:12, or in the item.'),
  after: z
    .string()
    .transform((value, context): LinkCursor => {
      try {
        const [target, account, task] = place.parse(JSON.parse(value));
        return { target, account, task };
      } catch {
        context.addIssue('expected the `next` of the page before');
        return z.NEVER;
      }
    })
    .optional()
    .describe('The `next` of the page before.'),
});
