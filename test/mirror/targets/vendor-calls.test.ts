/** Calls of vendors: which are genuine, also while their secret is replaced, and what they report. */
import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { z } from 'zod';
import type { HookRequest, Target } from '../../../src/contract/target.ts';
import { openAsana } from '../../../src/mirror/targets/asana/asana.ts';
import { type KeptSecrets, sealed } from '../../../src/mirror/targets/calls/kept-secrets.ts';
import { openGithub } from '../../../src/mirror/targets/github/github.ts';
import { openJira } from '../../../src/mirror/targets/jira/jira.ts';
import { openLinear } from '../../../src/mirror/targets/linear/linear.ts';
import { openTodoist } from '../../../src/mirror/targets/todoist/todoist.ts';
import { asanaSettings } from '../../support/asana-standin.ts';
import { githubSettings } from '../../support/github-standin.ts';
import { needsOf, SEEN_AT, secretRef } from '../../support/item-vendor.ts';
import { jiraSettings } from '../../support/jira-standin.ts';
import { linearSettings } from '../../support/linear-standin.ts';
import { todoistSettings } from '../../support/todoist-standin.ts';
import { vendorFile } from '../../support/vendor-contract.ts';

const [NEW, OLD] = ['the new secret of the hook', 'the old secret of the hook'];
const SECRETS = { hookSecret: secretRef(NEW), previousHookSecret: secretRef(OLD) };
const needs = needsOf({ url: 'http://127.0.0.1:9' });

type Vendor = 'GitHub' | 'Jira' | 'Linear' | 'Todoist' | 'Asana';

const OPEN: Readonly<Record<Vendor, () => Target>> = {
  GitHub: () => openGithub(githubSettings(SECRETS), needs),
  Jira: () => openJira(jiraSettings(SECRETS), needs),
  Linear: () => openLinear(linearSettings(SECRETS), needs),
  Todoist: () => openTodoist(todoistSettings(SECRETS), needs),
  Asana: openAsanaHooked,
};

const SIGNED: Readonly<Record<Vendor, { header: string; prefix?: string; encoding?: 'base64' }>> = {
  GitHub: { header: 'x-hub-signature-256', prefix: 'sha256=' },
  Jira: { header: 'x-hub-signature', prefix: 'sha256=' },
  Linear: { header: 'linear-signature' },
  Todoist: { header: 'x-todoist-hmac-sha256', encoding: 'base64' },
  Asana: { header: 'x-hook-signature' },
};

/** Asana's hook has a secret that Asana made; it is stored encrypted with the secret that the settings had then. */
function openAsanaHooked(): Target {
  const box = sealed(JSON.stringify({ id: '1', secret: OLD }), OLD, 'hook');
  const kept: KeptSecrets = {
    read: async () => ({ sealed: box, expiresAt: undefined }),
    write: async () => {},
    forget: async () => {},
    alone: (work) => work(kept),
  };
  return openAsana(asanaSettings(SECRETS), { ...needs, kept });
}

function call(vendor: Vendor, payload: object, { secret = NEW, headers = {} } = {}): HookRequest {
  const { header, prefix = '', encoding = 'hex' } = SIGNED[vendor];
  const body = Buffer.from(JSON.stringify(payload));
  const signature = prefix + createHmac('sha256', secret).update(body).digest(encoding);
  return { headers: { 'x-github-event': 'issues', [header]: signature, ...headers }, body };
}

/** `secret`: in the header for systems that cannot sign. */
function shared(payload: object, secret: string): HookRequest {
  return { headers: { 'x-lockstep-secret': secret }, body: Buffer.from(JSON.stringify(payload)) };
}

function read(target: Target, request: HookRequest, now: Date) {
  return Promise.resolve(target.readHook?.(request, now)).finally(() => target.close());
}

async function verdictOf(vendor: Vendor, request: HookRequest, now = SEEN_AT) {
  return read(OPEN[vendor](), request, now);
}

