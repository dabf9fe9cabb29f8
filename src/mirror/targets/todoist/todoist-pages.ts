/** How Todoist names its tasks, and how its lists come in pages. */
import { z } from 'zod';
import type { Calls } from '../items/item-calls.ts';
import type { Pages } from '../items/item-pages.ts';
import type { Asked } from '../items/item-target.ts';

export const TASKS = '/api/v1/tasks';
const PER_PAGE = 200;
const MOST_PAGES = 10;

export const id = z.union([z.string(), z.int()]).transform(String);

const projectAnswer = z.object({ name: z.string(), is_archived: z.boolean(), is_deleted: z.boolean() });

/** The name of a project that takes tasks. Todoist creates a task in an archived project too, where no one sees it. */
export async function findProject(calls: Calls, project: string): Promise<Asked<string>> {
  const asked = await calls.ask({ method: 'GET', path: `/api/v1/projects/${project}` }, projectAnswer);
  if (asked.status !== 'ok') return asked;
  const { name, is_archived, is_deleted } = asked.value;
  if (is_deleted) return { status: 'missing', detail: `Todoist: the project ${project} is deleted` };
  if (is_archived) return { status: 'missing', detail: `Todoist: the project ${project} is archived: unarchive it` };
  return { status: 'ok', value: name };
}

const next_cursor = z.string().nullish();

export function todoistList<Item>(
  calls: Calls,
  path: string,
  item: z.ZodType<Item>,
  query: Readonly<Record<string, string>> = {},
): Pages<Item> {
  const page = z.union([
    z
      .object({ results: z.array(item), next_cursor })
      .transform(({ results, ...rest }) => ({ ...rest, items: results })),
    z.object({ items: z.array(item), next_cursor }), // the list of completed tasks
  ]);
  const answer = page.transform(({ items, next_cursor: next }) => ({ items, next }));
  return {
    most: MOST_PAGES,
    read(cursor) {
      const all = new URLSearchParams({ ...query, limit: String(PER_PAGE), ...(cursor !== undefined && { cursor }) });
      return calls.ask({ method: 'GET', path: `${path}?${all}` }, answer);
    },
  };
}
