/**
 * Tasks of Asana. Sources: developers.asana.com/reference/tasks, …/docs/errors and …/docs/rate-limits. Every body is
 * wrapped in `data`.
 */
import { z } from 'zod';
import type { AsanaTarget } from '../settings/targets/asana.ts';
import { isoSeconds } from './iso-time.ts';
import { type Calls, nothing, type TargetNeeds } from './item-calls.ts';
import { placeMissing, type Vendor } from './item-outcome.ts';
import { type Creation, itemTarget, type Read, type Written } from './item-target.ts';
import { textOf, titleOf } from './item-text.ts';
import { markerOf } from './marker.ts';
import type { ItemState, Target } from './target.ts';
import type { Wanted } from './wanted.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** A task of ours that was not touched for longer is not looked for: its creation has long been settled. */
const FIND_WITHIN_MS = 30 * DAY_MS;
const PER_PAGE = 100;
const MAX_PAGES = 20;

const task = z.object({ gid: z.string(), completed: z.boolean() });
const page = z.object({
  data: z.array(task.extend({ notes: z.string().nullish() })),
  next_page: z.object({ offset: z.string() }).nullish(),
});

const vendor: Vendor = {
  name: 'Asana',
  tokenRemedy: "check this target's token: it was revoked, or its account is no member of the project",
  messageOf(body) {
    const read = z.object({ errors: z.array(z.object({ message: z.string() })).min(1) }).safeParse(body);
    return read.success ? read.data.errors.map(({ message }) => message).join('; ') : undefined;
  },
};

export function openAsana(settings: AsanaTarget, needs: TargetNeeds): Target {
  const system = {
    connection: {
      vendor,
      token: settings.token,
      headersOf: (token: string) => ({ authorization: `Bearer ${token}`, accept: 'application/json' }),
    },
    noun: 'Asana task',
    howToLink: 'name it in the text of the task by its address or as ASANA: and the number that ends its address',
    columns: settings.columns,
    read,
    async write(calls: Calls, { itemId }: ItemState, wanted: Wanted): Promise<Written> {
      const completed = wanted.status === 'completed';
      const asked = await calls.ask(
        { method: 'PUT', path: `/tasks/${itemId}`, body: { data: { completed } } },
        nothing,
      );
      return asked.status === 'ok' ? { status: 'written', to: completed ? 'completed' : 'open' } : asked;
    },
    creation: settings.create ? creationIn(settings.project ?? '') : undefined,
  };
  return itemTarget(system, needs, { itemsIn: asanaItemsIn });
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

async function read(calls: Calls, itemId: string): Promise<Read<ItemState>> {
  if (!/^\d{1,30}$/.test(itemId)) {
    const detail = `"${itemId}" does not name an Asana task: link it by the number that ends its address`;
    return { status: 'refused', reason: 'ITEM_ID_INVALID', detail };
  }
  const path = `/tasks/${itemId}?opt_fields=completed`;
  const asked = await calls.ask({ method: 'GET', path }, z.object({ data: task }));
  return asked.status === 'ok' ? { status: 'found', item: toItem(asked.value.data) } : asked;
}

function creationIn(project: string): Creation<ItemState> {
  const place = `project as ${project}`;
  return {
    settleMs: 60_000,
    async find(calls, delivery) {
      const marker = markerOf(delivery);
      const query = new URLSearchParams({
        project,
        opt_fields: 'completed,notes',
        modified_since: isoSeconds(new Date(delivery.seenAt.getTime() - FIND_WITHIN_MS)),
        limit: String(PER_PAGE),
      });
      for (let count = 0; count < MAX_PAGES; count++) {
        const asked = await calls.ask({ method: 'GET', path: `/tasks?${query}` }, page);
        if (asked.status === 'missing') return placeMissing(vendor, place, asked);
        if (asked.status !== 'ok') return asked;
        const found = asked.value.data.find(({ notes }) => notes?.trimEnd().endsWith(marker));
        if (found !== undefined) return { status: 'found', item: toItem(found) };
        const offset = asked.value.next_page?.offset;
        if (offset === undefined) return { status: 'missing', detail: `no task with ${marker}` };
        query.set('offset', offset);
      }
      // The list has no order to stop by: creating without having seen all of it could create twice.
      const detail = `Asana: more than ${MAX_PAGES * PER_PAGE} tasks of project ${project} changed within 30 days, too many to look for one that exists already: give this target a project of its own`;
      return { status: 'refused', reason: 'TOO_MANY_ITEMS', detail };
    },
    async add(calls, delivery) {
      const notes = `${textOf(delivery.task)}\n\n${markerOf(delivery)}`.trimStart();
      const body = { data: { name: titleOf(delivery.task), notes, projects: [project] } };
      const asked = await calls.ask(
        { method: 'POST', path: '/tasks', body },
        z.object({ data: z.object({ gid: z.string() }) }),
      );
      if (asked.status === 'missing') return placeMissing(vendor, place, asked);
      return asked.status === 'ok' ? { status: 'added', itemId: asked.value.data.gid } : asked;
    },
  };
}

function toItem({ gid, completed }: z.output<typeof task>): ItemState {
  return { itemId: gid, isCompleted: completed, status: completed ? 'completed' : 'open' };
}
