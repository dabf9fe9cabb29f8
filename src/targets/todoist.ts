/**
 * Tasks of Todoist. Sources: developer.todoist.com/api/v1, src/consts/endpoints.ts and src/transport/http-client.ts in
 * Doist/todoist-api-typescript. A task by its id is answered while it is active only; a completed one is in the list of
 * what was completed, which reaches back three months.
 *
 * Closing a recurring task moves it to its next date and leaves it open: the one write here that must not be repeated. A
 * request id makes it harmless ("requests having the same ID as a previously processed request will be discarded").
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { TodoistTarget } from '../settings/targets/todoist.ts';
import { isoSeconds } from './iso-time.ts';
import { type Calls, nothing, type TargetNeeds } from './item-calls.ts';
import { limited, type Missing, placeMissing, type Vendor, waitOf } from './item-outcome.ts';
import { type Creation, itemTarget, type Read, type Written } from './item-target.ts';
import { textOf, titleOf } from './item-text.ts';
import { markerOf } from './marker.ts';
import type { Delivery, ItemState, Target } from './target.ts';
import type { Wanted } from './wanted.ts';

const TASKS = '/api/v1/tasks';
const DAY_MS = 24 * 60 * 60 * 1000;
/** A little less than the three months that one may ask for. */
const COMPLETED_WITHIN_MS = 89 * DAY_MS;
const PER_PAGE = '200';
const MAX_PAGES = 10;

const id = z.union([z.string(), z.int()]).transform(String);
const task = z.object({
  id,
  checked: z.boolean().nullish(),
  is_deleted: z.boolean().nullish(),
  description: z.string().nullish(),
  due: z.object({ is_recurring: z.boolean().nullish(), string: z.string().nullish() }).nullish(),
});
const activePage = z.object({ results: z.array(task), next_cursor: z.string().nullish() });
const completedPage = z.object({ items: z.array(z.object({ id })), next_cursor: z.string().nullish() });
const limit = z.object({ error_extra: z.object({ retry_after: z.number().nonnegative() }) });

interface TodoistTask extends ItemState {
  /** How it recurs, in Todoist's words; undefined where it does not. */
  readonly recurs: string | undefined;
}

const vendor: Vendor = {
  name: 'Todoist',
  tokenRemedy: "check this target's token: it was revoked or renewed in the settings of the account",
  judge(reply, nowMs) {
    if (reply.httpStatus !== 429) return undefined;
    const read = limit.safeParse(reply.body);
    const waitMs = read.success ? read.data.error_extra.retry_after * 1000 : waitOf(reply, nowMs);
    return limited('Todoist limits the calls of this account', waitMs);
  },
  messageOf(body) {
    const read = z.object({ error: z.string() }).safeParse(body);
    return read.success ? read.data.error : undefined;
  },
};

export function openTodoist(settings: TodoistTarget, needs: TargetNeeds): Target {
  const now = needs.now ?? (() => new Date());
  const system = {
    connection: {
      vendor,
      token: settings.token,
      headersOf: (token: string) => ({ authorization: `Bearer ${token}`, accept: 'application/json' }),
    },
    noun: 'Todoist task',
    howToLink: 'name it in the text of the task by its address or as TODOIST: and the id that ends its address',
    columns: settings.columns,
    read: (calls: Calls, itemId: string) => read(calls, itemId, now()),
    write,
    creation: settings.create ? creationIn(settings.project) : undefined,
  };
  return itemTarget(system, needs, { itemsIn: todoistItemsIn });
}

/** In the order of the text, each once: addresses of tasks, old and new, and `TODOIST: id`. */
export function todoistItemsIn(text: string): string[] {
  const address = 'https?://(?:app\\.|www\\.)?todoist\\.com/(?:showTask\\?id=|(?:app/)?task/(?:[\\w%-]{0,300}-)?)';
  const pattern = new RegExp(`(?:${address}|TODOIST:\\s*)(?<id>[\\dA-Za-z]{5,40})(?![\\w-])`, 'g');
  return [...new Set([...text.matchAll(pattern)].map(({ groups = {} }) => groups.id ?? ''))];
}

async function read(calls: Calls, itemId: string, now: Date): Promise<Read<TodoistTask>> {
  if (!/^[\dA-Za-z]{1,40}$/.test(itemId)) {
    const detail = `"${itemId}" does not name a Todoist task: link it by the id that ends its address`;
    return { status: 'refused', reason: 'ITEM_ID_INVALID', detail };
  }
  const asked = await calls.ask({ method: 'GET', path: `${TASKS}/${itemId}` }, task);
  if (asked.status === 'missing') return readCompleted(calls, itemId, now, asked);
  if (asked.status !== 'ok') return asked;
  if (asked.value.is_deleted === true) return { status: 'missing', detail: `Todoist: ${itemId} is deleted` };
  return { status: 'found', item: toItem(asked.value) };
}

