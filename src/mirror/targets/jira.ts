/**
 * Issues of Jira Cloud. An issue is moved by a transition of its workflow (jira-transition.ts).
 *
 * Sources: developer.atlassian.com/cloud/jira/platform/rest/v3 (issues, issue search), …/platform/rate-limiting and
 * …/platform/search-and-reconcile: a new issue may be seen by the search only after seconds, rarely minutes.
 */
import { z } from 'zod';
import type { ItemState, Target } from '../../contract/target.ts';
import type { SettingsOf } from '../../settings/target.ts';
import { type CustomForms, customValues, fieldNamed } from './custom-fields.ts';
import { accepted, type Calls, type ItemNeeds, isInPages, readWhole } from './item-calls.ts';
import type { FieldValues } from './item-fields.ts';
import { hookReader } from './item-hook.ts';
import { jiraNaming } from './item-naming.ts';
import { limited, waitOf } from './item-outcome.ts';
import { markedText, textsOf } from './item-text.ts';
import { jiraAdmin } from './jira-admin.ts';
import { readJiraFields } from './jira-fields.ts';
import { JIRA_ISSUE, jiraHook, jiraIssue, readIssue, readIssues, toJiraItem } from './jira-issue.ts';
import { moveIssue } from './jira-transition.ts';
import { keptMetadata } from './kept-metadata.ts';
import { markerAtEnd, markerOf } from './marker.ts';
import { type DetailedItems, detailTarget } from './vendor-target.ts';

const COMMENTS_PER_PAGE = 100;
const MOST_COMMENT_PAGES = 20;

const MOST_NEW_PAGES = 20;
const NEW_FIELDS = ['summary', 'description', 'labels', 'duedate', 'created'];

const newIssue = z
  .object({
    key: z.string(),
    fields: z.object({
      summary: z.string(),
      description: z.unknown().optional(),
      labels: z.array(z.string()).default([]),
      duedate: z.string().nullish(),
      created: z.coerce.date(),
    }),
  })
  .transform(({ key, fields: { summary, description, labels, duedate, created } }) => ({
    ...textsOf(summary, plainTextOf(description)),
    itemId: key,
    createdAt: created,
    dueDate: duedate ?? undefined,
    labels,
    marked: labels.find((label) => markerAtEnd(label) !== undefined),
  }));
const newIssues = z.object({ issues: z.array(newIssue), nextPageToken: z.string().nullish() });

const message = z
  .object({ errorMessages: z.array(z.string()).default([]), errors: z.record(z.string(), z.unknown()).default({}) })
  .transform(({ errorMessages, errors }) => {
    const fields = Object.entries(errors).map(([field, said]) => `${field}: ${said}`);
    return [...errorMessages, ...fields].join('; ');
  })
  .refine((text) => text !== '');

