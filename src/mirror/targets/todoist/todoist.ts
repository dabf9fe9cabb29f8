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
import type { Delivery, ItemState, Target, TargetFailure } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { DetailLog } from '../items/creation-log.ts';
import { accepted, type Calls, type ItemNeeds, mapAsked, moved } from '../items/item-calls.ts';
import type { FieldValues } from '../items/item-fields.ts';
import { hookReader } from '../items/item-hook.ts';
import { TODOIST } from '../items/item-naming.ts';
import { limitedFailure, type Reply, tokenRefused, waitOf } from '../items/item-outcome.ts';
import { collectInPages, findInPages, isInPages, MOST_TOGETHER, orUnread } from '../items/item-pages.ts';
import type { Asked, Written } from '../items/item-target.ts';
import { endsWith, markedText, textsOf } from '../items/item-text.ts';
import { markerOf } from '../items/marker.ts';
import { type DetailedItems, detailTarget, earliestOf, withLabels } from '../items/vendor-target.ts';
import { plainItem } from '../items/wanted-state.ts';
import { todoistAdmin } from './todoist-admin.ts';
import { type CompletedTasks, findCompleted, openCompleted } from './todoist-completed.ts';
import { todoistHook } from './todoist-hook.ts';
import { findProject, id, TASKS, todoistList } from './todoist-pages.ts';

const COMMENTS = '/api/v1/comments';
const MAX_DESCRIPTION = 16_383;
const MAX_COMMENT = 15_000;
/** Four is the most urgent. */
const PRIORITIES = { urgent: 4, high: 3, medium: 2, low: 1 };

const task = z
  .object({
    id,
    checked: z.boolean().nullish(),
    is_deleted: z.boolean().nullish(),
    description: z.string().nullish(),
    labels: z.array(z.string()).default([]),
    due: z.object({ is_recurring: z.boolean().nullish(), string: z.string().nullish() }).nullish(),
  })
  .transform(({ id: itemId, checked, is_deleted, description, labels, due }) => ({
    ...plainItem(itemId, checked === true),
    labels,
    isDeleted: is_deleted === true,
    description,
    recurs: due?.is_recurring === true ? (due.string ?? 'by a rule') : undefined,
    isAlwaysOpen: checked !== true && due?.is_recurring === true,
  }));
const comment = z.object({ content: z.string() });
const newTask = z
  .object({
    id,
    content: z.string(),
    description: z.string().nullish(),
    labels: z.array(z.string()).default([]),
    due: z.object({ date: z.string(), timezone: z.string().nullish() }).nullish(),
    added_at: z.coerce.date(),
  })
  .transform(({ id: itemId, content, description, labels, due, added_at }) => ({
    ...textsOf(content, description),
    itemId,
    createdAt: added_at,
    dueDate: due ? dayOf(due.date, due.timezone ?? 'UTC') : undefined,
    labels,
    marked: description,
  }));
const limit = z.object({ error_extra: z.object({ retry_after: z.number().nonnegative() }) });

const problem = z.object({ error: z.string().optional(), error_tag: z.string().optional() });

interface TodoistTask extends ItemState {
  /** How it recurs, in Todoist's words; undefined if it does not recur. */
  readonly recurs?: string | undefined;
  readonly labels?: readonly string[];
}

const NEW: Pick<TodoistTask, 'recurs' | 'labels'> = {};

