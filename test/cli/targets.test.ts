import { afterAll, beforeEach, expect, test } from 'vitest';
import { disableTarget } from '../../src/mirror/outbox/target-states.ts';
import { freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { startGithubPlaces } from '../support/admin-standins.ts';
import { startHttpServer } from '../support/http-server.ts';
import { HOOK_SECRET, TOKEN } from '../support/item-vendor.ts';
import { commandsWith } from './command.ts';

const MORE = 'allowPrivate: true, budget: { requests: 5000, per: 1s }';
const GITHUB = 'token: { env: TOKEN }, owner: octo, repo: shop, hookSecret: { env: HOOK_SECRET }';

const database = await freshLedger();
const receiver = await startHttpServer(({ method }) => ({ status: method === 'POST' ? 204 : 405 }));
const github = await startGithubPlaces({ permissions: { push: true } }, { 'x-oauth-scopes': 'repo' });
beforeEach(async () => {
  github.hooks.splice(0);
  await database.pool.query('truncate ledger.target_states');
});
afterAll(async () => {
  await github.close();
  await receiver.close();
  await database.close();
  expect(github.complaints).toEqual([]);
});

const SETTINGS = `
accounts: { other: { url: "http://127.0.0.1:9", apiKey: { env: TOKEN } } }
targets:
  issues: { type: github, url: "${github.url}", ${GITHUB}, ${MORE} }
  table: { type: postgres, url: { env: DATABASE_URL }, table: public.not_there }
  made: { type: postgres, url: { env: DATABASE_URL }, table: public.not_there, createTable: true }
  receiver: { type: webhook, url: "${receiver.url}", secret: { env: HOOK_SECRET }, ${MORE} }
  chat: { type: slack, url: { env: NO_SUCH_VARIABLE } }
  branch: { type: service, account: other }
`;
const lockstep = commandsWith(database, SETTINGS, { TOKEN, HOOK_SECRET });
const targets = (...args: readonly string[]) => lockstep('targets', ...args);

test('checks one target: a line for each finding, and 0 if there is no problem', async () => {
  const { code, stdout } = await targets('check', 'issues');
  expect([code, stdout.split('\n')]).toEqual([
    0,
    [
      'issues',
      '  ok  repository octo/shop: found, and its user may close issues',
      '  ok  issues: the token may read them',
      '  ok  permissions: the token has the scope repo',
      '',
    ],
  ]);
});

test('sends a signed test message that is about no task, and says if it was not accepted', async () => {
  const sent = await targets('test', 'receiver');
  expect([sent.code, sent.stdout]).toEqual([0, 'receiver: delivered\n']);
  const call = receiver.requests.at(-1);
  expect(JSON.parse(String(call?.body))).toEqual({ type: 'test', timestamp: expect.any(String), data: {} });
  expect(call?.headers['webhook-signature']).toMatch(/^v1,/);
  for (const [name, said] of [
    ['chat', 'chat: not delivered: The secret for targets.chat.url is missing'],
    ['issues', 'issues: not delivered: issues takes no test message: its messages are about tasks'],
  ] as const) {
    const { code, stdout } = await targets('test', name);
    expect([code, stdout]).toEqual([1, expect.stringContaining(said)]);
  }
});

test('checks all targets: one that cannot be used stops no other, and each problem has its remedy', async () => {
  await disableTarget(database.pool, 'issues', { reason: 'TOKEN_REFUSED', detail: 'it was revoked', now: undefined });
  const { code, json } = await targets('check', '--json');
  expect(code).toBe(1);
  const lines = Object.fromEntries(
    json.targets.map(({ target, findings }: { target: string; findings: readonly Record<string, string>[] }) => [
      target,
      findings.map(({ status, detail, remedy }) => `${status}: ${detail} → ${remedy}`).at(-1),
    ]),
  );
  expect(lines).toEqual({
    issues: expect.stringMatching(
      /^problem: disabled \(TOKEN_REFUSED\): it was revoked → .*lockstep deliveries enable issues/,
    ),
    table: expect.stringMatching(/^problem: it does not exist → set createTable: true, or run: create table/),
    made: expect.stringMatching(/^ok: it does not exist yet: the first delivery creates it/),
    receiver: expect.stringMatching(/^unknown: it answers \(HTTP 405 to HEAD\); a delivery shows/),
    chat: expect.stringMatching(/^problem: SECRET_MISSING: .*NO_SUCH_VARIABLE is not set/),
    branch: expect.stringMatching(/^problem: the service does not answer as expected → run .*doctor --account other/),
  });
});

test('sets up, lists and removes a webhook, and shows no secret', async () => {
  expect((await targets('hook', 'issues')).stdout).toMatch(
    /^No webhook calls this target\. To set one up: `lockstep targets hook issues/,
  );
  const base = ['hook', 'issues', '--url', 'https://lockstep.example'];
  expect((await targets(...base, '--dry-run')).stdout).toBe(
    'would be created: https://lockstep.example/hooks/issues\n',
  );
  expect((await targets(...base)).stdout).toBe('created: https://lockstep.example/hooks/issues\n');
  expect((await targets(...base, '--json')).json).toEqual({
    target: 'issues',
    dryRun: false,
    steps: [{ action: 'updated', url: 'https://lockstep.example/hooks/issues' }],
  });
  Object.assign(github.hooks[0] ?? {}, { lastCode: 401 });
  const listed = await targets('hook', 'issues');
  expect([listed.code, listed.stdout]).toEqual([
    1,
    expect.stringMatching(/its secret is not the hookSecret.*\nTo set it up again: /s),
  ]);
  expect((await targets(...base)).stdout).toBe('updated: https://lockstep.example/hooks/issues\n');
  expect((await targets('hook', 'issues', '--remove')).stdout).toBe('removed: https://lockstep.example/hooks/issues\n');
  expect(github.hooks).toEqual([]);
});

test('refuses addresses that no vendor reaches, and targets that take no calls', async () => {
  const cases: readonly (readonly [RegExp, ...string[]])[] = [
    [/there is no target "nothing"|no target/i, 'hook', 'nothing'],
    [/table accepts no calls: set poll/, 'hook', 'table'],
    [/receiver was set up by hand: remove it there/, 'hook', 'receiver', '--remove'],
    [/--renew needs --url/, 'hook', 'issues', '--renew'],
    [/expected a URL/, 'hook', 'issues', '--url', 'lockstep'],
  ];
  for (const [message, ...args] of cases) {
    const { code, stderr } = await targets(...args);
    expect([code, stderr]).toEqual([2, expect.stringMatching(message)]);
  }
  expect((await targets('hook', 'receiver')).stdout).toMatch(/Standard Webhooks/);
});
