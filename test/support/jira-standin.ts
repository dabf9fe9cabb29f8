/** Jira Cloud with one workflow, as far as the target uses it: developer.atlassian.com/cloud/jira/platform/rest/v3. */

import { openJira } from '../../src/mirror/targets/jira.ts';
import type { SettingsOf } from '../../src/settings/target.ts';
import { HOOK_SECRET, type ItemVendor, secretRef, TOKEN } from './item-vendor.ts';
import { startVendor } from './vendor-standin.ts';

export interface JiraIssue {
  readonly key: string;
  status: string;
  readonly fields: { readonly labels: readonly string[]; readonly summary?: string; readonly description?: unknown };
}

export interface JiraVendor extends ItemVendor {
  readonly issues: JiraIssue[];
  /** Statuses that no transition leads to. */
  readonly closedRoads: Set<string>;
  /** The search does not show what was created. */
  isSearchBehind: boolean;
}

const CATEGORIES: Readonly<Record<string, string>> = {
  Backlog: 'new',
  'In Progress': 'indeterminate',
  Released: 'done',
  Done: 'done',
};

export function jiraSettings(given: Partial<SettingsOf<'jira'>> = {}): SettingsOf<'jira'> {
  return {
    name: 'outside',
    type: 'jira',
    url: 'https://acme.atlassian.net',
    email: 'bot@example.com',
    token: secretRef(TOKEN),
    project: 'ABC',
    doneStatus: undefined,
    openStatus: undefined,
    create: true,
    issueType: 'Task',
    columns: {},
    hookSecret: secretRef(HOOK_SECRET, 'targets.outside.hookSecret'),
    budget: { requests: 5, perMs: 1000, burst: 5, concurrency: 4 },
    timeoutMs: 15_000,
    allowPrivate: false,
    ...given,
  };
}

export async function startJira(): Promise<JiraVendor> {
  const issues: JiraIssue[] = [];
  const closedRoads = new Set<string>();
  const missing = {
    status: 404,
    body: { errorMessages: ['Issue does not exist or you do not have permission to see it.'] },
  };
  const add = (status: string, fields: JiraIssue['fields']) => {
    const issue = { key: `ABC-${issues.length + 1}`, status, fields };
    issues.push(issue);
    return issue;
  };
  const shown = ({ key, status }: JiraIssue) => ({ key, fields: { status: statusOf(status) } });
  const issueAt = (key: string | undefined) => issues.find((issue) => issue.key === key);
  const roads = () => Object.keys(CATEGORIES).filter((name) => !closedRoads.has(name));
  const basic = Buffer.from(`bot@example.com:${TOKEN}`).toString('base64');

  const vendor = await startVendor({ authorization: new RegExp(`^Basic ${basic}$`), accept: /^application\/json$/ }, [
    {
      method: 'GET',
      path: /^\/rest\/api\/3\/issue\/([A-Z]+-\d+)$/,
      query: ['fields'],
      answer(_, [, key]) {
        const issue = issueAt(key);
        return issue === undefined ? missing : { body: shown(issue) };
      },
    },
    {
      method: 'GET',
      path: /^\/rest\/api\/3\/issue\/([A-Z]+-\d+)\/transitions$/,
      answer: () => ({
        body: { transitions: roads().map((name) => ({ id: `to-${name}`, name: `Go ${name}`, to: statusOf(name) })) },
      }),
    },
    {
      method: 'POST',
      path: /^\/rest\/api\/3\/issue\/([A-Z]+-\d+)\/transitions$/,
      body: ['transition'],
      answer({ body }, [, key]) {
        const issue = issueAt(key);
        if (issue !== undefined) issue.status = String(JSON.parse(body).transition.id).replace('to-', '');
        return issue === undefined ? missing : { status: 204 };
      },
    },
    {
      method: 'POST',
      path: /^\/rest\/api\/3\/search\/jql$/,
      body: ['jql', 'fields', 'maxResults'],
      answer({ body }) {
        const label = /^project = "ABC" AND labels = "(lockstep-[\da-f]{12})"$/.exec(JSON.parse(body).jql)?.[1];
        const found = issues.filter(({ fields }) => label !== undefined && fields.labels.includes(label));
        if (harness.isSearchBehind) return { body: { issues: [], isLast: true } };
        return { body: { issues: found.map(shown), isLast: true } };
      },
    },
    {
      method: 'POST',
      path: /^\/rest\/api\/3\/issue$/,
      body: ['fields'],
      answer({ body }) {
        const { project, issuetype, ...fields } = JSON.parse(body).fields;
        if (project.key !== 'ABC' || issuetype.name !== 'Task')
          return { status: 400, body: { errors: { project: '?' } } };
        const { key } = add('Backlog', fields);
        return { status: 201, body: { id: '10001', key } };
      },
    },
  ]);
  const harness: JiraVendor = {
    vendor,
    issues,
    closedRoads,
    isSearchBehind: false,
    openTarget: (needs, { create }) => openJira(jiraSettings({ create }), needs),
    put: (isCompleted) => add(isCompleted ? 'Done' : 'In Progress', { labels: [] }).key,
    isCompleted: (itemId) => CATEGORIES[issueAt(itemId)?.status ?? ''] === 'done',
    count: () => issues.length,
    isWrite: ({ method, path }) => method === 'POST' && path.endsWith('/transitions'),
    isCreation: ({ method, path }) => method === 'POST' && path === '/rest/api/3/issue',
    missing,
  };
  return harness;
}

export function statusOf(name: string) {
  return { name, statusCategory: { key: CATEGORIES[name] } };
}
