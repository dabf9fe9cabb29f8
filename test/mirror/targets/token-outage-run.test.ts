import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, test, vi } from 'vitest';
import { stringify } from 'yaml';
import { freshDatabase } from '../../support/database.ts';
import { ended } from '../../support/harness/ended.ts';
import { testWorkspace } from '../../support/harness/test-workspace.ts';
import { startHttpServer } from '../../support/http-server.ts';

test('while vendors issue no tokens to more targets than the ledger has connections, another target gets its changes', async () => {
  let answer = (): void => undefined;
  const answered = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const asked: string[] = [];
  const server = await startHttpServer(async ({ path: where }) => {
    if (where !== '/token') return { body: {} };
    asked.push(where);
    await answered;
    return { body: { access_token: 'canary-access-token', expires_in: 3600 } };
  });
  const database = await freshDatabase();
  const names = Array.from({ length: Number(database.connection.max) + 2 }, (_, n) => `crm-${n}`);
  const shared = { allowPrivate: true, timeout: '60s' };
  const send = { path: '/crm', body: '{ "id": "{{ task.id }}" }' };
  const oauthClient = { id: 'app', secret: 'canary-client-secret', tokenUrl: `${server.url}/token` };
  const crm = { type: 'http', url: server.url, ...shared, oauthClient, send };
  const hook = { type: 'webhook', url: `${server.url}/hook`, ...shared, secret: 'canary-secret-of-24-bytes' };
  const text = stringify(
    {
      accounts: { demo: { budget: { requests: 5000, per: '1s', burst: 500 } } },
      syncs: { mirror: { type: 'tasks', account: 'demo', targets: ['hook', ...names], options: { backfill: true } } },
      targets: { hook, ...Object.fromEntries(names.map((name) => [name, crm])) },
    },
    { aliasDuplicateObjects: false },
  );
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-token-outage-'));
  const workspace = await testWorkspace({ text, dataDir, env: {}, database });

  const { client } = await workspace.accounts.open('demo');
  await client.call('tasks.create', { lane: 'interactive', body: { taskName: 'a' } });
  await workspace.deliver(['hook', ...names]);
  const begun = await workspace.startSync('mirror', { lane: 'batch', dryRun: false });
  const runner = await workspace.work();
  const attending = runner.attend(begun.run);
  const seen = () => server.requests.map((request) => request.path);
  await vi.waitUntil(() => asked.length === names.length && seen().includes('/hook'), { timeout: 20_000 });
  answer();
  await attending;
  await ended(database, begun.run.id);
  expect(seen().filter((where) => where === '/crm')).toHaveLength(names.length);

  await workspace.close();
  await Promise.all([database.close(), server.close()]);
  await rm(dataDir, { recursive: true, force: true });
});
