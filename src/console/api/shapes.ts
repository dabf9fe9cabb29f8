/** Schemas that several operations share. */
import { z } from 'zod';
import { LockstepError } from '../../base/errors.ts';

const PER_PAGE = 100;

export const limit = z.coerce
  .number()
  .int()
  .min(1)
  .max(1_000)
  .prefault(PER_PAGE)
  .describe(`How many at most. Default: ${PER_PAGE}.`);
export const time = z.iso.datetime();
export const next = z.string().nullable().describe('`after` of the next page; null on the last one.');
export const afterNumber = z.coerce.number().int().optional().describe('The `next` of the page before.');
export const done = z.object({
  said: z.string().describe('What was done, or why not.'),
  run: z.string().optional().describe('The run to look at next.'),
  action: z
    .string()
    .optional()
    .describe(
      'What was done, if it has another name than the action that was sent: `approve-run`, `approve-first-orders`, `decline-run`.',
    ),
  refused: z.string().optional().describe('A code, if it was not done, or only in part; `said` has the reason.'),
});

/** Refuses members that only another action takes. @throws LockstepError REQUEST_INVALID */
export function requireAction(action: string, wanted: string, members: object): void {
  const [name] = Object.entries(members).find(([, value]) => value !== undefined) ?? [];
  if (name === undefined || action === wanted) return;
  throw new LockstepError('REQUEST_INVALID', `The request is not valid: ${name}: only the action ${wanted} takes it`);
}

/** The first `limit` of what was found, and where the next page begins. `found`: one more than `limit`, if there are more. */
export function pageOf<Entry>(found: readonly Entry[], limit: number, cursorOf: (last: Entry) => string) {
  const shown = found.slice(0, limit);
  const last = found.length > limit ? shown.at(-1) : undefined;
  return { shown, next: last === undefined ? null : cursorOf(last) };
}

/** Where a list continues, as the `next` of its page before says it: the JSON of a place. */
export function afterPlace<Place>(place: z.ZodType<Place>) {
  return z
    .string()
    .transform((value, context): Place => {
      try {
        return place.parse(JSON.parse(value));
      } catch {
        context.addIssue('expected the `next` of the page before');
        return z.NEVER;
      }
    })
    .optional()
    .describe('The `next` of the page before.');
}
