/**
 * Tasks of Asana. Sources: developers.asana.com/reference/tasks, …/docs/errors and …/docs/rate-limits. Every body is
 * wrapped in `data`.
 */
import { z } from 'zod';
import type { AsanaTarget } from '../settings/targets/asana.ts';
import { isoSeconds } from './iso-time.ts';
import { type Calls, findInPages, moved, type TargetNeeds } from './item-calls.ts';
import { endsWith, markedText, titleOf } from './item-text.ts';
import { markerOf } from './marker.ts';
import type { ItemState, Target } from './target.ts';
import { type VendorItems, vendorTarget } from './vendor-target.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A task of ours that was not touched for longer is not looked for: its creation has long been settled. */
const FIND_WITHIN_MS = 30 * DAY_MS;
const PER_PAGE = 100;
const MAX_PAGES = 20;

const task = z
  .object({ gid: z.string(), completed: z.boolean(), notes: z.string().nullish() })
  .transform(({ gid, completed, notes }) => {
    return { itemId: gid, isCompleted: completed, status: completed ? 'completed' : 'open', notes };
  });
const page = z.object({ data: z.array(task), next_page: z.object({ offset: z.string() }).nullish() });

const message = z
  .object({ errors: z.array(z.object({ message: z.string() })).min(1) })
  .transform(({ errors }) => errors.map((error) => error.message).join('; '));

export function openAsana(settings: AsanaTarget, needs: TargetNeeds): Target {
  const { project = '' } = settings;

  const itemsBy = (calls: Calls): VendorItems<ItemState> => ({
    read(itemId) {
      const found = z.object({ data: task }).transform(({ data }) => data);
      return calls.ask({ method: 'GET', path: `/tasks/${itemId}?opt_fields=completed` }, found);
    },
    write({ itemId }, wanted) {
      const completed = wanted.status === 'completed';
      const body = { data: { completed } };
      return calls.ask({ method: 'PUT', path: `/tasks/${itemId}`, body }, moved(completed ? 'completed' : 'open'));
    },
    async find(delivery) {
      const modified_since = isoSeconds(new Date(delivery.seenAt.getTime() - FIND_WITHIN_MS));
      const asked = await findInPages(calls, {
        path: '/tasks',
        query: { project, opt_fields: 'completed,notes', modified_since, limit: String(PER_PAGE) },
        page,
        mostPages: MAX_PAGES,
        findIn: ({ data }) => data.find(({ notes }) => endsWith(notes, markerOf(delivery))),
        next: ({ next_page }) => next_page ?? undefined,
      });
      if (asked.status !== 'ok') return asked;
      if (asked.value.isWhole) return { status: 'ok', value: asked.value.found };
      // The list has no order to stop by: creating without having seen all of it could create twice.
      const detail = `Asana: more than ${MAX_PAGES * PER_PAGE} tasks of project ${project} changed within 30 days, too many to look for one that exists already: give this target a project of its own`;
      return { status: 'refused', reason: 'TOO_MANY_ITEMS', detail };
    },
    add(delivery) {
      const notes = markedText(delivery.task, markerOf(delivery));
      const body = { data: { name: titleOf(delivery.task), notes, projects: [project] } };
      const created = z.object({ data: z.object({ gid: z.string() }) }).transform(({ data }) => data.gid);
      return calls.ask({ method: 'POST', path: '/tasks', body }, created);
    },
  });

  return vendorTarget(
    {
      name: 'Asana',
      noun: 'Asana task',
      linkedBy: 'the number that ends its address',
      isItemId: (itemId) => /^\d{1,30}$/.test(itemId),
      howToLink: 'name it in the text of the task by its address or as ASANA: and the number that ends its address',
      itemsIn: asanaItemsIn,
      tokenRemedy: "check this target's token: it was revoked, or its account is no member of the project",
      message,
      headersOf: (token) => ({ authorization: `Bearer ${token}` }),
      itemsBy,
      place: `project as ${project}`,
      settleMs: 60_000,
    },
    settings,
    needs,
  );
}

/** In the order of the text, each once: addresses of tasks, old and new, and `ASANA: 12`. */
export function asanaItemsIn(text: string): string[] {
  const old = '0/(?:search/)?\\d+/(?<old>\\d{1,30})';
  const current = '1/\\d+/(?:project/\\d+/|inbox/\\d+/|home/|search/\\d+/)?task/(?<current>\\d{1,30})';
  const pattern = new RegExp(
    `https?://app\\.asana\\.com/(?:${old}|${current})(?!\\w)|ASANA:\\s*(?<own>\\d{1,30})(?!\\w)`,
    'g',
  );
  const named = [...text.matchAll(pattern)].map(({ groups = {} }) => groups.old ?? groups.current ?? groups.own ?? '');
  return [...new Set(named)];
}
