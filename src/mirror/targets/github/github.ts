/**
 * Issues of GitHub, or of a GitHub Enterprise server.
 *
 * Sources: docs.github.com/en/rest/issues/issues, …/rest/using-the-rest-api/best-practices-for-using-the-rest-api and
 * …/rate-limits-for-the-rest-api. Pull requests are issues to this API, share their numbers, and are left alone.
 */
import { z } from 'zod';
import { grouped } from '../../../base/grouped.ts';
import type { Delivery, ItemState, Target } from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import type { AnswerHeaders } from '../calls/call-answers.ts';
import { type Calls, type ItemNeeds, isoSeconds, mapAsked } from '../items/item-calls.ts';
import type { FieldValues, Problem } from '../items/item-fields.ts';
import { hookReader } from '../items/item-hook.ts';
import { githubItemId, githubNaming } from '../items/item-naming.ts';
import { findInPages, isInPages, newestFirst, orUnread, type Pages } from '../items/item-pages.ts';
import type { Asked } from '../items/item-target.ts';
import { endsWith, markedText, textsOf } from '../items/item-text.ts';
import { markerOf } from '../items/marker.ts';
import {
  type DetailedItems,
  detailTarget,
  earliestOf,
  searchedSince,
  tooMany,
  withLabels,
} from '../items/vendor-target.ts';
import { isSameName } from '../items/wanted-state.ts';
import { githubAdmin } from './github-admin.ts';
import { githubVendor } from './github-answers.ts';
import { githubHook } from './github-hook.ts';

const PER_PAGE = 100;
const MOST_PAGES = 20;
/** The pages to search if no creation is known whose outcome is unknown: only another ledger may have created the issue. */
const MOST_UNASKED_PAGES = 5;

const label = z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)]);
const issue = z.object({
  id: z.coerce.string().optional(),
  number: z.int().positive(),
  title: z.string().default(''),
  created_at: z.coerce.date().optional(),
  updated_at: z.coerce.date().optional(),
  repository_url: z.string().optional(),
  state: z.enum(['open', 'closed']),
  state_reason: z.string().nullish(),
  body: z.string().nullish(),
  labels: z.array(label).default([]),
  assignees: z.array(z.object({ login: z.string() })).nullish(),
  pull_request: z.unknown().optional(),
});
type Issue = z.output<typeof issue>;

interface GithubIssue extends ItemState {
  readonly labels: readonly string[];
  readonly assignees: readonly string[];
}

