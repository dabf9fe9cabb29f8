/**
 * Issues of Jira Cloud. An issue is moved by a transition of its workflow; ids and names of transitions differ from one
 * workflow to the next, so one is chosen by the status that it leads to.
 *
 * Sources: developer.atlassian.com/cloud/jira/platform/rest/v3 (issues, issue search), …/platform/rate-limiting and
 * …/platform/search-and-reconcile: a new issue may be seen by the search only after seconds, rarely minutes.
 */
import { z } from 'zod';
import type { JiraTarget } from '../settings/targets/jira.ts';
import { type Asked, type Calls, nothing, type TargetNeeds } from './item-calls.ts';
import { limited, placeMissing, type Vendor, waitOf } from './item-outcome.ts';
import { type Creation, itemTarget, type Read, type Written } from './item-target.ts';
import { textOf, titleOf } from './item-text.ts';
import { readJiraHook } from './jira-hook.ts';
import { isJiraKey, jiraIssue, jiraItemsIn, jiraStatus, toJiraItem } from './jira-issue.ts';
import { markerOf } from './marker.ts';
import type { ItemState, Target } from './target.ts';
import { describeWanted, isSameName, type Wanted } from './wanted.ts';

const ISSUE = '/rest/api/3/issue';
/** What the search may lag behind by. */
const SETTLE_MS = 5 * 60_000;

const transitions = z.object({
  transitions: z.array(z.object({ id: z.string(), name: z.string(), to: jiraStatus })),
});
type Transition = z.output<typeof transitions>['transitions'][number];

const vendor: Vendor = {
  name: 'Jira',
  tokenRemedy:
    "check this target's email and token: the token has expired or was revoked, or the account may not move issues of this project",
  judge(reply, nowMs) {
    if (reply.httpStatus !== 429) return undefined;
    const reason = reply.headers['ratelimit-reason'];
    const why = reason !== undefined && /^[\w-]{1,64}$/.test(reason) ? ` (${reason})` : '';
    return limited(`Jira limits the calls of this account${why}`, waitOf(reply, nowMs));
  },
  messageOf(body) {
    const read = z
      .object({ errorMessages: z.array(z.string()).default([]), errors: z.record(z.string(), z.unknown()).default({}) })
      .safeParse(body);
    if (!read.success) return undefined;
    const fields = Object.entries(read.data.errors).map(([field, message]) => `${field}: ${message}`);
    return [...read.data.errorMessages, ...fields].join('; ') || undefined;
  },
};

export function openJira(settings: JiraTarget, needs: TargetNeeds): Target {
  const { email, doneStatus, openStatus } = settings;
  const read = async (calls: Calls, itemId: string): Promise<Read<ItemState>> => {
    if (!isJiraKey(itemId)) return notAnItem(itemId);
    const asked = await calls.ask({ method: 'GET', path: `${ISSUE}/${itemId}?fields=status` }, jiraIssue);
    return asked.status === 'ok' ? { status: 'found', item: toJiraItem(itemId, asked.value, doneStatus) } : asked;
  };
  const system = {
    connection: {
      vendor,
      token: settings.token,
      headersOf: (token: string) => ({
        authorization: `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}`,
        accept: 'application/json',
      }),
    },
    noun: 'Jira issue',
    howToLink: 'name it in the text of the task by its address or as JIRA: ABC-12',
    columns: settings.columns,
    read,
    async write(calls: Calls, { itemId }: ItemState, wanted: Wanted): Promise<Written> {
      const path = `${ISSUE}/${itemId}/transitions`;
      const asked = await calls.ask({ method: 'GET', path }, transitions);
      if (asked.status !== 'ok') return asked;
      const chosen = chooseTransition(asked.value.transitions, wanted, { doneStatus, openStatus });
      if (chosen === undefined)
        return noTransition(itemId, wanted, { doneStatus, openStatus }, asked.value.transitions);
      const moved = await calls.ask({ method: 'POST', path, body: { transition: { id: chosen.id } } }, nothing);
      return moved.status === 'ok' ? { status: 'written', to: chosen.to.name } : moved;
    },
    creation: settings.create ? creationIn(settings) : undefined,
  };
  return itemTarget(system, needs, {
    itemsIn: (text) => jiraItemsIn(text, settings),
    readHook: (request, now) => readJiraHook(request, settings.hookSecret, needs, doneStatus, now),
  });
}

