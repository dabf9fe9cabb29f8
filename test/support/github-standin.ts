/** GitHub's issues, as far as the target uses them: docs.github.com/en/rest/issues/issues. */
import { openGithub } from '../../src/mirror/targets/github/github.ts';
import type { SettingsOf } from '../../src/settings/schema-target.ts';
import {
  type DetailedVendor,
  HOOK_SECRET,
  NO_DETAILS,
  secretRef,
  TOKEN,
  USUAL,
  type VendorComment,
} from './item-vendor.ts';
import { openApiContract } from './vendor-contract.ts';
import { rule, startVendor } from './vendor-standin.ts';

export interface GithubIssue {
  readonly number: number;
  /** Where it was transferred to, within octo/shop at first. */
  movedTo?: { readonly repo: string; readonly number: number };
  title: string;
  body: string;
  assignees?: readonly string[];
  state: string;
  state_reason: string | null;
  labels: readonly string[];
  readonly pull_request?: object;
  readonly created_at?: string;
  updated_at?: string;
}

export interface GithubVendor extends DetailedVendor {
  readonly issues: GithubIssue[];
  /** What the user of the token may not set: it is left out without an error. */
  readonly leavesOut: Set<'assignees' | 'labels'>;
  /** A server may allow fewer items on a page. */
  readonly limits: { mostOnPage: number };
}

export function githubSettings(given: Partial<SettingsOf<'github'>> = {}): SettingsOf<'github'> {
  return {
    ...USUAL,
    type: 'github',
    url: 'https://api.github.com',
    token: secretRef(TOKEN),
    owner: 'octo',
    repo: 'shop',
    labels: [],
    hookSecret: secretRef(HOOK_SECRET, 'targets.outside.hookSecret'),
    budget: { requests: 1, perMs: 1000, burst: 1, concurrency: 1 },
    ...NO_DETAILS,
    ...given,
  };
}