export function openGithub(settings: SettingsOf<'github'>, needs: ItemNeeds): Target {
  const { owner = '', repo = '', labels } = settings;
  const path = `/repos/${owner}/${repo}/issues`;

  const itemsBy = (calls: Calls): DetailedItems<GithubIssue> => ({
    async read(itemId) {
      const asked = await calls.ask({ method: 'GET', path: pathOf(itemId) }, issue);
      if (asked.status !== 'ok') return asked;
      if (asked.value.pull_request === undefined)
        return { status: 'ok', value: toItem(idOf(asked.value, itemId), asked.value) };
      const detail = `${itemId} is a pull request, not an issue: link the task with an issue`;
      return { status: 'refused', reason: 'NOT_AN_ISSUE', detail };
    },
    write({ itemId }, wanted) {
      const body = STATES[wanted.status === 'named' ? 'open' : wanted.status];
      const answer = issue.transform(({ state }) => ({ to: body.state, shown: state }));
      return calls.ask({ method: 'PATCH', path: pathOf(itemId), body }, answer);
    },
    async find(delivery, begunAt) {
      const comment = commentOf(delivery);
      const since = searchedSince(delivery, begunAt);
      const dated = issue.transform((each) => ({ ...each, createdAt: each.created_at ?? delivery.seenAt }));
      const issues = listOf(calls, path, dated, { state: 'all', sort: 'created', direction: 'desc', since });
      const isItem = (each: Issue) => each.pull_request === undefined && endsWith(each.body, comment);
      const pages =
        begunAt === undefined
          ? { ...issues, most: MOST_UNASKED_PAGES }
          : newestFirst(issues, earliestOf(begunAt), ({ createdAt }) => createdAt);
      const asked = await findInPages(pages, isItem);
      if (asked.status !== 'ok') return asked;
      const { found, isWhole } = asked.value;
      if (!isWhole && begunAt !== undefined) return tooMany(`GitHub: the new issues of ${owner}/${repo}`);
      return { status: 'ok', value: found && toItem(githubItemId(owner, repo, found.number), found) };
    },
    add(delivery, { labels: own, ...values }) {
      const all = { add: [...labels, ...(own?.add ?? [])], remove: [] };
      const body = bodyOf({ ...values, ...(all.add.length > 0 && { labels: all }) }, [], commentOf(delivery));
      const created = issue.transform(({ number }) => githubItemId(owner, repo, number));
      return calls.ask({ method: 'POST', path, body }, created);
    },
    update({ itemId, labels: current }, values, marker) {
      const body = bodyOf(values, current, marker && hidden(marker));
      const item = issue.transform((answer) => toItem(itemId, answer));
      return calls.ask({ method: 'PATCH', path: pathOf(itemId), body }, item);
    },
    leftOut: ({ itemId, assignees, labels: given }, values) => leftOut(itemId, assignees, given, values, settings.name),
    hasComment({ itemId }, marker) {
      const comments = listOf(calls, `${pathOf(itemId)}/comments`, z.object({ body: z.string().nullish() }));
      return isInPages(comments, ({ body }) => endsWith(body, hidden(marker)));
    },
    addComment({ itemId }, text, marker) {
      const body = { body: markedText(text, hidden(marker)) };
      return calls.ask({ method: 'POST', path: `${pathOf(itemId)}/comments`, body }, z.unknown());
    },
  });

  return detailTarget(settings, needs, {
    ...githubVendor(
      settings.app === undefined
        ? "check this target's token: it has expired, was revoked, or lacks the permission Issues: read and write (classic tokens: the scope repo)"
        : "check this target's app: it was suspended, or its installation lacks the permission Issues: read and write",
    ),
    noun: 'GitHub issue',
    ...githubNaming(settings),
    itemsBy,
    newItems(calls, since, page) {
      const changed = { state: 'open', sort: 'updated', direction: 'asc', since: isoSeconds(since) };
      return listOf(calls, path, orUnread(newIssueIn(owner, repo, since), 'number'), changed).read(page);
    },
    readMany: { most: 500, read: readIssues },
    container: `repository ${owner}/${repo}`,
    settleMs: 60_000, // the list is read from replicas that may lag behind by seconds
    readHook: hookReader(githubHook, settings, needs),
    admin: githubAdmin(settings),
  });
}

function newIssueIn(owner: string, repo: string, since: Date) {
  return issue.transform((each) => ({
    ...textsOf(each.title, each.body),
    itemId: githubItemId(owner, repo, each.number),
    lastingId: each.id,
    isLeftOut: each.pull_request !== undefined,
    createdAt: each.created_at ?? since,
    changedAt: each.updated_at,
    dueDate: undefined,
    labels: each.labels,
    marked: each.body?.replace(/-->\s*$/, ''),
  }));
}

function listOf<Item>(
  calls: Calls,
  path: string,
  item: z.ZodType<Item>,
  query: Readonly<Record<string, string>> = {},
): Pages<Item> {
  return {
    most: MOST_PAGES,
    read(page = '1') {
      const all = new URLSearchParams({ ...query, per_page: String(PER_PAGE), page });
      const asking = calls.askWhole({ method: 'GET', path: `${path}?${all}` }, z.array(item));
      const after = String(Number(page) + 1);
      return mapAsked(asking, ({ value: items, headers }) => ({
        items,
        next: hasNext(items, headers) ? after : undefined,
      }));
    },
  };
}

/** A server may allow fewer items on a page than it is asked for, and says then whether there are more. */
function hasNext(page: readonly unknown[], { link }: AnswerHeaders): boolean {
  return link === undefined ? page.length >= PER_PAGE : /rel="next"/.test(link);
}

/** GitHub refuses later pages with a 422, so issues there are read one by one: https://github.com/josegonzalez/python-github-backup/issues/429 */
const LAST_PAGE = 99;
/** A page with fewer wanted issues costs more than it saves. */
const FEWEST_ON_A_PAGE = 3;

/**
 * By pages of their repositories, sorted by age: an issue is at most as far down as its number says, and further up by one
 * for each number that is missing before it.
 */
