/**
 * Tasks of Asana. Sources: developers.asana.com/reference/tasks, …/docs/errors and …/docs/rate-limits. Every body is
 * wrapped in `data`.
 */
import { z } from 'zod';
import type { ItemState, Target } from '../../contract/target.ts';
import type { SettingsOf } from '../../settings/target.ts';
import { asanaAdmin } from './asana-admin.ts';
import { ASANA_FORMS, readCustomFields, readList, readTags } from './asana-fields.ts';
import { asanaHookReader } from './asana-hook.ts';
import { customValues, fieldNamed } from './custom-fields.ts';
import {
  accepted,
  type Calls,
  collectInPages,
  findInPages,
  type ItemNeeds,
  isInPages,
  isoSeconds,
  moved,
} from './item-calls.ts';
import { labelIds } from './item-details.ts';
import type { FieldValues, Problem } from './item-fields.ts';
import { ASANA } from './item-naming.ts';
import type { Asked } from './item-target.ts';
import { endsWith, markedText, textsOf } from './item-text.ts';
import { keptMetadata } from './kept-metadata.ts';
import { markerOf } from './marker.ts';
import { type DetailedItems, detailTarget } from './vendor-target.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
/** An item that was not changed for longer is not searched for: its creation has settled long ago. */
const FIND_WITHIN_MS = 30 * DAY_MS;
const PER_PAGE = 100;
const MAX_PAGES = 20;
/** Tasks of other projects, and those further down, are read one by one. */
const MOST_READ_TOGETHER = 2000;

const task = z
  .object({ gid: z.string(), completed: z.boolean(), notes: z.string().nullish() })
  .transform(({ gid, completed, notes }) => {
    return { itemId: gid, isCompleted: completed, status: completed ? 'completed' : 'open', notes };
  });
const next_page = z.object({ offset: z.string() }).nullish();
const page = z.object({ data: z.array(task), next_page });
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
    isCompleted: completed,
    createdAt: created_at,
    dueDate: due_on ?? undefined,
    labels: tags?.map((tag) => tag.name) ?? [],
    marked: notes,
  }));
const newPage = z.object({ data: z.array(newTask), next_page });
/** Comments are stories, beside those that Asana itself writes. */
const stories = z.object({ data: z.array(z.object({ text: z.string().nullish() })), next_page });

type Page = z.output<typeof page>;

const message = z
  .object({ errors: z.array(z.object({ message: z.string() })).min(1) })
  .transform(({ errors }) => errors.map((error) => error.message).join('; '));

