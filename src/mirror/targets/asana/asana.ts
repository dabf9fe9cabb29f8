/**
 * Tasks of Asana. Sources: developers.asana.com/reference/tasks, …/docs/errors and …/docs/rate-limits. Every body is
 * wrapped in `data`.
 */
import { z } from 'zod';
import type { ItemState, Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { accepted, type Calls, type ItemNeeds, isoSeconds, mapAsked } from '../items/item-calls.ts';
import type { FieldValues } from '../items/item-fields.ts';
import { ASANA } from '../items/item-naming.ts';
import { collectInPages, findInPages, isInPages, MOST_TOGETHER, orUnread } from '../items/item-pages.ts';
import type { Asked } from '../items/item-target.ts';
import { endsWith, markedText, textsOf } from '../items/item-text.ts';
import { markerOf } from '../items/marker.ts';
import { type DetailedItems, detailTarget, searchedSince, tooMany } from '../items/vendor-target.ts';
import { plainItem, stateWord } from '../items/wanted-state.ts';
import { asanaAdmin } from './asana-admin.ts';
import { asanaList, asanaNamed } from './asana-fields.ts';
import { asanaHookReader } from './asana-hook.ts';

const task = z
  .object({
    gid: z.string(),
    completed: z.boolean(),
    notes: z.string().nullish(),
    resource_subtype: z.string().nullish(),
  })
  .transform(({ gid, completed, notes, resource_subtype }) => {
    return { ...plainItem(gid, completed), notes, isApproval: resource_subtype === 'approval' };
  });
type AsanaTask = z.output<typeof task>;
const newTask = z
  .object({
    gid: z.string(),
    name: z.string(),
    notes: z.string(),
    completed: z.boolean(),
    due_on: z.string().nullish(),
    created_at: z.coerce.date(),
    tags: z.array(z.object({ name: z.string() })).nullish(),
  })
  .transform(({ gid, name, notes, completed, due_on, created_at, tags }) => ({
    ...textsOf(name, notes),
    itemId: gid,
    isLeftOut: completed,
    createdAt: created_at,
    dueDate: due_on ?? undefined,
    labels: tags?.map((tag) => tag.name) ?? [],
    marked: notes,
  }));
/** Comments are stories, beside those that Asana itself writes. */
const story = z.object({ text: z.string().nullish() });

const message = z
  .object({ errors: z.array(z.object({ message: z.string() })).min(1) })
  .transform(({ errors }) => errors.map((error) => error.message).join('; '));

const STATE = 'completed,resource_subtype';

export function openAsana(settings: SettingsOf<'asana'>, needs: ItemNeeds): Target {
  const { project = '' } = settings;
  const named = asanaNamed(project, needs.now);
  async function readTasks(calls: Calls, itemIds: readonly string[]): Promise<Asked<readonly ItemState[]>> {
    const tasks = asanaList(calls, '/tasks', task, { project, opt_fields: STATE });
    return mapAsked(collectInPages(tasks, itemIds), ({ items }) => items);
  }

  const itemsBy = (calls: Calls): DetailedItems<AsanaTask> => ({
    read(itemId) {
      const found = z.object({ data: task }).transform(({ data }) => data);
      return calls.ask({ method: 'GET', path: `/tasks/${itemId}?opt_fields=${STATE}` }, found);
    },
    write({ itemId, isApproval }, wanted) {
      const completed = wanted.status === 'completed' || wanted.status === 'cancelled';
      // Asana approves an approval that is completed, and completes one that is rejected.
      const isRejected = isApproval && wanted.status === 'cancelled';
      const body = { data: isRejected ? { approval_status: 'rejected' } : { completed } };
      const to = stateWord(completed);
      const answer = z.object({ data: task }).transform(({ data }) => ({ to, shown: data.status }));
      return calls.ask({ method: 'PUT', path: `/tasks/${itemId}`, body }, answer);
    },
    async find(delivery, begunAt) {
      const modified_since = searchedSince(delivery, begunAt);
      const tasks = asanaList(calls, '/tasks', task, { project, opt_fields: `${STATE},notes`, modified_since });
      const asked = await findInPages(tasks, ({ notes }) => endsWith(notes, markerOf(delivery)));
      if (asked.status !== 'ok') return asked;
      if (asked.value.isWhole) return { status: 'ok', value: asked.value.found };
      // The list has no order, so it has to be read completely: otherwise a second item could be created.
      return tooMany(`Asana: the tasks of project ${project} that have changed since ${modified_since}`);
    },
    add(delivery, values) {
      const tags = values.labels?.add;
      const body = { data: { ...dataOf(values, markerOf(delivery)), tags, projects: [project] } };
      const created = z.object({ data: z.object({ gid: z.string() }) }).transform(({ data }) => data.gid);
      return calls.ask({ method: 'POST', path: '/tasks', body }, created);
    },
    async update({ itemId }, values, marker) {
      const data = dataOf(values, marker);
      const { add = [], remove = [] } = values.labels ?? {};
      const path = `/tasks/${itemId}`;
      const requests = [
        ...(Object.values(data).some((value) => value !== undefined) ? [{ method: 'PUT', path, data } as const] : []),
        ...add.map((tag) => ({ method: 'POST', path: `${path}/addTag`, data: { tag } }) as const),
        ...remove.map((tag) => ({ method: 'POST', path: `${path}/removeTag`, data: { tag } }) as const),
      ];
      for (const { data: each, ...request } of requests) {
        const asked = await calls.ask({ ...request, body: { data: each } }, accepted);
        if (asked.status !== 'ok') return asked;
      }
      return { status: 'ok', value: undefined };
    },
    hasComment({ itemId }, marker) {
      const stories = asanaList(calls, `/tasks/${itemId}/stories`, story, { opt_fields: 'text' });
      return isInPages(stories, ({ text }) => endsWith(text, marker));
    },
    addComment({ itemId }, text, marker) {
      const body = { data: { text: markedText(text, marker) } };
      return calls.ask({ method: 'POST', path: `/tasks/${itemId}/stories`, body }, z.unknown());
    },
  });

  return detailTarget(settings, needs, {
    name: 'Asana',
    noun: 'Asana task',
    ...ASANA,
    tokenRemedy: "check this target's token: it was revoked, or its account is not a member of the project",
    message,
    alwaysExplains: true,
    headersOf: (token) => ({ authorization: `Bearer ${token}` }),
    itemsBy,
    named,
    // In the order of the project: Asana sorts by the time of the change only for paid plans, in a search that may lag behind.
    newItems: (calls, since, offset) =>
      asanaList(calls, '/tasks', orUnread(newTask, 'gid'), {
        project,
        completed_since: isoSeconds(since), // leaves out most tasks that are completed
        modified_since: isoSeconds(since),
        opt_fields: 'name,notes,completed,due_on,created_at,tags.name',
      }).read(offset),
    // Tasks of other projects, and those further down, are read one by one.
    ...(settings.project !== undefined && { readMany: { most: MOST_TOGETHER, read: readTasks } }),
    container: `project ${project}`,
    settleMs: 60_000,
    readHook: asanaHookReader(settings, needs),
    admin: asanaAdmin(settings, needs, named),
  });
}

function dataOf({ title, description, dueDate, assignee, custom }: FieldValues, marker: string | undefined) {
  const notes = description === undefined ? undefined : markedText(description, marker);
  return { name: title, notes, due_on: dueDate, assignee, custom_fields: custom };
}
