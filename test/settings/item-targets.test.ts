import { expect, test } from 'vitest';
import { maskSettings } from '../../src/settings/mask.ts';
import { targetNamed } from '../../src/settings/settings.ts';
import { problemsIn, settingsOf } from './problems-in.ts';

const JIRA = 'type: jira, url: https://acme.atlassian.net/, email: bot@example.com';
const textWith = (keys: string) => `accounts: { demo: {} }\ntargets:\n  out: { token: { env: T }, ${keys} }`;
const targetWith = (keys: string) => targetNamed(settingsOf(textWith(keys)), 'out');
const problemsWith = (keys: string) =>
  problemsIn(textWith(keys)).map((line) => line.replace(/^\S+ targets\.out\.?/, ''));

test.each([
  ['type: github', 'https://api.github.com', { requests: 1, perMs: 1000, burst: 1, concurrency: 1 }],
  [JIRA, 'https://acme.atlassian.net', { requests: 5, perMs: 1000, burst: 5, concurrency: 4 }],
  ['type: asana', 'https://app.asana.com/api/1.0', { requests: 2, perMs: 1000, burst: 2, concurrency: 4 }],
  ['type: linear', 'https://api.linear.app', { requests: 40, perMs: 60_000, burst: 1, concurrency: 4 }],
  ['type: todoist', 'https://api.todoist.com', { requests: 60, perMs: 60_000, burst: 1, concurrency: 4 }],
])('{ %s } is at %s, creates nothing, and has the pace that its vendor allows', (keys, url, budget) => {
  expect(targetWith(keys)).toMatchObject({
    url,
    budget,
    create: false,
    columns: {},
    token: { from: 'env', name: 'T', where: 'targets.out.token' },
  });
});

test.each([
  ['type: github, create: true, owner: octo', 'repo: missing: create: true needs the repo'],
  [`${JIRA}, create: true`, 'project: missing: create: true needs the project'],
  ['type: asana, create: true', 'project: missing: create: true needs the project'],
  ['type: linear, create: true', 'team: missing: create: true needs the team'],
  ['type: github, createTasks: true', 'repo: missing: createTasks needs the repo'],
  ['type: github, repo: shop', 'owner: missing: a repo needs its owner'],
  ['type: github, owner: octo, repo: ..', 'repo: expected the name of a repository, without its owner'],
  ['type: github, owner: octo/shop', 'owner: expected the name of a user or an organization, such as octocat'],
  ['type: github, url: "https://h.example/?x=1"', 'url: expected a base address without ? and #'],
  ['type: github, fields: { title: "{{ titel }}" }', 'fields.title: unknown variable "titel"'],
  ['type: todoist, comment: "{{ task.name }}"', 'comment: unknown variable "task.name"'],
  ['type: github, fields: { dueDate: "{{ task.endDate }}" }', 'fields.dueDate: unknown'],
  [`${JIRA}, onChange: [title, dueDate]`, 'onChange[1]: missing: a template under fields.dueDate'],
  ['type: asana, fields: { assignee: ann@example.com }', 'people: missing: fields.assignee needs people'],
  ['type: asana, onChange: [status]', 'onChange[0]: expected title, description, dueDate'],
  ['type: linear, onChange: title', 'onChange: expected comment, or a list of title'],
  ['type: todoist, project: x, createTasks: { labels: [a], filter: b }', 'createTasks.filter: unknown key'],
  ['type: asana, fields: { custom: { Size: S } }', 'project: missing: fields.custom needs the project'],
  ['type: asana, fields: { labels: [crm] }', 'project: missing: fields.labels needs the project'],
  [`${JIRA}, project: ABC, fields: { custom: { Size: "{{ size }}" } }`, 'fields.custom.Size: unknown variable "size"'],
  ['type: github, fields: { custom: { Size: S } }', 'fields.custom: unknown'],
  ['type: todoist, columns: { Done: finished }', 'columns.Done: expected completed or open, got "finished"'],
])('{ %s } is a problem', (keys, problem) => {
  expect(problemsWith(keys)).toEqual([expect.stringContaining(problem)]);
});

test('a Todoist target needs no project to create tasks, they go to the inbox', () => {
  expect(targetWith('type: todoist, create: true')).toMatchObject({ create: true });
});

test('columns may name statuses where the vendor has them', () => {
  expect(targetWith(`${JIRA}, columns: { Shipping: Released }`)).toMatchObject({ columns: { Shipping: 'Released' } });
});

test('a token that is written down is masked, and so is the secret of the webhook', () => {
  const written = settingsOf(
    'accounts: { demo: {} }\ntargets: { out: { type: github, token: canary-1, hookSecret: canary-2 } }',
  );
  expect(JSON.stringify(maskSettings(written))).not.toContain('canary');
});

const bare = (keys: string) => `accounts: { demo: {} }\ntargets:\n  out: { ${keys} }`;
const APP = 'app: { id: 7, privateKey: canary-key }';
const CLIENT = 'oauthClient: { id: me, secret: canary-secret, refreshToken: canary-refresh }';

test('credentials of an app and of a client take the place of a token, each secret with its setting, and are masked', () => {
  const github = settingsOf(bare(`type: github, owner: octo, repo: shop, ${APP}`));
  expect(targetNamed(github, 'out')).toMatchObject({
    app: { id: '7', privateKey: { from: 'literal', where: 'targets.out.app.privateKey' } },
  });
  const jira = settingsOf(bare(`type: jira, url: https://api.atlassian.com/ex/jira/1, ${CLIENT}`));
  expect(targetNamed(jira, 'out')).toMatchObject({
    oauthClient: {
      secret: { where: 'targets.out.oauthClient.secret' },
      refreshToken: { where: 'targets.out.oauthClient.refreshToken' },
      tokenUrl: 'https://auth.atlassian.com/oauth/token',
    },
  });
  expect(JSON.stringify([maskSettings(github), maskSettings(jira)])).not.toContain('canary');
});

test.each([
  [`type: github, token: t, ${APP}`, 'expected exactly one of token, app'],
  ['type: github', 'expected exactly one of token, app'],
  [`type: github, ${APP}`, 'app.installation: missing: without a repo, an app needs the id of its installation'],
  [`type: linear, token: t, ${CLIENT}`, 'expected exactly one of token, oauthClient'],
  ['type: jira, url: https://a.example, token: t', 'email: expected an email with a token'],
  [`type: jira, url: https://a.example, email: a@b.example, ${CLIENT}`, 'email: expected an email with a token'],
])('the credentials { %s } are a problem', (keys, problem) => {
  expect(problemsIn(bare(keys)).join('\n')).toContain(problem);
});

test.each([
  ['', 1],
  ['syncs: { m: { job: tasks, account: demo, targets: [out] } }', 1],
  ['syncs: { m: { job: tasks, account: demo, targets: [out], options: { poll: [out] } } }', 0],
])('createTasks is warned of unless a sync polls the target: %s', (syncs, times) => {
  const text = `${textWith('type: github, owner: octo, repo: shop, createTasks: true')}\n${syncs}`;
  const { warnings } = settingsOf(text);
  const about = warnings.filter((line) => /out\.createTasks: no sync polls this target.*poll: \[out\]/.test(line));
  expect(about).toHaveLength(times);
});
