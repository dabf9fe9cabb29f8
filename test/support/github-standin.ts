/** GitHub's issues, as far as the target uses them: docs.github.com/en/rest/issues/issues. */

import { openGithub } from '../../src/mirror/targets/github.ts';
import type { SettingsOf } from '../../src/settings/target.ts';
import { HOOK_SECRET, type ItemVendor, secretRef, TOKEN } from './item-vendor.ts';
import { openApiContract } from './vendor-contract.ts';
import { startVendor } from './vendor-standin.ts';

export interface GithubIssue {
  readonly number: number;
  /** Where it was transferred to, within octo/shop at first. */
  movedTo?: { readonly repo: string; readonly number: number };
  readonly title: string;
  readonly body: string;
  state: string;
  state_reason: string | null;
  readonly labels: readonly string[];
  readonly pull_request?: object;
}

export interface GithubVendor extends ItemVendor {
  readonly issues: GithubIssue[];
}

export function githubSettings(given: Partial<SettingsOf<'github'>> = {}): SettingsOf<'github'> {
  return {
    name: 'outside',
    type: 'github',
    url: 'https://api.github.com',
    token: secretRef(TOKEN),
    owner: 'octo',
    repo: 'shop',
    create: true,
    labels: [],
    columns: {},
    hookSecret: secretRef(HOOK_SECRET, 'targets.outside.hookSecret'),
    budget: { requests: 1, perMs: 1000, burst: 1, concurrency: 1 },
    timeoutMs: 15_000,
    allowPrivate: false,
    ...given,
  };
}

export async function startGithub(): Promise<GithubVendor> {
  const issues: GithubIssue[] = [];
  const missing = { status: 404, body: { message: 'Not Found' } };
  const add = (title: string, body: string, labels: readonly string[], state = 'open') => {
    const issue = { number: issues.length + 1, title, body, state, state_reason: null, labels };
    issues.push(issue);
    return issue;
  };
  const numberOf = (itemId: string) => Number(itemId.split('#')[1]);
  const issueAt = (number: number, repo = 'octo/shop') =>
    issues.find((issue) =>
      repo === 'octo/shop' ? issue.number === number : issue.movedTo?.repo === repo && issue.movedTo.number === number,
    );

  const vendor = await startVendor(
    openApiContract('github'),
    {
      authorization: new RegExp(`^Bearer ${TOKEN}$`),
      accept: /^application\/vnd\.github\+json$/,
      'x-github-api-version': /^2022-11-28$/,
      'user-agent': /./,
    },
    [
      {
        method: 'GET',
        path: /^\/repos\/(octo\/\w+)\/issues\/(\d+)$/,
        answer(_, [, repo, number]) {
          const issue = issueAt(Number(number), repo);
          if (issue === undefined) return missing;
          if (issue.movedTo === undefined || repo !== 'octo/shop') return { body: shown(issue) };
          const url = `/repositories/77/issues/${issue.movedTo.number}`;
          return { status: 301, headers: { location: url }, body: { message: 'Moved Permanently', url } };
        },
      },
      {
        method: 'GET',
        path: /^\/repositories\/77\/issues\/(\d+)$/,
        answer: (_, [, number]) => ({ body: shown(issues.find(({ movedTo }) => movedTo?.number === Number(number))) }),
      },
      {
        method: 'GET',
        path: /^\/repos\/octo\/shop\/issues$/,
        answer({ query }) {
          const [size, page] = [Number(query.get('per_page')), Number(query.get('page'))];
          const sorted = query.get('direction') === 'asc' ? issues : issues.toReversed();
          return { body: sorted.slice(size * (page - 1), size * page).map(shown) };
        },
      },
      {
        method: 'PATCH',
        path: /^\/repos\/(octo\/\w+)\/issues\/(\d+)$/,
        answer({ body }, [, repo, number]) {
          const issue = issueAt(Number(number), repo);
          if (issue === undefined) return missing;
          const { state, state_reason } = JSON.parse(body);
          if (issue.state !== state) issue.state_reason = state_reason;
          issue.state = state;
          return { body: shown(issue) };
        },
      },
      {
        method: 'POST',
        path: /^\/repos\/octo\/shop\/issues$/,
        answer(request) {
          const { title, body, labels = [] } = JSON.parse(request.body);
          return { status: 201, body: shown(add(title, body, labels)) };
        },
      },
    ],
  );
  return {
    vendor,
    issues,
    openTarget: (needs, { create }) => openGithub(githubSettings({ create }), needs),
    put: (isCompleted) => `octo/shop#${add('Old', '', [], isCompleted ? 'closed' : 'open').number}`,
    isCompleted: (itemId) => issueAt(numberOf(itemId))?.state === 'closed',
    count: () => issues.length,
    isWrite: ({ method }) => method === 'PATCH',
    isCreation: ({ method }) => method === 'POST',
    missing,
  };
}

/** As the API shows an issue: with all members that it always has. */
function shown(issue: GithubIssue | undefined) {
  if (issue === undefined) return { message: 'Not Found' };
  const { movedTo, ...rest } = issue;
  const { repo, number } = movedTo ?? { repo: 'octo/shop', number: issue.number };
  const url = `https://api.github.com/repos/${repo}/issues/${number}`;
  return {
    id: 1000 + number,
    node_id: `I_${number}`,
    url,
    repository_url: `https://api.github.com/repos/${repo}`,
    labels_url: `${url}/labels{/name}`,
    comments_url: `${url}/comments`,
    events_url: `${url}/events`,
    html_url: `https://github.com/${repo}/issues/${number}`,
    user: null,
    assignee: null,
    milestone: null,
    locked: false,
    comments: 0,
    closed_at: issue.state === 'closed' ? '2026-02-28T12:00:00Z' : null,
    created_at: '2026-02-01T12:00:00Z',
    updated_at: '2026-02-28T12:00:00Z',
    author_association: 'MEMBER',
    ...rest,
    number,
  };
}
