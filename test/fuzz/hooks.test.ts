/** Calls of vendors: a genuine body of any content reports whole items or is refused; a wrong signature reports nothing. */
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { expect } from 'vitest';
import type { HookRequest, HookVerdict, Target } from '../../src/contract/target.ts';
import { asanaHookReader } from '../../src/mirror/targets/asana/asana-hook.ts';
import { type KeptSecrets, sealed } from '../../src/mirror/targets/calls/kept-secrets.ts';
import { githubHook } from '../../src/mirror/targets/github/github-hook.ts';
import { hookReader } from '../../src/mirror/targets/items/item-hook.ts';
import { jiraHook } from '../../src/mirror/targets/jira/jira-issue.ts';
import { linearHook } from '../../src/mirror/targets/linear/linear-hook.ts';
import { todoistHook } from '../../src/mirror/targets/todoist/todoist-hook.ts';
import { asanaSettings } from '../support/asana-standin.ts';
import { HOOK_SECRET, needsOf, secretRef } from '../support/item-vendor.ts';
import { brokenBytes, expectMessage, fuzz, toBytes } from './fuzz.ts';

type Vendor = 'github' | 'jira' | 'todoist' | 'linear' | 'asana';

const AT = '2026-11-23T12:00:00Z';
const NOW = new Date(AT);
const hookSecret = secretRef(HOOK_SECRET);
const box = sealed(JSON.stringify({ id: '1', secret: HOOK_SECRET }), HOOK_SECRET, 'hook');
const kept: KeptSecrets = {
  read: async () => ({ sealed: box, expiresAt: undefined }),
  write: async () => {},
  forget: async () => {},
  alone: (work) => work(kept),
};
const needs = {
  ...needsOf({ url: 'http://127.0.0.1:9' }),
  readSecret: async () => HOOK_SECRET,
  kept,
};

const READERS: Readonly<Record<Vendor, NonNullable<Target['readHook']>>> = {
  github: hookReader(githubHook, { hookSecret }, needs),
  jira: hookReader(jiraHook('Done'), { hookSecret }, needs),
  todoist: hookReader(todoistHook, { hookSecret }, needs),
  linear: hookReader(linearHook, { hookSecret }, needs),
  asana: asanaHookReader(asanaSettings({ hookSecret }), needs),
};
const repository = { name: 'hello', owner: { login: 'octocat' } };
const BODIES: Readonly<Record<Vendor, object>> = {
  github: {
    ...{ action: 'transferred', issue: { number: 7, state: 'closed', updated_at: AT }, repository },
    changes: { new_issue: { number: 8, state: 'open' }, new_repository: repository },
  },
  jira: {
    ...{ timestamp: NOW.getTime(), webhookEvent: 'jira:issue_updated' },
    issue: { key: 'A-1', fields: { status: { name: 'Done', statusCategory: { key: 'done' } } } },
    changelog: { items: [{ field: 'Key', fromString: 'B-1' }] },
  },
  todoist: { event_name: 'item:completed', event_data: { id: '6X', checked: true }, triggered_at: AT },
  linear: {
    ...{ action: 'update', type: 'Issue', webhookTimestamp: NOW.getTime(), updatedFrom: { stateId: 'x' } },
    data: { identifier: 'LIN-1', previousIdentifiers: ['OLD-1'], state: { name: 'Done', type: 'completed' } },
  },
  asana: {
    events: [
      {
        action: 'changed',
        resource: { gid: '12', resource_type: 'task' },
        change: { field: 'completed' },
        created_at: AT,
      },
    ],
  },
};
const call = (vendor: Vendor) =>
  fc.tuple(
    fc.constant(vendor),
    brokenBytes(fc.constant(JSON.stringify(BODIES[vendor])), [
      ...['null', '"events":[null]', '1e400', '{}', '""', '"2026-13-45T99:00:00Z"', '-0', '1.5', '[]', '"completed"'],
    ]),
  );

fuzz('reads the calls of vendors, or refuses them with a reason', {
  corpus: (Object.keys(BODIES) as Vendor[]).flatMap((vendor) =>
    [JSON.stringify(BODIES[vendor]), withoutIds(vendor), '', 'null', '{"events":[]}', '\u00ff'].map(
      (body): [Vendor, string] => [vendor, body],
    ),
  ),
  inputs: fc.oneof(...(Object.keys(BODIES) as Vendor[]).map(call)),
  async check([vendor, text]) {
    const body = toBytes(text);
    const verdict = await READERS[vendor](signed(body, HOOK_SECRET), NOW);
    if (verdict.status === 'refused') expectMessage(verdict.reason);
    else expectItems(verdict, text, JSON.stringify(BODIES[vendor]));
    expect(await READERS[vendor](signed(body, 'another secret'), NOW)).toMatchObject({
      status: 'refused',
      httpStatus: 401,
    });
  },
});

/** No vendor sends it. An item without an id could not be found. */
function withoutIds(vendor: Vendor): string {
  return JSON.stringify(BODIES[vendor]).replace(/"(key|id|identifier|gid|login)":"[^"]+"/g, '"$1":""');
}

function signed(body: Buffer, secret: string): HookRequest {
  const digest = (encoding: 'hex' | 'base64') => createHmac('sha256', secret).update(body).digest(encoding);
  const names = {
    'x-hub-signature-256': 'sha256=',
    'x-hub-signature': 'sha256=',
    'linear-signature': '',
    'x-hook-signature': '',
  };
  const headers = Object.fromEntries(Object.entries(names).map(([name, prefix]) => [name, prefix + digest('hex')]));
  return { headers: { ...headers, 'x-github-event': 'issues', 'x-todoist-hmac-sha256': digest('base64') }, body };
}

function expectItems({ items }: Extract<HookVerdict, { status: 'accepted' }>, text: string, valid: string): void {
  if (text === valid) expect(items).toHaveLength(1);
  for (const { itemId, formerIds = [], status } of items) {
    for (const id of [itemId, ...formerIds]) expect(id).not.toBe('');
    expect(typeof status).toBe('string');
  }
}
