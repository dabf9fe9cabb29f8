/** `lockstep start` as several processes that share the roles. */
import { expect, onTestFinished, test } from 'vitest';
import { listRuns } from '../support/newest-runs.ts';
import { openCommandHarness } from './commands.ts';

test('the scheduler alone, or a worker once the scheduler is gone, begins a sync that is due, and the sync completes', async () => {
  const harness = await openCommandHarness({ syncs: { contacts: 'job: contacts, schedule: { every: 1s }' } });
  onTestFinished(() => harness.close());
  const { pool } = harness.database;
  const start = (role: string) => harness.start('start', '--roles', role);
  const statuses = async () => (await listRuns(pool, 100)).map(({ run }) => run.status);

  const scheduler = start('scheduler');
  await expect.poll(statuses).toEqual(['running']);
  scheduler.signal('SIGTERM');
  expect((await scheduler.ended).code).toBe(0);
  const worker = start('worker');
  await expect.poll(async () => (await statuses()).filter((status) => status === 'done').length).toBeGreaterThan(1);
  worker.signal('SIGTERM');
  expect((await worker.ended).code).toBe(0);
});

test('the role console accepts calls at the address in the settings, and needs no other role', async () => {
  const harness = await openCommandHarness({
    targets: { hook: 'type: webhook, url: "https://hook.invalid/", secret: { env: SIGNING }' },
    env: { SIGNING: 'x'.repeat(32) },
  });
  onTestFinished(() => harness.close());
  const web = harness.start('start', '--roles', 'console');
  const { roles, consoleUrl } = await web.ready();
  expect(roles).toEqual(['console']);
  expect((await fetch(`${consoleUrl}/health`)).status).toBe(200);
  expect((await fetch(`${consoleUrl}/hooks/hook`, { method: 'POST', body: '{}' })).status).toBe(401);
  web.signal('SIGTERM');
  expect((await web.ended).code).toBe(0);
});
