/**
 * Issues of Jira Cloud. An issue is moved by a transition of its workflow. Ids and names of transitions differ between
 * workflows, so a transition is chosen by the status to which it leads.
 *
 * Sources: developer.atlassian.com/cloud/jira/platform/rest/v3 (issues, issue search), …/platform/rate-limiting and
 * …/platform/search-and-reconcile: a new issue may be seen by the search only after seconds, rarely minutes.
 */
import { z } from 'zod';
import type { ItemState, Target } from '../../contract/target.ts';
import type { SettingsOf } from '../../settings/target.ts';
import { type Calls, moved, type TargetNeeds } from './item-calls.ts';
import { hookReader } from './item-hook.ts';
import { jiraNaming } from './item-naming.ts';
import { limited, waitOf } from './item-outcome.ts';
import type { Written } from './item-target.ts';
import { itemTextOf, titleOf } from './item-text.ts';
import { jiraHook, jiraIssue, jiraStatus, toJiraItem } from './jira-issue.ts';
import { markerOf } from './marker.ts';
import { type VendorItems, vendorTarget } from './vendor-target.ts';
import { describeWanted, isSameName, type Wanted } from './wanted.ts';

const ISSUE = '/rest/api/3/issue';

const transitions = z.object({
  transitions: z.array(z.object({ id: z.string(), name: z.string(), to: jiraStatus })),
});
type Transition = z.output<typeof transitions>['transitions'][number];

const message = z
  .object({ errorMessages: z.array(z.string()).default([]), errors: z.record(z.string(), z.unknown()).default({}) })
  .transform(({ errorMessages, errors }) => {
    const fields = Object.entries(errors).map(([field, said]) => `${field}: ${said}`);
    return [...errorMessages, ...fields].join('; ');
  })
  .refine((text) => text !== '');

export function openJira(settings: SettingsOf<'jira'>, needs: TargetNeeds): Target {
  const { email, doneStatus, project = '', issueType } = settings;

  const itemsBy = (calls: Calls): VendorItems<ItemState> => ({
    read(itemId) {
      const item = jiraIssue.transform((issue) => ({ ...toJiraItem(issue, doneStatus), itemId }));
      return calls.ask({ method: 'GET', path: `${ISSUE}/${itemId}?fields=status` }, item);
    },
    async write({ itemId }, wanted) {
      const path = `${ISSUE}/${itemId}/transitions`;
      const asked = await calls.ask({ method: 'GET', path }, transitions);
      if (asked.status !== 'ok') return asked;
      const chosen = chooseTransition(asked.value.transitions, wanted, settings);
      if (chosen === undefined) return noTransition(itemId, wanted, settings, asked.value.transitions);
      return calls.ask({ method: 'POST', path, body: { transition: { id: chosen.id } } }, moved(chosen.to.name));
    },
    find(delivery) {
      const jql = `project = "${project}" AND labels = "${markerOf(delivery)}"`;
      const first = z
        .object({ issues: z.array(jiraIssue) })
        .transform(({ issues: [found] }) => found && toJiraItem(found, doneStatus));
      const body = { jql, fields: ['status'], maxResults: 2 };
      return calls.ask({ method: 'POST', path: '/rest/api/3/search/jql', body }, first);
    },
    add(delivery) {
      const fields = {
        project: { key: project },
        issuetype: { name: issueType },
        summary: titleOf(delivery.task),
        labels: [markerOf(delivery)],
        ...documentOf(itemTextOf(delivery.task)),
      };
      const created = z.object({ key: z.string() }).transform(({ key }) => key);
      return calls.ask({ method: 'POST', path: ISSUE, body: { fields } }, created);
    },
  });

  return vendorTarget(settings, needs, {
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
    headersOf: (token) => ({ authorization: `Basic ${Buffer.from(`${email}:${token}`).toString('base64')}` }),
    itemsBy,
    container: `project ${project}, or the project has no issue type of that name`,
    settleMs: 5 * 60_000, // how far the search may lag behind
    readHook: hookReader(jiraHook(doneStatus), settings.hookSecret, needs),
  });
}

interface StatusNames {
  readonly doneStatus?: string | undefined;
  readonly openStatus?: string | undefined;
}

/** Chooses by the resulting status: the named one, otherwise the first of the category. */
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
  const detail = `${itemId}: no transition leads from its current status to ${to} (available: ${known}); ${remedy}`;
  return { status: 'refused', reason: 'NO_TRANSITION', detail };
}

/** In the Atlassian Document Format, which does not allow an empty text, so an empty description is omitted. */
function documentOf(text: string) {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  if (lines.length === 0) return {};
  const content = lines.map((line) => ({ type: 'paragraph', content: [{ type: 'text', text: line }] }));
  return { description: { type: 'doc', version: 1, content } };
}