async function readIssues(calls: Calls, itemIds: readonly string[]): Promise<Asked<readonly ItemState[]>> {
  const found: ItemState[] = [];
  for (const [repository, numbers] of grouped(itemIds.map(partsOf))) {
    const left = new Set(numbers.toSorted((a, b) => b - a));
    let page = Number.POSITIVE_INFINITY;
    for (const number of left) {
      page = Math.min(page, Math.ceil(number / PER_PAGE));
      if (page < 1) break;
      if (page > LAST_PAGE) continue;
      if ([...left].filter((each) => number - each < PER_PAGE).length < FEWEST_ON_A_PAGE) continue;
      const query = new URLSearchParams({ ...OLDEST_FIRST, page: String(page) });
      const asked = await calls.ask({ method: 'GET', path: `/repos/${repository}/issues?${query}` }, z.array(issue));
      if (asked.status === 'missing') break;
      if (asked.status !== 'ok') return asked;
      const listed = asked.value.filter((each) => left.delete(each.number) && each.pull_request === undefined);
      found.push(...listed.map((each) => toItem(idOf(each, `${repository}#${each.number}`), each)));
      page--;
    }
  }
  return { status: 'ok', value: found };
}

const OLDEST_FIRST = { state: 'all', sort: 'created', direction: 'asc', per_page: String(PER_PAGE) };

/** Repository and number. */
function partsOf(itemId: string): readonly [string, number] {
  const [repository = '', number] = itemId.split('#');
  return [repository, Number(number)];
}

/** Its present id: a moved issue answers to its former one. */
function idOf({ number, repository_url = '' }: Issue, askedFor: string): string {
  const [, owner, repo] = /\/repos\/([^/]+)\/([^/]+)$/.exec(repository_url) ?? [];
  return owner === undefined || repo === undefined ? askedFor : githubItemId(owner, repo, number);
}

/**
 * `status` distinguishes "closed (not_planned)" from "closed (completed)". Both count as closed, and neither is written
 * again.
 */
function toItem(itemId: string, { state, state_reason, labels, assignees }: Issue): GithubIssue {
  const why = state === 'closed' && typeof state_reason === 'string' ? ` (${state_reason})` : '';
  return {
    itemId,
    isCompleted: state === 'closed',
    status: `${state}${why}`,
    labels,
    assignees: assignees?.map(({ login }) => login) ?? [],
  };
}

/** GitHub accepts the call, and leaves out whom it may not assign, and labels that the user of the token may not set. */
function leftOut(
  itemId: string,
  assignees: readonly string[],
  given: readonly string[],
  { assignee, labels }: FieldValues,
  target: string,
): readonly Problem[] {
  const lost = labels?.add.filter((name) => !given.some((one) => isSameName(one, name))) ?? [];
  const isLost = typeof assignee === 'string' && !assignees.some((login) => isSameName(login, assignee));
  const leftOutOf = (field: Problem['field'], what: string, remedy: string): Problem => {
    const detail = `GitHub left out ${what} of ${itemId}: ${remedy}`;
    return { field, failure: { status: 'refused', reason: 'FIELD_LEFT_OUT', detail }, isLeftOut: true };
  };
  const problems: Problem[] = [];
  if (isLost) {
    const remedy = `give ${assignee} access to the repository or correct targets.${target}.people, then assign the issue there`;
    problems.push(leftOutOf('assignee', `the assignee ${assignee}`, remedy));
  }
  if (lost.length > 0) {
    const remedy = 'give the user of the token the role Write, then add them there';
    problems.push(leftOutOf('labels', `${lost.length === 1 ? 'the label' : 'the labels'} ${lost.join(', ')}`, remedy));
  }
  return problems;
}

function pathOf(itemId: string): string {
  return `/repos/${itemId.replace('#', '/issues/')}`;
}

const STATES = {
  completed: { state: 'closed', state_reason: 'completed' },
  cancelled: { state: 'closed', state_reason: 'not_planned' },
  open: { state: 'open', state_reason: 'reopened' },
} as const;

function bodyOf(
  { title, description, assignee, labels }: FieldValues,
  current: readonly string[],
  marker: string | undefined,
) {
  return {
    title,
    body: description === undefined ? undefined : markedText(description, marker),
    assignees: assignee === undefined ? undefined : [assignee].filter((login) => login !== null),
    labels: labels && withLabels(current, labels),
  };
}

function commentOf(delivery: Delivery): string {
  return hidden(markerOf(delivery));
}

function hidden(marker: string): string {
  return `<!-- ${marker} -->`;
}
