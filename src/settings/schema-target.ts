/** The settings of one target, by its type. */
import { z } from 'zod';
import { choice, flag, name, nonEmpty, secret, unlessKeysAreUnknown, webhookUrl } from './fields.ts';
import { count } from './rate.ts';
import { slack, teams } from './target-chat.ts';
import { githubApp, oauthClient, tokenOr } from './target-credentials.ts';
import { filterKeys, headers } from './target-events.ts';
import { http } from './target-http.ts';
import { fieldsFit, itemKeys } from './target-items.ts';
import {
  apiUrl,
  columns,
  createFlag,
  hookKeys,
  httpKeys,
  namedColumns,
  neededFor,
  neededForFields,
  type TargetOf,
  vendorUrl,
} from './target-keys.ts';
import { postgres } from './target-postgres.ts';
import { template } from './template.ts';

const EVERY_FIELD = {
  title: true,
  description: true,
  dueDate: true,
  labels: true,
  assignee: true,
  priority: true,
} as const;

/** For vendors whose projects have fields of their own. */
const AND_CUSTOM = { ...EVERY_FIELD, custom: true } as const;

const webhook = z.strictObject({
  type: z.literal('webhook').describe('Signed HTTP calls as Standard Webhooks describes them.'),
  url: webhookUrl.describe('URL that deliveries are sent to.'),
  secret: secret.describe('Signing secret, at least 24 bytes; whsec_ and base64, or any text.'),
  previousSecret: secret
    .optional()
    .describe('The previous secret: during a rotation, deliveries are signed with both.'),
  format: choice(['standard', 'cloudevents', 'cloudevents-binary'], 'standard').describe(
    'Form of the calls: standard (Standard Webhooks), or CloudEvents 1.0: cloudevents has its attributes in the body, cloudevents-binary in headers. Default: standard.',
  ),
  body: template('json')
    .optional()
    .describe('Template of the body, of a CloudEvent the data; it must yield JSON. Default: the whole task.'),
  headers,
  ...filterKeys,
  ...httpKeys({ requests: 50, perMs: 1000, concurrency: 8 }),
});

const github = z
  .strictObject({
    type: z.literal('github').describe('Issues of GitHub.'),
    url: apiUrl('https://api.github.com', '; for your own server: https://HOST/api/v3'),
    site: vendorUrl
      .optional()
      .describe('Address at which people open issues, if url is a proxy. Default: the host that belongs to url.'),
    token: secret.optional().describe('Token with read and write access to the issues.'),
    app: githubApp,
    owner: z
      .string()
      .regex(/^[A-Za-z\d][\w-]{0,99}$/, 'expected the name of a user or an organization, such as octocat')
      .optional()
      .describe("Owner of the repositories. If set, texts link only to issues of this owner's repositories."),
    repo: z
      .string()
      .regex(/^(?!\.{1,2}$)[\w.-]{1,100}$/, 'expected the name of a repository, without its owner')
      .optional()
      .describe('Repository that #12 in a text means, and where issues are created.'),
    create: createFlag,
    labels: z.array(nonEmpty.max(50)).max(20).prefault([]).describe('Labels of the issues it creates.'),
    columns,
    ...hookKeys,
    ...itemKeys({ title: true, description: true, labels: true, assignee: true }),
    // GitHub asks for one write at a time and at least a second between two. For simplicity, reads wait too.
    ...httpKeys({ requests: 1, perMs: 1000, concurrency: 1 }),
  })
  .refine(({ owner, repo }) => repo === undefined || owner !== undefined, {
    error: 'missing: a repo needs its owner',
    path: ['owner'],
    when: unlessKeysAreUnknown,
  })
  .refine(({ app, repo }) => app === undefined || app.installation !== undefined || repo !== undefined, {
    error: 'missing: without a repo, an app needs the id of its installation',
    path: ['app', 'installation'],
    when: unlessKeysAreUnknown,
  })
  .check(neededFor('create', 'repo'), neededFor('createTasks', 'repo'), fieldsFit, tokenOr('app'));

const jira = z
  .strictObject({
    type: z.literal('jira').describe('Issues of Jira Cloud.'),
    url: vendorUrl.describe(
      'Address of the site, such as https://example.atlassian.net; for a scoped token: https://api.atlassian.com/ex/jira/CLOUD_ID.',
    ),
    site: vendorUrl
      .optional()
      .describe('Address at which people open issues, if it differs from url. Default: the host of url.'),
    email: z.email().optional().describe('Account that the token belongs to; needed with a token.'),
    token: secret.optional().describe('API token of that account, from id.atlassian.com.'),
    oauthClient: oauthClient('https://auth.atlassian.com/oauth/token'),
    project: z
      .string()
      .regex(/^[A-Z][A-Z\d_]{1,29}$/, 'expected the key of a project in capitals, such as ABC')
      .optional()
      .describe('Key of the project: ABC-12 in a text is one of its issues, and issues are created in it.'),
    doneStatus: nonEmpty
      .optional()
      .describe('Status for the issue of a completed task. Default: Done, Closed or Resolved.'),
    doneFields: z
      .record(z.string().min(1), z.unknown())
      .prefault({})
      .describe(
        'Fields to set in the transition of a completed task if its screen has them, such as { resolution: { name: Done } }. Default: none.',
      ),
    openStatus: nonEmpty
      .optional()
      .describe(
        'Status for the issue of a reopened task. Default: a status of the category To Do, otherwise of In Progress.',
      ),
    create: createFlag,
    issueType: nonEmpty.prefault('Task').describe('Type of the issues it creates. Default: Task.'),
    columns: namedColumns,
    ...hookKeys,
    ...itemKeys(AND_CUSTOM),
    ...httpKeys({ requests: 5, perMs: 1000, concurrency: 4 }),
  })
  .refine(({ token, email }) => (token === undefined) === (email === undefined), {
    error: 'expected an email with a token, and none with an oauthClient',
    path: ['email'],
    when: unlessKeysAreUnknown,
  })
  .check(
    neededFor('create', 'project'),
    neededFor('createTasks', 'project'),
    neededForFields(['custom']),
    fieldsFit,
    tokenOr('oauthClient', ' (with email)'),
  );

