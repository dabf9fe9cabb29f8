/** An item of a list that does not have the form of its vendor: the others of the list are read without it. */
import { z } from 'zod';
import type { UnreadItem } from '../../../contract/target.ts';

const MAX_SHOWN = 60;

/** The item as `schema` reads it, or why it cannot be read. `idName`: the member that names it. */
export function orUnread<Item>(schema: z.ZodType<Item>, idName: string): z.ZodType<Item | UnreadItem> {
  const named = z.object({ [idName]: z.union([z.string(), z.number()]) }).transform((item) => String(item[idName]));
  return z.unknown().transform((given) => {
    const read = schema.safeParse(given);
    if (read.success) return read.data;
    const [issue] = read.error.issues;
    const id = named.safeParse(given).data ?? JSON.stringify(given).slice(0, MAX_SHOWN);
    return { unreadId: id, why: `${issue?.path.join('.')}: ${issue?.message}` };
  });
}
