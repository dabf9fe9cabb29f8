/** Two versions of Lockstep at once: the later one is a copy of the built package with one more migration. */
import { cp, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { listRuns } from '../support/newest-runs.ts';
import { startLockstep } from './cli-process.ts';
import { openCommandHarness } from './commands.ts';

const [ORDERS, CREATED_BY_EARLIER] = [60, 20];
const ROOT = path.join(import.meta.dirname, '../..');
const LATER =
  "alter table ledger.runs add column later text; comment on column ledger.runs.later is 'of a later version'";

async function laterVersion(): Promise<string> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-later-'));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  for (const part of ['package.json', 'dist', 'src/cli/bin', 'config'])
    await cp(path.join(ROOT, part), path.join(dir, part), { recursive: true });
  await symlink(path.join(ROOT, 'node_modules'), path.join(dir, 'node_modules'));
  await writeFile(path.join(dir, 'dist/engine/ledger/migrations/999-later.sql'), LATER);
  return path.join(dir, 'src/cli/bin/lockstep.mjs');
}

test('a process whose tables a later version migrates finishes its calls and stops; the later version continues its run', async () => {
  const harness = await openCommandHarness({
    account: 'budget: { requests: 1000, per: 1s, timeout: 5s, settle: 2s, concurrency: 4 }',
  });
  onTestFinished(() => harness.close());
  await harness.addNumberedCustomers(3);
  const file = await harness.file('orders.csv', ordersCsv(ORDERS));
  let creates = 0;
  const isUp = (path: string) => !path.endsWith('/create') || ++creates <= CREATED_BY_EARLIER;
  harness.front.set(async ({ path }, pass) => (isUp(path) ? pass() : { status: 503 }));
  const earlier = harness.start('start', '--roles', 'worker');
  await earlier.ready();
  const detached = await harness.run('orders', 'load', file, '--account', 'test', '--yes', '--detach');
  expect(detached.code).toBe(0);
  await expect.poll(() => creates).toBeGreaterThan(CREATED_BY_EARLIER);

  const args = ['start', '--roles', 'worker', '--config', 'lockstep.yaml', '--json'];
  const later = startLockstep(args, harness.around, await laterVersion());
  const ended = await earlier.ended;
  expect([ended.code, ended.json.error.code]).toEqual([2, 'SCHEMA_NEWER']);
  expect(ended.json.error.message).toContain('ledger: 999-later');
  expect(await harness.orderCommits()).toHaveProperty('size', CREATED_BY_EARLIER);

  harness.front.set();
  await expect.poll(async () => (await listRuns(harness.database.pool, 1))[0]?.run.status).toBe('done');
  expect(await harness.orderCommits()).toEqual(eachOnce(ORDERS));
  expect(await harness.start('start', '--roles', 'worker').ended).toMatchObject({ code: 2 });
  later.signal('SIGTERM');
  expect((await later.ended).code).toBe(0);
});