const asana = z
  .strictObject({
    type: z.literal('asana').describe('Tasks of Asana.'),
    url: apiUrl('https://app.asana.com/api/1.0'),
    token: secret.describe('Personal access token, or the token of a service account.'),
    project: z
      .string()
      .regex(/^\d{1,30}$/, 'expected the id of a project: the digits in its address')
      .optional()
      .describe('Id of the project where tasks are created.'),
    create: createFlag,
    columns,
    ...hookKeys,
    hookSecret: secret
      .optional()
      .describe(
        'Any text of at least 24 bytes; the secret that Asana makes for its webhook is stored encrypted with it. Without it no call is accepted.',
      ),
    ...itemKeys({ title: true, description: true, dueDate: true, labels: true, assignee: true, custom: true }),
    // Asana's smallest allowance is 150 calls a minute for each token, and 15 writes at once.
    ...httpKeys({ requests: 2, perMs: 1000, concurrency: 4 }),
  })
  .check(
    neededFor('create', 'project'),
    neededFor('createTasks', 'project'),
    neededForFields(['labels', 'custom']),
    fieldsFit,
  );

const linear = z
  .strictObject({
    type: z.literal('linear').describe('Issues of Linear.'),
    url: apiUrl('https://api.linear.app', ', without /graphql'),
    token: secret.optional().describe('Personal API key, or OAuth token, with the permissions read and write.'),
    oauthClient: oauthClient('https://api.linear.app/oauth/token'),
    oauth: flag.describe('The token is an OAuth token. Default: false, a personal API key.'),
    team: z
      .string()
      .regex(/^[A-Z][A-Z\d]{0,9}$/, 'expected the key of a team in capitals, such as ENG')
      .optional()
      .describe('Key of the team for created issues: the letters before the number of its issues.'),
    create: createFlag,
    columns: namedColumns,
    ...hookKeys,
    ...itemKeys(EVERY_FIELD),
    // Linear allows 2500 calls an hour for each user of an API key.
    ...httpKeys({ requests: 40, perMs: 60_000, concurrency: 4 }),
  })
  .check(neededFor('create', 'team'), neededFor('createTasks', 'team'), fieldsFit, tokenOr('oauthClient'));

const todoist = z
  .strictObject({
    type: z.literal('todoist').describe('Tasks of Todoist.'),
    url: apiUrl('https://api.todoist.com', ', without /api/v1'),
    token: secret.describe('API token, from the settings of the account under Integrations, Developer.'),
    project: z
      .string()
      .regex(/^[\dA-Za-z]{1,40}$/, 'expected the id of a project: the letters and digits that end its address')
      .optional()
      .describe('Id of the project where tasks are created. Default: the inbox.'),
    create: createFlag,
    columns,
    ...hookKeys,
    ...itemKeys(EVERY_FIELD),
    // Todoist allows 1000 calls in 15 minutes for each user.
    ...httpKeys({ requests: 60, perMs: 60_000, concurrency: 4 }),
  })
  .check(neededFor('createTasks', 'project'), fieldsFit);

const service = z.strictObject({
  type: z.literal('service').describe('Tasks of another account.'),
  account: name.describe(
    'Name of the account that receives the tasks; it must not be the account of a sync that delivers here.',
  ),
  create: createFlag,
  columns,
  concurrency: count
    .max(1000)
    .prefault(100)
    .describe(
      "Maximum deliveries in flight per process; the account's budget limits the rate of their calls. Default: 100.",
    ),
});

export const target = z.discriminatedUnion('type', [
  webhook,
  github,
  jira,
  asana,
  linear,
  todoist,
  http,
  slack,
  teams,
  postgres,
  service,
]);

export type TargetSettings = TargetOf<typeof target>;

export type SettingsOf<Type extends TargetSettings['type']> = Extract<TargetSettings, { type: Type }>;

/** Types that only receive events: their targets have a filter and no items, and can receive a test message. */
export const EVENT_TYPES = ['webhook', 'slack', 'teams'] as const;
export type EventType = (typeof EVENT_TYPES)[number];

export function isEventTarget(target: TargetSettings): target is SettingsOf<EventType> {
  return EVENT_TYPES.some((type) => type === target.type);
}

/** What a target has of a task: its state, the events that changed it, or each of its versions. */
export function holds(target: TargetSettings): 'state' | 'events' | 'versions' {
  if (target.type === 'http') return target.items === undefined ? 'events' : 'state';
  if (target.type === 'postgres') return target.history ? 'versions' : 'state';
  return isEventTarget(target) ? 'events' : 'state';
}