interface StatusNames {
  readonly doneStatus: string | undefined;
  readonly openStatus: string | undefined;
}

/** By the status it leads to: the one that is named, else the first of the category. */
function chooseTransition(all: readonly Transition[], wanted: Wanted, names: StatusNames): Transition | undefined {
  const name = nameOf(wanted, names);
  if (name !== undefined) return all.find(({ to }) => isSameName(to.name, name));
  const ofCategory = (key: string) => all.find(({ to }) => to.statusCategory.key === key);
  return wanted.status === 'completed' ? ofCategory('done') : (ofCategory('new') ?? ofCategory('indeterminate'));
}

function nameOf(wanted: Wanted, { doneStatus, openStatus }: StatusNames): string | undefined {
  if (wanted.status === 'named') return wanted.name;
  return wanted.status === 'completed' ? doneStatus : openStatus;
}

function noTransition(itemId: string, wanted: Wanted, names: StatusNames, all: readonly Transition[]): Written {
  const name = nameOf(wanted, names);
  const to = name === undefined ? `a status that is ${describeWanted(wanted)}` : `"${name}"`;
  const known = all.map((each) => `${each.name} → ${each.to.name}`).join(', ') || 'none';
  const remedy =
    "add one to the workflow, allow this account to use it, or name another status in the target's settings";
  const detail = `${itemId}: no transition leads to ${to} from where it is (there is: ${known}); ${remedy}`;
  return { status: 'refused', reason: 'NO_TRANSITION', detail };
}

function creationIn({ project = '', issueType, doneStatus }: JiraTarget): Creation<ItemState> {
  const place = `project as ${project}, or no issue type of that name in it`;
  const orPlaceMissing = <T>(asked: Exclude<Asked<T>, { status: 'ok' }>) =>
    asked.status === 'missing' ? placeMissing(vendor, place, asked) : asked;

  return {
    settleMs: SETTLE_MS,
    async find(calls, delivery) {
      const label = markerOf(delivery);
      const body = { jql: `project = "${project}" AND labels = "${label}"`, fields: ['status'], maxResults: 2 };
      const asked = await calls.ask(
        { method: 'POST', path: '/rest/api/3/search/jql', body },
        z.object({ issues: z.array(jiraIssue) }),
      );
      if (asked.status !== 'ok') return orPlaceMissing(asked);
      const [found] = asked.value.issues;
      if (found === undefined) return { status: 'missing', detail: `no issue with the label ${label}` };
      return { status: 'found', item: toJiraItem(found.key, found, doneStatus) };
    },
    async add(calls, delivery) {
      const fields = {
        project: { key: project },
        issuetype: { name: issueType },
        summary: titleOf(delivery.task),
        labels: [markerOf(delivery)],
        ...documentOf(textOf(delivery.task)),
      };
      const asked = await calls.ask({ method: 'POST', path: ISSUE, body: { fields } }, z.object({ key: z.string() }));
      return asked.status === 'ok' ? { status: 'added', itemId: asked.value.key } : orPlaceMissing(asked);
    },
  };
}

/** In the Atlassian Document Format, which knows no empty text: an empty description is none. */
function documentOf(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return {};
  const content = lines.map((line) => ({ type: 'paragraph', content: [{ type: 'text', text: line }] }));
  return { description: { type: 'doc', version: 1, content } };
}

function notAnItem(itemId: string) {
  const detail = `"${itemId}" does not name a Jira issue: link it as ABC-12`;
  return { status: 'refused' as const, reason: 'ITEM_ID_INVALID', detail };
}
