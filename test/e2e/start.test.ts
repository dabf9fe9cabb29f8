/** `lockstep start` as several processes that share the roles. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listRuns } from '../../src/engine/ledger/run-list.ts';
import { databaseUrl } from '../cli/command.ts';
import { openSyncHarness, TEST_KEY } from '../support/sync-harness.ts';
import { type Running, startLockstep } from './cli-process.ts';

test('the scheduler alone, or a worker once the scheduler is gone, begins a sync that is due, and the sync completes', async () => {
  const harness = await openSyncHarness({ schedule: '{ every: 1s }' });
  onTestFinished(() => harness.close());
  await writeFile(path.join(harness.dataDir, 'lockstep.yaml'), harness.settingsText);
  const { pool, connection } = harness.database;
  const around = { cwd: harness.dataDir, env: { DATABASE_URL: databaseUrl(connection), TEST_KEY } };
  const start = (role: string): Running =>
    startLockstep(['start', '--roles', role, '--config', 'lockstep.yaml', '--json'], around);
  const statuses = async () => (await listRuns(pool, 100)).map(({ run }) => run.status);

  const scheduler = start('scheduler');
  await expect.poll(statuses, { timeout: 20_000 }).toEqual(['running']);
  scheduler.signal('SIGTERM');
  expect((await scheduler.ended).code).toBe(0);
  const worker = start('worker');
  await expect
    .poll(async () => (await statuses()).filter((status) => status === 'done').length, { timeout: 20_000 })
    .toBeGreaterThan(1);
  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});

test('the role console accepts calls at the address in the settings, and needs no other role', async () => {
  const harness = await openSyncHarness();
  onTestFinished(() => harness.close());
  const target = 'hook: { type: webhook, url: "https://hook.invalid/", secret: { env: SIGNING } }';
  const text = `${harness.settingsText}console: { listen: "127.0.0.1:0" }\ntargets: { ${target} }\n`;
  await writeFile(path.join(harness.dataDir, 'lockstep.yaml'), text);
  const env = { DATABASE_URL: databaseUrl(harness.database.connection), TEST_KEY, SIGNING: 'x'.repeat(32) };
  const web = startLockstep(['start', '--roles', 'console', '--config', 'lockstep.yaml', '--json'], {
    cwd: harness.dataDir,
    env,
  });
  const { roles, consoleUrl } = await web.ready();
  expect(roles).toEqual(['console']);
  expect((await fetch(`${consoleUrl}/health`)).status).toBe(200);
  expect((await fetch(`${consoleUrl}/hooks/hook`, { method: 'POST', body: '{}' })).status).toBe(401);
  web.signal('SIGTERM');
  expect((await web.ended).code).toBe(0);
});
