/** `lockstep start` as several processes that share the roles. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { listRuns } from '../../src/engine/ledger/runs.ts';
import { databaseUrl } from '../cli/command.ts';
import { openSyncBed, TEST_KEY } from '../support/sync-bed.ts';
import { type Running, startLockstep } from './cli-process.ts';

test('a sync that is due is begun by the scheduler alone, or by a worker once the scheduler is gone, and carried to its end', async () => {
  const bed = await openSyncBed({ schedule: '{ every: 1s }' });
  onTestFinished(() => bed.close());
  await writeFile(path.join(bed.dataDir, 'lockstep.yaml'), bed.settingsText);
  const { pool, connection } = bed.database;
  const around = { cwd: bed.dataDir, env: { DATABASE_URL: databaseUrl(connection), TEST_KEY } };
  const start = (role: string): Running =>
    startLockstep(['start', '--roles', role, '--config', 'lockstep.yaml', '--json'], around);
  const statuses = async () => (await listRuns(pool, 100)).map(({ status }) => status);

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

test('the role console takes calls where the settings say, and needs no other role', async () => {
  const bed = await openSyncBed();
  onTestFinished(() => bed.close());
  const target = 'hook: { type: webhook, url: "https://hook.invalid/", secret: { env: SIGNING } }';
  const text = `${bed.settingsText}console: { listen: "127.0.0.1:0" }\ntargets: { ${target} }\n`;
  await writeFile(path.join(bed.dataDir, 'lockstep.yaml'), text);
  const env = { DATABASE_URL: databaseUrl(bed.database.connection), TEST_KEY, SIGNING: 'x'.repeat(32) };
  const web = startLockstep(['start', '--roles', 'console', '--config', 'lockstep.yaml', '--json'], {
    cwd: bed.dataDir,
    env,
  });
  const { roles, consoleUrl } = await web.ready();
  expect(roles).toEqual(['console']);
  expect((await fetch(`${consoleUrl}/health`)).status).toBe(200);
  expect((await fetch(`${consoleUrl}/hooks/hook`, { method: 'POST', body: '{}' })).status).toBe(401);
  web.signal('SIGTERM');
  expect((await web.ended).code).toBe(0);
});