export async function startGithub(): Promise<GithubVendor> {
  const issues: GithubIssue[] = [];
  const comments: VendorComment[] = [];
  const leavesOut = new Set<'assignees' | 'labels'>();
  const allowed = (body: string) => {
    const fields = JSON.parse(body);
    for (const name of leavesOut) delete fields[name];
    return fields;
  };
  const missing = { status: 404, body: { message: 'Not Found' } };
  const add = (title: string, body: string, labels: readonly string[], state = 'open') => {
    const issue: GithubIssue = { number: issues.length + 1, title, body, state, state_reason: null, labels };
    issues.push(issue);
    return issue;
  };
  const numberOf = (itemId: string) => Number(itemId.split('#')[1]);
  const issueAt = (number: number, repo = 'octo/shop') =>
    issues.find((issue) =>
      repo === 'octo/shop' ? issue.number === number : issue.movedTo?.repo === repo && issue.movedTo.number === number,
    );

  const limits = { mostOnPage: 100 };
  const pageOf = (query: URLSearchParams) =>
    [Math.min(limits.mostOnPage, Number(query.get('per_page'))), Number(query.get('page'))] as const;
  const linked = (page: number, size: number, { length }: readonly unknown[]) => {
    const more = page * size < length ? `, <https://api.github.com/next?page=${page + 1}>; rel="next"` : '';
    return { headers: { link: `<https://api.github.com/first>; rel="first"${more}` } };
  };
  const vendor = await startVendor(
    openApiContract('github'),
    {
      authorization: new RegExp(`^Bearer ${TOKEN}$`),
      accept: /^application\/vnd\.github\+json$/,
      'x-github-api-version': /^2022-11-28$/,
      'user-agent': /./,
    },
    [
      rule('GET', /^\/repos\/(octo\/\w+)\/issues\/(\d+)$/, (_, [, repo, number]) => {
        const issue = issueAt(Number(number), repo);
        if (issue === undefined) return missing;
        if (issue.movedTo === undefined || repo !== 'octo/shop') return { body: shown(issue) };
        const url = `/repositories/77/issues/${issue.movedTo.number}`;
        return { status: 301, headers: { location: url }, body: { message: 'Moved Permanently', url } };
      }),
      rule('GET', /^\/repositories\/77\/issues\/(\d+)$/, (_, [, number]) => {
        const issue = issues.find(({ movedTo }) => movedTo?.number === Number(number));
        return issue === undefined ? missing : { body: shown(issue) };
      }),
      rule('GET', /^\/repos\/octo\/shop\/issues$/, ({ query }) => {
        const [size, page] = pageOf(query);
        const all = query.get('state') === 'open' ? issues.filter(({ state }) => state === 'open') : issues;
        const since = Date.parse(query.get('since') ?? '');
        const changed = query.get('sort') === 'updated' ? all.filter((issue) => changedAt(issue) >= since) : all;
        if (changed !== all) changed.sort((a, b) => changedAt(a) - changedAt(b));
        const sorted = query.get('direction') === 'asc' ? changed : changed.toReversed();
        return { ...linked(page, size, sorted), body: sorted.slice(size * (page - 1), size * page).map(shown) };
      }),
      rule('PATCH', /^\/repos\/(octo\/\w+)\/issues\/(\d+)$/, ({ body }, [, repo, number]) => {
        const issue = issueAt(Number(number), repo);
        if (issue === undefined) return missing;
        const { state = issue.state, state_reason, ...fields } = allowed(body);
        if (issue.state !== state) issue.state_reason = state_reason;
        Object.assign(issue, { state, ...fields });
        return { body: shown(issue) };
      }),
      rule('POST', /^\/repos\/octo\/shop\/issues$/, (request) => {
        const { title, body, labels = [], assignees = [] } = allowed(request.body);
        return { status: 201, body: shown(Object.assign(add(title, body, labels), { assignees })) };
      }),
      rule('GET', /^\/repos\/(octo\/\w+)\/issues\/(\d+)\/comments$/, ({ query }, [, repo, number]) => {
        const [size, page] = pageOf(query);
        const own = comments.filter(({ itemId }) => itemId === `${repo}#${number}`);
        return { ...linked(page, size, own), body: own.slice(size * (page - 1), size * page).map(shownComment) };
      }),
      rule('POST', /^\/repos\/(octo\/\w+)\/issues\/(\d+)\/comments$/, (request, [, repo, number]) => {
        if (issueAt(Number(number), repo) === undefined) return missing;
        const text = JSON.parse(request.body).body;
        const comment = { id: String(comments.length + 1), itemId: `${repo}#${number}`, text };
        comments.push(comment);
        return { status: 201, body: shownComment(comment) };
      }),
    ],
  );
  return {
    vendor,
    issues,
    leavesOut,
    limits,
    openTarget: (needs, given) => openGithub(githubSettings(given), needs),
    put: (isCompleted, labels = []) => `octo/shop#${add('Old', '', labels, isCompleted ? 'closed' : 'open').number}`,
    isCompleted: (itemId) => issueAt(numberOf(itemId))?.state === 'closed',
    count: () => issues.length,
    isWrite: ({ method, body }) => method === 'PATCH' && 'state' in JSON.parse(body),
    isCreation: ({ method, path }) => method === 'POST' && path.endsWith('/issues'),
    field(itemId, name) {
      const { title, body, labels, assignees } = issueAt(numberOf(itemId)) ?? {};
      const fields: Readonly<Record<string, unknown>> = { title, description: body, labels, assignee: assignees?.[0] };
      return fields[name];
    },
    comments,
    isComment: ({ method, path }) => method === 'POST' && path.endsWith('/comments'),
    isUpdate: ({ method, body }) => method === 'PATCH' && !('state' in JSON.parse(body)),
    touch(itemId, at) {
      const issue = issueAt(numberOf(itemId));
      if (issue) issue.updated_at = at.toISOString();
    },
    missing,
  };
}

export function shownComment({ id, itemId, text }: VendorComment) {
  const url = `https://api.github.com/repos/${itemId.replace('#', '/issues/')}`;
  return {
    id: Number(id),
    node_id: `C_${id}`,
    url: `${url}/comments/${id}`,
    html_url: `https://github.com/${itemId.replace('#', '/issues/')}`,
    issue_url: url,
    body: text,
    user: null,
    created_at: '2026-02-01T12:00:00Z',
    updated_at: '2026-02-01T12:00:00Z',
    author_association: 'MEMBER',
  };
}

function changedAt(issue: GithubIssue): number {
  return Date.parse(shown(issue).updated_at);
}

/** As the API shows an issue: with all members that it always has. */
function shown(issue: GithubIssue) {
  const { movedTo, assignees = [], ...rest } = issue;
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
    updated_at: issue.created_at ?? '2026-02-28T12:00:00Z',
    author_association: 'MEMBER',
    ...rest,
    assignees: assignees.map(user),
    number,
  };
}

function user(login: string) {
  const url = `https://api.github.com/users/${login}`;
  const links = ['avatar', 'events', 'followers', 'following', 'gists', 'organizations', 'received_events', 'repos'];
  return {
    ...Object.fromEntries([...links, 'starred', 'subscriptions', 'html'].map((name) => [`${name}_url`, url])),
    login,
    id: 7,
    node_id: 'U_7',
    gravatar_id: '',
    url,
    type: 'User',
    site_admin: false,
  };
}
