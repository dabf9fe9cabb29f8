/**
 * Tasks of Todoist. Sources: developer.todoist.com/api/v1, src/consts/endpoints.ts and src/transport/http-client.ts in
 * Doist/todoist-api-typescript. Only an active task can be read by its id; a completed one is in the list of completed tasks,
 * which reaches back three months.
 *
 * Closing a recurring task moves it to its next date and leaves it open: this is the one write that must not be repeated. A
 * request id makes a repetition safe ("requests having the same ID as a previously processed request will be discarded").
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { ItemState, Target, TargetFailure } from '../../contract/target.ts';
import type { SettingsOf } from '../../settings/target.ts';
import { type Calls, findInPages, isoSeconds, moved, type TargetNeeds } from './item-calls.ts';
import { TODOIST } from './item-naming.ts';
import { limited, type Reply, waitOf } from './item-outcome.ts';
import type { Asked } from './item-target.ts';
import { endsWith, markedText, titleOf } from './item-text.ts';
import { markerOf } from './marker.ts';
import { type VendorItems, vendorTarget } from './vendor-target.ts';

const TASKS = '/api/v1/tasks';
const DAY_MS = 24 * 60 * 60 * 1000;
/** A little less than the three months that a query may cover. */
const COMPLETED_WITHIN_MS = 89 * DAY_MS;
const PER_PAGE = '200';
const MAX_PAGES = 10;

const id = z.union([z.string(), z.int()]).transform(String);
const task = z
  .object({
    id,
    checked: z.boolean().nullish(),
    is_deleted: z.boolean().nullish(),
    description: z.string().nullish(),
    due: z.object({ is_recurring: z.boolean().nullish(), string: z.string().nullish() }).nullish(),
  })
  .transform(({ id: itemId, checked, is_deleted, description, due }) => ({
    ...itemOf(itemId, checked === true),
    isDeleted: is_deleted === true,
    description,
    recurs: due?.is_recurring === true ? (due.string ?? 'by a rule') : undefined,
  }));
const cursor = { next_cursor: z.string().nullish() };
const activePage = z.object({ results: z.array(task), ...cursor });
const completedPage = z.object({ items: z.array(z.object({ id })), ...cursor });
const limit = z.object({ error_extra: z.object({ retry_after: z.number().nonnegative() }) });

interface TodoistTask extends ItemState {
  /** How it recurs, in Todoist's words; undefined if it does not recur. */
  readonly recurs?: string | undefined;
}

export function openTodoist(settings: SettingsOf<'todoist'>, needs: TargetNeeds): Target {
  const { now = () => new Date() } = needs;
  const { project } = settings;
  const inProject: Readonly<Record<string, string>> = project === undefined ? {} : { project_id: project };

  const itemsBy = (calls: Calls): VendorItems<TodoistTask> => ({
    async read(itemId) {
      const asked = await calls.ask({ method: 'GET', path: `${TASKS}/${itemId}` }, task);
      if (asked.status === 'ok' && asked.value.isDeleted) {
        return { status: 'missing', detail: `Todoist: ${itemId} is deleted` };
      }
      if (asked.status !== 'missing') return asked;
      const completed = await findCompleted(calls, itemId, now());
      if (completed.status !== 'ok') return completed;
      if (completed.value) return { status: 'ok', value: itemOf(itemId, true) };
      return { ...asked, detail: `${asked.detail}; and it was not completed within three months` };
    },
    async write({ itemId, recurs }, wanted, delivery) {
      if (wanted.status !== 'completed') {
        return calls.ask({ method: 'POST', path: `${TASKS}/${itemId}/reopen` }, moved('open'));
      }
      const close = { method: 'POST', path: `${TASKS}/${itemId}/close` } as const;
      if (recurs === undefined) return calls.ask(close, moved('completed'));
      if (delivery.event === 'changed') {
        const detail = `${itemId} recurs (${recurs}) and is always open: it was moved to its next date when its ${delivery.task.kind} was completed, and a change of the text does not move it again`;
        return { status: 'skipped', reason: 'RECURRING', detail };
      }
      const note = `it recurs (${recurs}), so closing it only moved it to its next date`;
      return calls.ask({ ...close, headers: once(`close/${delivery.id}`) }, moved('open on its next date', note));
    },
    async find(delivery) {
      const asked = await findInPages(calls, {
        path: TASKS,
        query: { limit: PER_PAGE, ...inProject },
        page: activePage,
        // Beyond the last page that is read, the request id prevents a second creation.
        mostPages: MAX_PAGES,
        findIn: ({ results }) => results.find(({ description }) => endsWith(description, markerOf(delivery))),
        next: ({ next_cursor }) => (next_cursor ? { cursor: next_cursor } : undefined),
      });
      return asked.status === 'ok' ? { status: 'ok', value: asked.value.found } : asked;
    },
    add(delivery) {
      const marker = markerOf(delivery);
      const description = markedText(delivery.task, marker);
      const body = { content: titleOf(delivery.task), description, ...inProject };
      const created = z.object({ id }).transform((answer) => answer.id);
      return calls.ask({ method: 'POST', path: TASKS, headers: once(`create/${marker}`), body }, created);
    },
  });

  return vendorTarget(settings, needs, {
    name: 'Todoist',
    noun: 'Todoist task',
    ...TODOIST,
    tokenRemedy: "check this target's token: it was revoked or renewed in the settings of the account",
    judge,
    message: z.object({ error: z.string() }).transform(({ error }) => error),
    headersOf: (token) => ({ authorization: `Bearer ${token}` }),
    itemsBy,
    container: project === undefined ? 'inbox' : `project ${project}`,
    settleMs: 60_000,
  });
}

/** Whether it is in the list of completed tasks. */
async function findCompleted(calls: Calls, itemId: string, now: Date): Promise<Asked<boolean>> {
  const since = isoSeconds(new Date(now.getTime() - COMPLETED_WITHIN_MS));
  const asked = await findInPages(calls, {
    path: `${TASKS}/completed/by_completion_date`,
    query: { since, until: isoSeconds(now), limit: PER_PAGE },
    page: completedPage,
    mostPages: MAX_PAGES,
    findIn: ({ items }) => items.find((each) => each.id === itemId),
    next: ({ next_cursor }) => (next_cursor ? { cursor: next_cursor } : undefined),
  });
  return asked.status === 'ok' ? { status: 'ok', value: asked.value.found !== undefined } : asked;
}

function judge(reply: Reply, nowMs: number): TargetFailure | undefined {
  if (reply.httpStatus !== 429) return undefined;
  const read = limit.safeParse(reply.body);
  const waitMs = read.success ? read.data.error_extra.retry_after * 1000 : waitOf(reply, nowMs);
  return limited('Todoist limits the calls of this account', waitMs);
}

/** Todoist processes calls with the same id once. At most 36 bytes, says Todoist. */
function once(text: string) {
  return { 'x-request-id': createHash('sha256').update(text).digest('hex').slice(0, 32) };
}

function itemOf(itemId: string, isCompleted: boolean): TodoistTask {
  return { itemId, isCompleted, status: isCompleted ? 'completed' : 'open' };
}