async function readCompleted(calls: Calls, itemId: string, now: Date, missing: Missing): Promise<Read<TodoistTask>> {
  const since = isoSeconds(new Date(now.getTime() - COMPLETED_WITHIN_MS));
  const query = new URLSearchParams({ since, until: isoSeconds(now), limit: PER_PAGE });
  for (let count = 0; count < MAX_PAGES; count++) {
    const path = `${TASKS}/completed/by_completion_date?${query}`;
    const asked = await calls.ask({ method: 'GET', path }, completedPage);
    if (asked.status !== 'ok') return asked;
    const isThere = asked.value.items.some((each) => each.id === itemId);
    if (isThere)
      return { status: 'found', item: { itemId, isCompleted: true, status: 'completed', recurs: undefined } };
    const cursor = asked.value.next_cursor;
    if (typeof cursor !== 'string') break;
    query.set('cursor', cursor);
  }
  return { ...missing, detail: `${missing.detail}; nor was it completed within three months` };
}

async function write(calls: Calls, item: TodoistTask, wanted: Wanted, delivery: Delivery): Promise<Written> {
  const { itemId, recurs } = item;
  if (wanted.status !== 'completed') {
    const asked = await calls.ask({ method: 'POST', path: `${TASKS}/${itemId}/reopen` }, nothing);
    return asked.status === 'ok' ? { status: 'written', to: 'open' } : asked;
  }
  if (recurs !== undefined && delivery.event === 'changed') {
    const detail = `${itemId} recurs (${recurs}) and is always open: it was moved on when its ${delivery.task.kind} was completed, and a change of the text does not move it again`;
    return { status: 'skipped', reason: 'RECURRING', detail };
  }
  const once = recurs === undefined ? {} : { headers: { 'x-request-id': requestId(`close/${delivery.id}`) } };
  const asked = await calls.ask({ method: 'POST', path: `${TASKS}/${itemId}/close`, ...once }, nothing);
  if (asked.status !== 'ok') return asked;
  if (recurs === undefined) return { status: 'written', to: 'completed' };
  return {
    status: 'written',
    to: 'open on its next date',
    note: `it recurs (${recurs}), so closing it only moved it on`,
  };
}

function creationIn(project: string | undefined): Creation<TodoistTask> {
  const place = project === undefined ? 'inbox' : `project as ${project}`;
  return {
    settleMs: 60_000,
    async find(calls, delivery) {
      const marker = markerOf(delivery);
      const query = new URLSearchParams({ limit: PER_PAGE, ...(project !== undefined && { project_id: project }) });
      for (let count = 0; count < MAX_PAGES; count++) {
        const asked = await calls.ask({ method: 'GET', path: `${TASKS}?${query}` }, activePage);
        if (asked.status === 'missing') return placeMissing(vendor, place, asked);
        if (asked.status !== 'ok') return asked;
        const found = asked.value.results.find(({ description }) => description?.trimEnd().endsWith(marker));
        if (found !== undefined) return { status: 'found', item: toItem(found) };
        const cursor = asked.value.next_cursor;
        // Beyond the last page that is read, the request id keeps a second creation from being one.
        if (typeof cursor !== 'string') break;
        query.set('cursor', cursor);
      }
      return { status: 'missing', detail: `no active task with ${marker}` };
    },
    async add(calls, delivery) {
      const description = `${textOf(delivery.task)}\n\n${markerOf(delivery)}`.trimStart();
      const body = {
        content: titleOf(delivery.task),
        description,
        ...(project !== undefined && { project_id: project }),
      };
      const headers = { 'x-request-id': requestId(`create/${markerOf(delivery)}`) };
      const asked = await calls.ask({ method: 'POST', path: TASKS, headers, body }, z.object({ id }));
      if (asked.status === 'missing') return placeMissing(vendor, place, asked);
      return asked.status === 'ok' ? { status: 'added', itemId: asked.value.id } : asked;
    },
  };
}

/** At most 36 bytes, says Todoist. */
function requestId(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 32);
}

function toItem({ id: itemId, checked, due }: z.output<typeof task>): TodoistTask {
  const isCompleted = checked === true;
  const recurs = due?.is_recurring === true ? (due.string ?? 'by a rule') : undefined;
  return { itemId, isCompleted, status: isCompleted ? 'completed' : 'open', recurs };
}
