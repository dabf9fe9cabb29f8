/** How Todoist names its tasks, and how its lists continue. */
import { z } from 'zod';

export const TASKS = '/api/v1/tasks';
export const PER_PAGE = '200';
export const MAX_PAGES = 10;

export const id = z.union([z.string(), z.int()]).transform(String);
export const cursor = { next_cursor: z.string().nullish() };

/** The query of the page that follows; undefined after the last. */
export function nextPage({ next_cursor }: { readonly next_cursor?: string | null | undefined }) {
  return next_cursor ? { cursor: next_cursor } : undefined;
}