const CLOSED = {
  action: 'closed',
  issue: { number: 12, state: 'closed', updated_at: SEEN_AT.toISOString() },
  repository: { name: 'Shop', owner: { login: 'Octo' } },
};
const UPDATED = {
  timestamp: SEEN_AT.getTime(),
  webhookEvent: 'jira:issue_updated',
  issue: { key: 'ABC-12', fields: { status: { name: 'Done', statusCategory: { key: 'done' } } } },
  changelog: { items: [{ field: 'status', toString: 'Done' }] },
};
const MOVED_KEY = [
  { field: 'project', fromString: 'XY', toString: 'ABC' },
  { field: 'Key', fromString: 'XY-3', toString: 'ABC-12' },
];
const UPDATE = {
  action: 'update',
  type: 'Issue',
  data: { identifier: 'ENG-12', state: { name: 'Done', type: 'completed' } },
  updatedFrom: { stateId: 'state-Todo' },
  webhookTimestamp: SEEN_AT.getTime(),
};
const MOVED_TEAM = { data: { ...UPDATE.data, identifier: 'OPS-3', previousIdentifiers: ['ENG-12'] } };
const todoist = (event_name: string, data: object, triggered_at = SEEN_AT.toISOString()) => ({
  ...{ event_name, user_id: '2671355', version: '10', triggered_at },
  event_data: { id: '6X7rM8997g3RQmvh', ...data },
});

const DONE = { itemId: 'ABC-12', isCompleted: true, status: 'Done' };
const TASK = { itemId: '6X7rM8997g3RQmvh', isCompleted: true, status: 'completed' };

test.each<[Vendor, string, HookRequest, object]>([
  ['GitHub', 'closed', call('GitHub', CLOSED), { itemId: 'octo/shop#12', isCompleted: true, status: 'closed' }],
  ['Jira', 'whose status changed', call('Jira', UPDATED), DONE],
  ['Jira', 'that a rule reports with the shared secret', shared(UPDATED, NEW), DONE],
  [
    'Jira',
    'moved to another project',
    call('Jira', { ...UPDATED, changelog: { items: MOVED_KEY } }),
    { ...DONE, formerIds: ['XY-3'] },
  ],
  ['Linear', 'whose state changed', call('Linear', UPDATE), { itemId: 'ENG-12', isCompleted: true, status: 'Done' }],
  [
    'Linear',
    'moved to another team',
    call('Linear', { ...UPDATE, ...MOVED_TEAM, updatedFrom: { teamId: 'team-eng' } }),
    { itemId: 'OPS-3', isCompleted: true, status: 'Done', formerIds: ['ENG-12'] },
  ],
  ['Todoist', 'completed', call('Todoist', todoist('item:completed', { checked: true })), TASK],
  [
    'Todoist',
    'that recurs and was completed',
    call('Todoist', todoist('item:completed', { checked: false, due: { is_recurring: true } })),
    { ...TASK, isCompleted: false, status: 'open' },
  ],
  [
    'Todoist',
    'reopened',
    call('Todoist', todoist('item:uncompleted', {})),
    { ...TASK, isCompleted: false, status: 'open' },
  ],
])('%s: a genuine call reports the item %s', async (vendor, _, request, item) => {
  expect(await verdictOf(vendor, request)).toEqual({ status: 'accepted', items: [item] });
});

test('Jira: a rule that sends the issue alone reports its status, without a time', async () => {
  const request = shared({ ...UPDATED.issue, id: '10001' }, NEW);
  expect(await verdictOf('Jira', request)).toEqual({ status: 'accepted', items: [DONE], isUndated: true });
});

const EXAMPLES = z
  .object({ examples: z.record(z.string(), z.record(z.string(), z.unknown())) })
  .parse(JSON.parse(vendorFile('github-hooks.json'))).examples;

