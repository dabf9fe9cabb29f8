/** Jira's search. Source: developer.atlassian.com/cloud/jira/platform/rest/v3 (issue search). */
import { z } from 'zod';
import { dateOf } from '../calls/call-answers.ts';
import type { Calls } from '../items/item-calls.ts';
import { orUnread, type Page, type Pages } from '../items/item-pages.ts';
import type { Asked } from '../items/item-target.ts';
import { textsOf } from '../items/item-text.ts';
import { markerAtEnd } from '../items/marker.ts';
import { plainTextOf } from './jira-document.ts';

const SEARCH = '/rest/api/3/search/jql';
const MOST_PAGES = 20;
const MINUTE_MS = 60_000;

const newIssue = z
  .object({
    id: z.string(),
    key: z.string(),
    fields: z.object({
      summary: z.string(),
      description: z.unknown().optional(),
      labels: z.array(z.string()).default([]),
      duedate: z.string().nullish(),
      created: z.coerce.date(),
      updated: z.coerce.date(),
    }),
  })
  .transform(({ id, key, fields: { summary, description, labels, duedate, created, updated } }) => ({
    ...textsOf(summary, plainTextOf(description)),
    itemId: key,
    lastingId: id,
    createdAt: created,
    changedAt: new Date(updated.getTime() - (updated.getTime() % MINUTE_MS)),
    dueDate: duedate ?? undefined,
    labels,
    marked: labels.find((label) => markerAtEnd(label) !== undefined),
  }));
const NEW_FIELDS = ['summary', 'description', 'labels', 'duedate', 'created', 'updated'];
const changedPage = pageOf(orUnread(newIssue, 'key'));

export function searchOf<Item>(calls: Calls, issue: z.ZodType<Item>, body: object): Pages<Item> {
  const page = pageOf(issue);
  return {
    most: MOST_PAGES,
    read: (nextPageToken) =>
      calls.ask({ method: 'POST', path: SEARCH, isRead: true, body: { ...body, nextPageToken } }, page),
  };
}

function pageOf<Item>(issue: z.ZodType<Item>) {
  return z
    .object({ issues: z.array(issue), nextPageToken: z.string().nullish() })
    .transform(({ issues, nextPageToken }) => ({ items: issues, next: nextPageToken }));
}

/**
 * The open issues of a project that have changed since then, the longest unchanged first. Jira would read a time in the time zone
 * of the account. So the query says how many minutes ago it was, which Jira counts by its own clock.
 */
export async function readChangedIssues(
  calls: Calls,
  project: string,
  since: Date,
  cursor: string | undefined,
  now: Date,
): Promise<Asked<Page<z.output<typeof changedPage>['items'][number]>>> {
  const [, asked, nextPageToken] = /^(\d+) (.*)$/.exec(cursor ?? '') ?? [];
  let minutes = asked === undefined ? minutesBetween(since, calls.vendorTime() ?? now) : Number(asked);
  for (;;) {
    const jql = `project = "${project}" AND statusCategory != Done AND updated >= "-${minutes}m" ORDER BY updated ASC, key ASC`;
    const body = { jql, fields: NEW_FIELDS, maxResults: 100, nextPageToken };
    const read = await calls.askWhole({ method: 'POST', path: SEARCH, isRead: true, body }, changedPage);
    if (read.status !== 'ok') return read;
    const { items, next } = read.value.value;
    // It is asked again if this machine's clock differs from Jira's.
    const needed = minutesBetween(since, dateOf(read.value.headers) ?? now);
    if (nextPageToken !== undefined || Math.abs(minutes - needed) <= 1)
      return { status: 'ok', value: { items, next: next && `${minutes} ${next}` } };
    minutes = needed;
  }
}

/** One more than there are, because time passes until Jira reads the query. */
function minutesBetween(since: Date, until: Date): number {
  return Math.max(0, Math.ceil((until.getTime() - since.getTime()) / MINUTE_MS)) + 1;
}
