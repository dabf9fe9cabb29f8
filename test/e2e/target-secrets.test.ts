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

let workspace: E2eWorkspace;
let server: TestServer;
beforeAll(async () => {
  workspace = await openWorkspace({ contacts: 100 });
  server = await startHttpServer(({ path: at, headers }) => ({
    status: 422,
    body: JSON.stringify({ message: `${at.includes(PLACE) ? SECRET : TOKEN} at ${at}: ${JSON.stringify(headers)}` }),
  }));
  await writeFile(
    path.join(workspace.cwd, 'lockstep.yaml'),
    `
accounts:
  acme: { url: "${workspace.url}", apiKey: { env: E2E_KEY }, budget: { requests: 1000, per: 1s, settle: 1s, timeout: 2s } }
syncs:
  mirror: { job: tasks, account: acme, targets: [hook, issues], options: { backfill: true } }
targets:
  hook: { type: webhook, url: "${server.url}/${PLACE}?key=${PLACE}", secret: { env: HOOK_SECRET }, allowPrivate: true }
  issues: { type: github, url: "${server.url}", token: { env: ISSUES_TOKEN }, owner: octocat, repo: hello-world, create: true,
    allowPrivate: true, budget: { requests: 1000, per: 1s, concurrency: 4 } }
`,
  );
}, 60_000);
afterAll(async () => {
  await server.close();
  await workspace.close();
});

test('secrets, tokens and the path of a webhook are in no ledger, no log and no output', async () => {
  const env = { ...workspace.env, HOOK_SECRET: SECRET, ISSUES_TOKEN: TOKEN };
  const run = (...args: readonly string[]) =>
    lockstep([...args, '--config', 'lockstep.yaml', '--verbose'], { ...workspace, env });
  const { code, stdout, stderr } = await run('run', 'mirror');
  expect(code).toBe(1);
  expect(server.requests.length).toBeGreaterThan(5);
  const listed = await run('deliveries', '--verdict', 'dead');
  const [id = ''] = /msg_\S+/.exec(listed.stdout) ?? [];
  const shown = await run('deliveries', 'show', id);
  expect(shown.stdout).toContain('422'); // its answer is kept
  const printed = await run('settings', 'print');
  const seen = [stdout, stderr, listed, shown, printed].map((text) => JSON.stringify(text)).join('\n');
  const kept = await everythingIn(workspace.database.pool);
  for (const canary of [SECRET, TOKEN, PLACE])
    expect([seen.includes(canary), kept.includes(canary)]).toEqual([false, false]);
});
