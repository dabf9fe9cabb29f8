/** A target's secrets appear nowhere else, even where its server echoes them all. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { everythingIn } from '../support/everything-in.ts';
import { startHttpServer, type TestServer } from '../support/http-server.ts';
import { lockstep } from './cli-process.ts';
import { type E2eWorkspace, openWorkspace } from './workspace.ts';

const SECRET = 'canary-of-the-signing-secret-0123456789';
const TOKEN = 'canary-of-the-token-0123456789';
const PLACE = 'canary-of-the-address';
const CHANNEL = 'canary-of-the-channel';

let workspace: E2eWorkspace;
let server: TestServer;
beforeAll(async () => {
  workspace = await openWorkspace({ contacts: 100 });
  server = await startHttpServer(({ path: at, headers }) => ({
    status: 422,
    body: JSON.stringify({ message: `${secretAt(at)} at ${at}: ${JSON.stringify(headers)}` }),
  }));
  await writeFile(
    path.join(workspace.cwd, 'lockstep.yaml'),
    `
accounts:
  acme: { url: "${workspace.url}", apiKey: { env: E2E_KEY }, budget: { requests: 1000, per: 1s, settle: 1s, timeout: 2s } }
syncs:
  mirror: { job: tasks, account: acme, targets: [hook, issues, crm, channel], options: { backfill: true } }
targets:
  hook: { type: webhook, url: "${server.url}/${PLACE}?key=${PLACE}", secret: { env: HOOK_SECRET }, allowPrivate: true }
  issues: { type: github, url: "${server.url}", token: { env: ISSUES_TOKEN }, owner: octocat, repo: hello-world, create: true,
    allowPrivate: true, budget: { requests: 1000, per: 1s, concurrency: 4 } }
  crm: { type: http, url: "${server.url}", headers: { X-Api-Key: { scheme: Key, env: ISSUES_TOKEN } }, send: { path: /crm },
    allowPrivate: true, budget: { requests: 1000, per: 1s, concurrency: 4 } }
  channel: { type: slack, url: { env: CHANNEL_URL }, digest: true, allowPrivate: true }
`,
  );
}, 60_000);
afterAll(async () => {
  await server.close();
  await workspace.close();
});

/** What the server of this address knows. */
function secretAt(at: string): string {
  if (at.startsWith('/channel')) return CHANNEL;
  return at.includes(PLACE) ? SECRET : TOKEN;
}

test('secrets, tokens and the paths of webhooks are in no ledger, no log and no output', async () => {
  const CHANNEL_URL = `${server.url}/channel/${CHANNEL}`;
  const env = { ...workspace.env, HOOK_SECRET: SECRET, ISSUES_TOKEN: TOKEN, CHANNEL_URL };
  const run = (...args: readonly string[]) =>
    lockstep([...args, '--config', 'lockstep.yaml', '--verbose'], { ...workspace, env });
  const { code, stdout, stderr } = await run('run', 'mirror');
  expect(code).toBe(1);
  expect(server.requests.length).toBeGreaterThan(5);
  const answered = ['/issues', `/${PLACE}`, '/crm', `/channel/${CHANNEL}`];
  expect(answered.filter((at) => !server.requests.some((request) => request.path.endsWith(at)))).toEqual([]);
  const listed = await run('deliveries', '--verdict', 'dead');
  const [id = ''] = /msg_\S+/.exec(listed.stdout) ?? [];
  const shown = await run('deliveries', 'show', id);
  expect(shown.stdout).toContain('422'); // its answer is kept
  const printed = await run('settings', 'print');
  const seen = [stdout, stderr, listed, shown, printed].map((text) => JSON.stringify(text)).join('\n');
  const kept = await everythingIn(workspace.database.pool);
  for (const canary of [SECRET, TOKEN, PLACE, CHANNEL])
    expect([seen.includes(canary), kept.includes(canary)]).toEqual([false, false]);
});