export function openAsana(settings: SettingsOf<'asana'>, needs: ItemNeeds): Target {
  const { now = () => new Date() } = needs;
  const { project = '' } = settings;
  const tagsOf = keptMetadata(now, (calls) => readTags(calls, project));
  const fieldsOf = keptMetadata(now, (calls) => readCustomFields(calls, project));

  async function readTasks(calls: Calls, itemIds: readonly string[]): Promise<Asked<readonly ItemState[]>> {
    const pages = {
      path: '/tasks',
      query: { project, opt_fields: 'completed', limit: String(PER_PAGE) },
      page,
      mostPages: MOST_READ_TOGETHER / PER_PAGE,
      next: (each: Page) => nextPage(each),
    };
    const asked = await collectInPages(calls, pages, itemIds, ({ data }) => data);
    return asked.status === 'ok' ? { status: 'ok', value: asked.value.items } : asked;
  }

  const itemsBy = (calls: Calls): DetailedItems<ItemState> => ({
    read(itemId) {
      const found = z.object({ data: task }).transform(({ data }) => data);
      return calls.ask({ method: 'GET', path: `/tasks/${itemId}?opt_fields=completed` }, found);
    },
    write({ itemId }, wanted) {
      const completed = wanted.status === 'completed' || wanted.status === 'cancelled';
      const body = { data: { completed } };
      return calls.ask({ method: 'PUT', path: `/tasks/${itemId}`, body }, moved(completed ? 'completed' : 'open'));
    },
    async find(delivery) {
      const modified_since = isoSeconds(new Date(delivery.seenAt.getTime() - FIND_WITHIN_MS));
      const pages = {
        path: '/tasks',
        query: { project, opt_fields: 'completed,notes', modified_since, limit: String(PER_PAGE) },
        page,
        mostPages: MAX_PAGES,
        findIn: ({ data }: Page) => data.find(({ notes }) => endsWith(notes, markerOf(delivery))),
        next: (each: Page) => nextPage(each),
      };
      const first = await findInPages(calls, pages);
      const asked = isOffsetExpired(first) ? await findInPages(calls, pages) : first;
      if (asked.status !== 'ok') return asked;
      if (asked.value.isWhole) return { status: 'ok', value: asked.value.found };
      // The list has no order, so it has to be read completely: otherwise a second item could be created.
      const detail = `Asana: more than ${MAX_PAGES * PER_PAGE} tasks of project ${project} changed within 30 days, too many to search for an existing one: use a separate project for this target`;
      return { status: 'refused', reason: 'TOO_MANY_ITEMS', detail };
    },
    add(delivery, values) {
      const tags = values.labels?.add;
      const body = { data: { ...dataOf(values, markerOf(delivery)), tags, projects: [project] } };
      const created = z.object({ data: z.object({ gid: z.string() }) }).transform(({ data }) => data.gid);
      return calls.ask({ method: 'POST', path: '/tasks', body }, created);
    },
    async update({ itemId }, values, delivery) {
      const data = dataOf(values, delivery.itemId === undefined ? markerOf(delivery) : undefined);
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
    async resolve(values) {
      const { labels, custom } = values;
      const problems: Problem[] = [];
      let resolved = values;
      if (labels !== undefined) {
        const tags = await tagsOf(calls, (known) => labels.add.every((name) => known.has(name)));
        if (tags.status !== 'ok') return tags;
        const read = labelIds(labels, tags.value, settings.name);
        resolved = { ...resolved, labels: read.labels };
        problems.push(...read.problems);
      }
      if (custom !== undefined) {
        const names = Object.keys(custom);
        const fields = await fieldsOf(calls, (known) => names.every((name) => fieldNamed(known, name)));
        if (fields.status !== 'ok') return fields;
        const read = customValues(custom, fields.value, ASANA_FORMS, settings.name);
        resolved = { ...resolved, custom: read.values };
        problems.push(...read.problems);
      }
      return { status: 'ok', value: { values: resolved, problems } };
    },
    hasComment({ itemId }, marker) {
      return isInPages(calls, {
        path: `/tasks/${itemId}/stories`,
        query: { opt_fields: 'text', limit: String(PER_PAGE) },
        page: stories,
        mostPages: MAX_PAGES,
        findIn: ({ data }) => data.find(({ text }) => endsWith(text, marker)),
        next: (each: z.output<typeof stories>) => nextPage(each),
      });
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
    headersOf: (token) => ({ authorization: `Bearer ${token}` }),
    itemsBy,
    async newItems(calls, since) {
      const query = {
        project,
        completed_since: isoSeconds(now()), // leaves out most tasks that are completed
        modified_since: isoSeconds(since),
      };
      const asked = await readList(calls, '/tasks', 'name,notes,completed,due_on,created_at,tags.name', newPage, query);
      if (asked.status !== 'ok') return asked;
      return { status: 'ok', value: asked.value.filter(({ isCompleted }) => !isCompleted) };
    },
    ...(settings.project !== undefined && { readMany: { most: 500, read: readTasks } }),
    container: `project ${project}`,
    settleMs: 60_000,
    readHook: asanaHookReader(settings, needs),
    admin: asanaAdmin(settings, needs),
  });
}

function dataOf({ title, description, dueDate, assignee, custom }: FieldValues, marker: string | undefined) {
  const notes = description === undefined ? undefined : markedText(description, marker);
  return { name: title, notes, due_on: dueDate, assignee, custom_fields: custom };
}

function nextPage({ next_page }: Pick<Page, 'next_page'>) {
  return next_page && { offset: next_page.offset };
}

/** A place in a list is kept for a while only; it can expire while a limit pauses the calls. */
function isOffsetExpired(asked: { readonly status: string; readonly detail?: string }): boolean {
  return asked.status === 'refused' && /pagination token/i.test(asked.detail ?? '');
}
