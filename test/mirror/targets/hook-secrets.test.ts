/** The secrets of vendors' webhooks while they are replaced. */
import { createHmac } from 'node:crypto';
import { afterEach, expect, test } from 'vitest';
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

const [NEW, OLD] = ['the new secret of the hook', 'the old secret of the hook'];
const SECRETS = { hookSecret: secretRef(NEW), previousHookSecret: secretRef(OLD) };
const needs = needsOf({ url: 'http://127.0.0.1:9' });

let opened: Target | undefined;
afterEach(() => opened?.close());

function call(header: string, secret: string, { prefix = '', encoding = 'hex' as 'hex' | 'base64' } = {}): HookRequest {
  const body = Buffer.from(JSON.stringify({ webhookTimestamp: SEEN_AT.getTime() }));
  return { headers: { [header]: prefix + createHmac('sha256', secret).update(body).digest(encoding) }, body };
}

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

test.each<[string, () => Target, string, Parameters<typeof call>[2]]>([
  ['github', () => openGithub(githubSettings(SECRETS), needs), 'x-hub-signature-256', { prefix: 'sha256=' }],
  ['jira', () => openJira(jiraSettings(SECRETS), needs), 'x-hub-signature', { prefix: 'sha256=' }],
  ['linear', () => openLinear(linearSettings(SECRETS), needs), 'linear-signature', {}],
  ['todoist', () => openTodoist(todoistSettings(SECRETS), needs), 'x-todoist-hmac-sha256', { encoding: 'base64' }],
  ['asana', openAsanaHooked, 'x-hook-signature', {}],
])(
  '%s: a call with the previous secret is accepted, and one with another secret is not',
  async (name, open, header, how) => {
    opened = open();
    const read = (secret: string) => opened?.readHook?.(call(header, secret, how), SEEN_AT);
    expect(await read(OLD)).toMatchObject({ status: 'accepted' });
    expect(await read(NEW)).toMatchObject({ status: name === 'asana' ? 'refused' : 'accepted' });
    expect(await read('a third secret')).toMatchObject({ status: 'refused', httpStatus: 401 });
  },
);

test('jira: an automation rule may send the previous secret', async () => {
  opened = openJira(jiraSettings(SECRETS), needs);
  const request = { headers: { 'x-lockstep-secret': OLD }, body: Buffer.from('{}') };
  expect(await opened.readHook?.(request, SEEN_AT)).toMatchObject({ status: 'accepted' });
});
