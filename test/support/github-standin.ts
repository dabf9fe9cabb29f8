/** GitHub's issues, as far as the target uses them: docs.github.com/en/rest/issues/issues. */

import { openGithub } from '../../src/mirror/targets/github.ts';
import type { SettingsOf } from '../../src/settings/target.ts';
import { HOOK_SECRET, type ItemVendor, secretRef, TOKEN } from './item-vendor.ts';
import { startVendor } from './vendor-standin.ts';

export interface GithubIssue {
  readonly number: number;
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
  const issueAt = (number: number) => issues.find((issue) => issue.number === number);

  const vendor = await startVendor(
    {
      authorization: new RegExp(`^Bearer ${TOKEN}$`),
      accept: /^application\/vnd\.github\+json$/,
      'x-github-api-version': /^2022-11-28$/,
      'user-agent': /./,
    },
    [
      {
        method: 'GET',
        path: /^\/repos\/octo\/shop\/issues\/(\d+)$/,
        answer: (_, [, number]) => ({ ...missing, ...answerWith(issueAt(Number(number))) }),
      },
      {
        method: 'GET',
        path: /^\/repos\/octo\/shop\/issues$/,
        query: ['state', 'sort', 'direction', 'since', 'per_page', 'page'],
        answer({ query }) {
          const [size, page] = [Number(query.get('per_page')), Number(query.get('page'))];
          return { body: issues.toReversed().slice(size * (page - 1), size * page) };
        },
      },
      {
        method: 'PATCH',
        path: /^\/repos\/octo\/shop\/issues\/(\d+)$/,
        body: ['state', 'state_reason'],
        answer({ body }, [, number]) {
          const issue = issueAt(Number(number));
          if (issue === undefined) return missing;
          const { state, state_reason } = JSON.parse(body);
          if (issue.state !== state) issue.state_reason = state_reason;
          issue.state = state;
          return { body: issue };
        },
      },
      {
        method: 'POST',
        path: /^\/repos\/octo\/shop\/issues$/,
        body: ['title', 'body', '?labels'],
        answer(request) {
          const { title, body, labels = [] } = JSON.parse(request.body);
          return { status: 201, body: add(title, body, labels) };
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

function answerWith(issue: GithubIssue | undefined) {
  return issue === undefined ? {} : { status: 200, body: issue };
}