export function openTodoist(settings: SettingsOf<'todoist'>, needs: ItemNeeds): Target {
  const { now } = needs;
  const { project } = settings;
  const completedTasks = openCompleted(now);
  const inProject: Readonly<Record<string, string>> = project === undefined ? {} : { project_id: project };

  async function findPlace(calls: Calls): Promise<Asked<undefined>> {
    if (project === undefined) return { status: 'ok', value: undefined };
    return mapAsked(findProject(calls, project), () => undefined);
  }

  const itemsBy = (calls: Calls): DetailedItems<TodoistTask> => ({
    async read(itemId) {
      const asked = await calls.ask({ method: 'GET', path: `${TASKS}/${itemId}` }, task);
      if (asked.status === 'ok' && asked.value.isDeleted) {
        return { status: 'missing', detail: `Todoist: ${itemId} is deleted` };
      }
      if (asked.status !== 'missing') return asked;
      const completed = await completedTasks.has(calls, itemId);
      if (completed.status !== 'ok') return completed;
      if (completed.value) return { status: 'ok', value: plainItem(itemId, true) };
      return { ...asked, detail: `${asked.detail}; and it was not completed within three months` };
    },
    async write(item, wanted, delivery) {
      if (wanted.status !== 'completed' && wanted.status !== 'cancelled') {
        return calls.ask({ method: 'POST', path: `${TASKS}/${item.itemId}/reopen` }, moved('open'));
      }
      if (item.recurs !== undefined) return closeRecurring(calls, item, wanted.status, delivery, needs.log);
      return calls.ask(closing(item), moved('completed'));
    },
    async find(delivery, begunAt) {
      const marker = markerOf(delivery);
      // Beyond the last page that is read, the request id prevents a second creation.
      const active = todoistList(calls, TASKS, task, inProject);
      const asked = await findInPages(active, ({ description }) => endsWith(description, marker));
      if (asked.status !== 'ok') return asked;
      const { found } = asked.value;
      if (found !== undefined) return { status: 'ok', value: found };
      // A person may have completed it meanwhile.
      const completed = begunAt && (await findCompleted(calls, marker, earliestOf(begunAt), now()));
      if (completed !== undefined && completed.status !== 'ok') return completed;
      if (completed?.value !== undefined) return { status: 'ok', value: plainItem(completed.value, true) };
      return findPlace(calls);
    },
    add(delivery, values) {
      const marker = markerOf(delivery);
      const { due_string, ...given } = bodyOf(values, NEW, marker);
      const body = { ...given, ...inProject };
      const created = z.object({ id }).transform((answer) => answer.id);
      return calls.ask({ method: 'POST', path: TASKS, headers: once(`create/${marker}`), body }, created);
    },
    update(item, values, marker) {
      return calls.ask(
        { method: 'POST', path: `${TASKS}/${item.itemId}`, body: bodyOf(values, item, marker) },
        accepted,
      );
    },
    hasComment({ itemId }, marker) {
      const comments = todoistList(calls, COMMENTS, comment, { task_id: itemId });
      return isInPages(comments, ({ content }) => endsWith(content, marker));
    },
    addComment({ itemId }, text, marker) {
      const body = { task_id: itemId, content: markedText(text, marker, MAX_COMMENT) };
      return calls.ask({ method: 'POST', path: COMMENTS, headers: once(`comment/${marker}`), body }, z.unknown());
    },
  });

  return detailTarget(settings, needs, {
    name: 'Todoist',
    noun: 'Todoist task',
    ...TODOIST,
    tokenRemedy: "check this target's token: it was revoked or renewed in the settings of the account",
    judge,
    message: z.object({ error: z.string() }).transform(({ error }) => error),
    headersOf: (token) => ({ authorization: `Bearer ${token}` }),
    itemsBy,
    // All active tasks: Todoist neither leaves out those that have not changed, nor sorts by the time of the change.
    newItems: (calls, _, cursor) => todoistList(calls, TASKS, orUnread(newTask, 'id'), inProject).read(cursor),
    readMany: {
      most: MOST_TOGETHER,
      read: (calls, itemIds) => readMany(calls, itemIds, completedTasks),
    },
    container: project === undefined ? 'inbox' : `project ${project}`,
    settleMs: 60_000,
    priorities: PRIORITIES,
    isFinalWhenCompleted: true,
    readHook: hookReader(todoistHook, settings, needs),
    admin: todoistAdmin(settings),
  });
}

function closing({ itemId }: TodoistTask) {
  return { method: 'POST', path: `${TASKS}/${itemId}/close` } as const;
}