test.each([
  ['reopened', '2021-10-12T00:00:00Z', {}],
  ['transferred', '2019-10-26T00:00:00Z', { formerIds: ['octo-org/octo-repo#1'] }],
])('GitHub’s own example of an issue that was %s is read', async (action, now, more) => {
  const request = call('GitHub', EXAMPLES[action] ?? {});
  const item = { itemId: 'codertocat/hello-world#1', isCompleted: false, status: 'open', ...more };
  expect(await verdictOf('GitHub', request, new Date(now))).toEqual({ status: 'accepted', items: [item] });
});

test.each<[Vendor, string, HookRequest]>([
  ['GitHub', 'a ping', call('GitHub', { zen: 'Design for failure.' }, { headers: { 'x-github-event': 'ping' } })],
  ['GitHub', 'a label', call('GitHub', { ...CLOSED, action: 'labeled' })],
  ['GitHub', 'a comment', call('GitHub', CLOSED, { headers: { 'x-github-event': 'issue_comment' } })],
  ['Jira', 'another field', call('Jira', { ...UPDATED, changelog: { items: [{ field: 'summary' }] } })],
  ['Jira', 'a comment', call('Jira', { webhookEvent: 'comment_created' })],
  ['Linear', 'another field', call('Linear', { ...UPDATE, updatedFrom: { title: 'Old' } })],
  ['Linear', 'a new issue', call('Linear', { ...UPDATE, action: 'create' })],
  ['Linear', 'a comment', call('Linear', { ...UPDATE, type: 'Comment' })],
  ['Todoist', 'another change', call('Todoist', todoist('item:updated', { checked: true }))],
])('%s: a genuine call about %s reports nothing', async (vendor, _, request) => {
  expect(await verdictOf(vendor, request)).toEqual({ status: 'accepted', items: [] });
});

const LONG_AGO = SEEN_AT.getTime() - 301_000;

test.each<[Vendor, string, HookRequest]>([
  ['GitHub', 'no signature', { ...call('GitHub', CLOSED), headers: { 'x-github-event': 'issues' } }],
  ['Jira', 'no signature', { ...call('Jira', UPDATED), headers: {} }],
  ['Jira', 'another shared secret', shared(UPDATED, 'x')],
  [
    'Jira',
    'a shared secret beside a wrong signature',
    call('Jira', UPDATED, { secret: 'x', headers: { 'x-lockstep-secret': NEW } }),
  ],
  ['Linear', 'no signature', { ...call('Linear', UPDATE), headers: {} }],
  ['Linear', 'a time long ago', call('Linear', { ...UPDATE, webhookTimestamp: LONG_AGO })],
  ['Linear', 'no time', call('Linear', { ...UPDATE, webhookTimestamp: undefined })],
  ['Todoist', 'a time long ago', call('Todoist', todoist('item:completed', { checked: true }, '2026-02-20T00:00:00Z'))],
])('%s: a call with %s is refused', async (vendor, _, request) => {
  expect(await verdictOf(vendor, request)).toMatchObject({ status: 'refused', httpStatus: 401 });
});

test.each<Vendor>(['GitHub', 'Jira', 'Linear', 'Todoist', 'Asana'])(
  '%s: a call with the previous secret is accepted, and one with another secret is not',
  async (vendor) => {
    const withSecret = (secret: string) =>
      verdictOf(vendor, call(vendor, { webhookTimestamp: SEEN_AT.getTime() }, { secret }));
    expect(await withSecret(OLD)).toMatchObject({ status: 'accepted' });
    expect(await withSecret(NEW)).toMatchObject({ status: vendor === 'Asana' ? 'refused' : 'accepted' });
    expect(await withSecret('a third secret')).toMatchObject({ status: 'refused', httpStatus: 401 });
  },
);

test('Jira: a rule may send the previous secret', async () => {
  expect(await verdictOf('Jira', shared({}, OLD))).toMatchObject({ status: 'accepted' });
});

test('without a hookSecret no call is accepted', async () => {
  const target = openGithub(githubSettings({ hookSecret: undefined }), needs);
  const verdict = await read(target, call('GitHub', CLOSED), SEEN_AT);
  expect(verdict).toMatchObject({ status: 'refused', httpStatus: 401 });
});
