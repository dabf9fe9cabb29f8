/**
 * Issues of Jira Cloud. An issue is moved by a transition of its workflow (jira-transition.ts).
 *
 * Sources: developer.atlassian.com/cloud/jira/platform/rest/v3 (issues, issue search), …/platform/rate-limiting and
 * …/platform/search-and-reconcile: a new issue may be seen by the search only after seconds, rarely minutes.
 */
import { z } from 'zod';
import type { ItemState, Target, TargetFailure } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { excerpt } from '../calls/call-answers.ts';
import type { CustomForms } from '../items/custom-fields.ts';
import { accepted, type Calls, type ItemNeeds } from '../items/item-calls.ts';
import { type FieldValues, withoutEmpty } from '../items/item-fields.ts';
import { hookReader } from '../items/item-hook.ts';
import { jiraNaming } from '../items/item-naming.ts';
import { failedFor, limitedFailure, type Reply, tokenRefused, waitOf } from '../items/item-outcome.ts';
import { findInPages, isInPages, type Pages } from '../items/item-pages.ts';
import type { Missing } from '../items/item-target.ts';
import { markedText } from '../items/item-text.ts';
import { markerOf } from '../items/marker.ts';
import { type DetailedItems, detailTarget, tooMany } from '../items/vendor-target.ts';
import { jiraAdmin } from './jira-admin.ts';
import { documentOf } from './jira-document.ts';
import { readJiraFields } from './jira-fields.ts';
import { JIRA_ISSUE, jiraHook, jiraIssue, readIssue, readIssues, toJiraItem } from './jira-issue.ts';
import { readChangedIssues, searchOf } from './jira-search.ts';
import { moveIssue } from './jira-transition.ts';

const COMMENTS_PER_PAGE = 100;
const MOST_COMMENT_PAGES = 20;

const comments = z
  .object({
    comments: z.array(z.object({ body: z.unknown() })),
    startAt: z.int().default(0),
    total: z.int().default(0),
  })
  .transform(({ comments: items, startAt, total }) => {
    const end = startAt + items.length;
    return { items, next: items.length === 0 || end >= total ? undefined : String(end) };
  });

const message = z
  .object({ errorMessages: z.array(z.string()).default([]), errors: z.record(z.string(), z.unknown()).default({}) })
  .transform(({ errorMessages, errors }) => {
    const fields = Object.entries(errors).map(([field, said]) => `${field}: ${said}`);
    return [...errorMessages, ...fields].join('; ');
  })
  .refine((text) => text !== '');

export function openJira(settings: SettingsOf<'jira'>, needs: ItemNeeds): Target {
  const { email, oauthClient, doneStatus, project = '', issueType } = settings;

  const itemsBy = (calls: Calls): DetailedItems<ItemState> => ({
    read: (itemId) => readIssue(calls, itemId, doneStatus),
    write: (item, wanted) => moveIssue(calls, item, wanted, settings),
    async find(delivery) {
      const jql = `project = "${project}" AND labels = "${markerOf(delivery)}"`;
      // A page may be empty although another page follows: Jira leaves out what the account may not see.
      const issues = searchOf(calls, jiraIssue, { jql, fields: ['status'], maxResults: 2 });
      const asked = await findInPages(issues, () => true);
      if (asked.status !== 'ok') return asked;
      if (!asked.value.isWhole) return tooMany(`Jira: the issues of project ${project} that the account may not see`);
      return { status: 'ok', value: asked.value.found && toJiraItem(asked.value.found, doneStatus) };
    },
    add(delivery, { labels, ...values }) {
      const fields = {
        ...withoutEmpty(fieldsOf(values)),
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
    hasComment({ itemId }, marker) {
      const pages: Pages<z.output<typeof comments>['items'][number]> = {
        most: MOST_COMMENT_PAGES,
        read(startAt = '0') {
          const query = new URLSearchParams({ orderBy: '-created', maxResults: String(COMMENTS_PER_PAGE), startAt });
          return calls.ask({ method: 'GET', path: `${JIRA_ISSUE}/${itemId}/comment?${query}` }, comments);
        },
      };
      return isInPages(pages, ({ body }) => JSON.stringify(body ?? '').includes(`"${marker}"`));
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
    tokenRemedy: `check this target's ${oauthClient ? CLIENT_REMEDY : TOKEN_REMEDY}, or the account may not move issues of this project`,
    judge,
    message,
    alwaysExplains: true,
    headersOf: (token) => ({
      authorization: oauthClient ? `Bearer ${token}` : `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}`,
    }),
    itemsBy,
    named: { custom: { read: (calls) => readJiraFields(calls, project, issueType), forms: FORMS } },
    newItems: (calls, since, cursor) => readChangedIssues(calls, project, since, cursor, needs.now()),
    readMany: { most: 100, read: (calls, itemIds) => readIssues(calls, itemIds, doneStatus) },
    container: `project ${project}, or the project has no issue type of that name`,
    settleMs: 5 * 60_000, // how far the search may lag behind
    readHook: hookReader(jiraHook(doneStatus), settings, needs),
    admin: jiraAdmin(settings),
  });
}

const TOKEN_REMEDY = 'email and token: the token has expired or was revoked';
const CLIENT_REMEDY = 'oauthClient: it lacks access to this site, or the scopes read:jira-work and write:jira-work';

/** A search, and a creation, in a project that is deleted or archived, or that the account may not see. */
const NO_PROJECT = /does not exist for the field 'project'|(?:^|; )(?:project|issuetype): /;

/** developer.atlassian.com/cloud/jira/platform/build-an-app-that-respects-rate-limits */
const PER_ISSUE = 'jira-per-issue-on-write';

function judge(reply: Reply, nowMs: number, tokenRemedy: string): TargetFailure | Missing | undefined {
  const { httpStatus, headers } = reply;
  const said = message.safeParse(reply.body).data ?? '';
  if (httpStatus === 400 && NO_PROJECT.test(said)) return { status: 'missing', detail: `Jira: ${excerpt(said)}` };
  if (httpStatus === 429) {
    // X-RateLimit-Reset is the end of Retry-After, in whole minutes, so it says nothing more.
    const reason = headers['ratelimit-reason'];
    const why = reason !== undefined && /^[\w-]{1,64}$/.test(reason) ? ` (${reason})` : '';
    // Too many changes of one issue: the deliveries to others need not wait.
    if (reason === PER_ISSUE)
      return failedFor(waitOf(reply, nowMs), 'CONFLICT', `Jira limits the changes of this issue${why}`);
    return limitedFailure(`Jira limits the calls of this account${why}`, waitOf(reply, nowMs));
  }
  // A call that Jira allows without an account is answered as such a call if the token is refused: issues are missing, lists empty.
  const login = headers['x-seraph-loginreason'] ?? '';
  if (httpStatus >= 500 || !/AUTHENTICATED_FAILED|AUTHENTICATION_DENIED/.test(login)) return undefined;
  return tokenRefused(tokenRemedy, `Jira: HTTP ${httpStatus}: the token is refused`);
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