/** Closing a task that recurs moves it to its next date, so it is closed once for each completion. */
async function closeRecurring(
  calls: Calls,
  item: TodoistTask,
  wanted: 'completed' | 'cancelled',
  delivery: Delivery,
  log: DetailLog,
): Promise<Written> {
  const recurring = `${item.itemId} recurs (${item.recurs})`;
  const skipped = (why: string) =>
    ({ status: 'skipped', reason: 'RECURRING', detail: `${recurring}, ${why}` }) as const;
  if (wanted === 'cancelled') {
    return skipped('so closing it would only move it to its next date: delete it by hand');
  }
  const before = await log.lastDelivered(delivery);
  // A change may have replaced the delivery of the completion.
  if (delivery.event === 'changed' && before?.task.isCompleted !== false) {
    return skipped(
      `so it is always open: a change of the text of its completed ${delivery.task.kind} does not move it to its next date`,
    );
  }
  const note = `it recurs (${item.recurs}), so closing it only moved it to its next date`;
  const headers = once(`close/${before?.id ?? delivery.id}`);
  return calls.ask({ ...closing(item), headers }, moved('open on its next date', note));
}

/** A task that recurs has its dates by its rule, which a date would end. */
function bodyOf(
  { title, description, dueDate, labels, assignee, priority }: FieldValues,
  { recurs, labels: current = [] }: Pick<TodoistTask, 'recurs' | 'labels'>,
  marker: string | undefined,
) {
  const due = recurs === undefined ? dueDate : undefined;
  return {
    content: title?.replace(/^\* /, '*\u200b '), // otherwise it could not be completed
    description: description === undefined ? undefined : markedText(description, marker, MAX_DESCRIPTION),
    due_date: due ?? undefined,
    due_string: due === null ? 'no date' : undefined,
    labels: labels && withLabels(current, labels),
    assignee_id: assignee,
    priority: priority === null ? PRIORITIES.low : priority,
  };
}

/** By the list of all active tasks: a task that is not in the whole list is not active, so it is completed or gone. */
async function readMany(
  calls: Calls,
  itemIds: readonly string[],
  completed: CompletedTasks,
): Promise<Asked<readonly TodoistTask[]>> {
  const asked = await collectInPages(todoistList(calls, TASKS, task), itemIds);
  if (asked.status !== 'ok') return asked;
  const { items, left, isWhole } = asked.value;
  const found: TodoistTask[] = items.filter(({ isDeleted }) => !isDeleted);
  for (const itemId of isWhole ? left : []) {
    const isCompleted = await completed.has(calls, itemId);
    if (isCompleted.status !== 'ok') return isCompleted;
    if (isCompleted.value) found.push(plainItem(itemId, true));
  }
  return { status: 'ok', value: found };
}

/** A time with a Z is in UTC, and its day is that of the task's time zone. */
function dayOf(date: string, timeZone: string): string {
  if (!date.endsWith('Z')) return date.slice(0, 10);
  try {
    return new Intl.DateTimeFormat('en-CA', { timeZone }).format(new Date(date));
  } catch {
    return date.slice(0, 10); // a time zone that this machine does not know
  }
}

function judge(reply: Reply, nowMs: number, tokenRemedy: string): TargetFailure | undefined {
  const { error_tag = '', error = '' } = problem.safeParse(reply.body).data ?? {};
  if (reply.httpStatus < 500 && /MAX_ITEMS_LIMIT|maximum number of (?:items|tasks)/i.test(`${error_tag} ${error}`)) {
    const detail = `Todoist: ${error}: complete or move tasks of the project, or name another project (most plans allow 300 active tasks in one)`;
    return { status: 'refused', reason: 'PLACE_FULL', detail };
  }
  // With a 403 too: https://github.com/tod-org/tod/issues/223
  if (/^AUTH_INVALID_TOKEN$/.test(error_tag))
    return tokenRefused(tokenRemedy, `Todoist: HTTP ${reply.httpStatus}: ${error}`);
  if (reply.httpStatus !== 429) return undefined;
  const read = limit.safeParse(reply.body);
  const waitMs = read.success ? read.data.error_extra.retry_after * 1000 : waitOf(reply, nowMs);
  return limitedFailure('Todoist limits the calls of this account', waitMs);
}

/** Todoist processes calls with the same id once. At most 36 bytes, says Todoist. */
function once(text: string) {
  return { 'x-request-id': createHash('sha256').update(text).digest('hex').slice(0, 32) };
}