export function openJira(settings: SettingsOf<'jira'>, needs: ItemNeeds): Target {
  const { email, oauthClient, doneStatus, project = '', issueType } = settings;
  const { now = () => new Date() } = needs;
  const readFields = keptMetadata(now, (calls) => readJiraFields(calls, project, issueType));

  const itemsBy = (calls: Calls): DetailedItems<ItemState> => ({
    read: (itemId) => readIssue(calls, itemId, doneStatus),
    write: (item, wanted) => moveIssue(calls, item, wanted, settings),
    find(delivery) {
      const jql = `project = "${project}" AND labels = "${markerOf(delivery)}"`;
      const first = z
        .object({ issues: z.array(jiraIssue) })
        .transform(({ issues: [found] }) => found && toJiraItem(found, doneStatus));
      const body = { jql, fields: ['status'], maxResults: 2 };
      return calls.ask({ method: 'POST', path: '/rest/api/3/search/jql', body }, first);
    },
    add(delivery, { labels, ...values }) {
      const fields = {
        ...withoutNulls(fieldsOf(values)),
        project: { key: project },
        issuetype: { name: issueType },
        labels: [markerOf(delivery), ...(labels?.add ?? [])],
      };
      const created = z.object({ key: z.string() }).transform(({ key }) => key);
      return calls.ask({ method: 'POST', path: JIRA_ISSUE, body: { fields } }, created);
    },
    update({ itemId }, { labels, ...values }) {
      const update = labels && {
        labels: [...labels.add.map((add) => ({ add })), ...labels.remove.map((remove) => ({ remove }))],
      };
      const body = { fields: fieldsOf(values), update };
      return calls.ask({ method: 'PUT', path: `${JIRA_ISSUE}/${itemId}`, body }, accepted);
    },
    async resolve(values) {
      const { custom } = values;
      if (custom === undefined) return { status: 'ok', value: { values, problems: [] } };
      const names = Object.keys(custom);
      const known = await readFields(calls, (fields) => names.every((name) => fieldNamed(fields, name)));
      if (known.status !== 'ok') return known;
      const read = customValues(custom, known.value, FORMS, settings.name);
      return { status: 'ok', value: { values: { ...values, custom: read.values }, problems: read.problems } };
    },
    hasComment({ itemId }, marker) {
      return isInPages(calls, {
        path: `${JIRA_ISSUE}/${itemId}/comment`,
        query: { orderBy: '-created', maxResults: String(COMMENTS_PER_PAGE), startAt: '0' },
        page: z.object({
          comments: z.array(z.object({ body: z.unknown() })),
          startAt: z.int().default(0),
          total: z.int().default(0),
        }),
        mostPages: MOST_COMMENT_PAGES,
        findIn: ({ comments }) => comments.find(({ body }) => JSON.stringify(body ?? '').includes(`"${marker}"`)),
        next: ({ comments: { length }, startAt, total }) =>
          length === 0 || startAt + length >= total ? undefined : { startAt: String(startAt + length) },
      });
    },
    addComment({ itemId }, text, marker) {
      const body = { body: documentOf(markedText(text, marker)) };
      return calls.ask({ method: 'POST', path: `${JIRA_ISSUE}/${itemId}/comment`, body }, z.unknown());
    },
  });

  return detailTarget(settings, needs, {
    name: 'Jira',
    noun: 'Jira issue',
    ...jiraNaming(settings),
    tokenRemedy:
      "check this target's email and token: the token has expired or was revoked, or the account may not move issues of this project",
    judge(reply, nowMs) {
      if (reply.httpStatus !== 429) return undefined;
      const reason = reply.headers['ratelimit-reason'];
      const why = reason !== undefined && /^[\w-]{1,64}$/.test(reason) ? ` (${reason})` : '';
      return limited(`Jira limits the calls of this account${why}`, waitOf(reply, nowMs));
    },
    message,
    headersOf: (token) => ({
      authorization: oauthClient ? `Bearer ${token}` : `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}`,
    }),
    itemsBy,
    newItems: (calls, since) =>
      readWhole(MOST_NEW_PAGES, async (nextPageToken) => {
        // Without a time, which Jira would read in the time zone of the account: the newest come first.
        const jql = `project = "${project}" AND statusCategory != Done ORDER BY created DESC`;
        const body = { jql, fields: NEW_FIELDS, maxResults: 100, nextPageToken };
        const asked = await calls.ask({ method: 'POST', path: '/rest/api/3/search/jql', body }, newIssues);
        if (asked.status !== 'ok') return asked;
        const { issues: items, nextPageToken: next } = asked.value;
        const isOver = (items.at(-1)?.createdAt ?? since) < since;
        return { status: 'ok', value: { items, next: isOver ? undefined : (next ?? undefined) } };
      }),
    readMany: { most: 100, read: (calls, itemIds) => readIssues(calls, itemIds, doneStatus) },
    container: `project ${project}, or the project has no issue type of that name`,
    settleMs: 5 * 60_000, // how far the search may lag behind
    readHook: hookReader(jiraHook(doneStatus), settings.hookSecret, needs),
    admin: jiraAdmin(settings),
  });
}

const FORMS: CustomForms = { one: (id) => ({ id }), date: (text) => text, document: documentOf };

function fieldsOf({ title, description, dueDate, assignee, priority, custom }: FieldValues) {
  return {
    ...custom,
    summary: title,
    description: description === undefined ? undefined : documentOf(description),
    duedate: dueDate,
    assignee: assignee ? { accountId: assignee } : assignee,
    priority: typeof priority === 'string' ? { name: priority } : priority,
  };
}

/** A new issue has no field to empty. */
function withoutNulls(fields: object): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null));
}

/** In the Atlassian Document Format, which does not allow an empty text: an empty description is null. */
function documentOf(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return null;
  const content = lines.map((line) => ({ type: 'paragraph', content: [{ type: 'text', text: line }] }));
  return { type: 'doc', version: 1, content };
}

const node = z.looseObject({
  type: z.string().optional(),
  text: z.string().optional(),
  content: z.array(z.unknown()).optional(),
});
const BLOCKS = new Set(['paragraph', 'heading', 'listItem', 'codeBlock', 'blockquote', 'tableRow', 'hardBreak']);

/** The text of a document, with a line break after each block. */
function plainTextOf(given: unknown): string {
  const { type = '', text = '', content = [] } = node.safeParse(given).data ?? {};
  return `${text}${content.map(plainTextOf).join('')}${BLOCKS.has(type) ? '\n' : ''}`;
}
