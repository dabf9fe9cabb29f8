/** A service that is away unattended: runs wait for it up to the account's patience, and resume by themselves. */
import { mkdir, readdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type Run, readRun, startRun } from '../../src/engine/ledger/runs.ts';
import { openCommandHarness } from '../e2e/commands.ts';
import { ended } from '../support/harness/ended.ts';
import { ordersCsv } from '../support/harness/orders.ts';
import { people } from '../support/people.ts';

const ACCOUNT = 'patience: 5m, budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 200ms }';

const harness = await openCommandHarness({ account: ACCOUNT });
beforeEach(async () => {
  await harness.reset();
  harness.front.set();
});
afterAll(() => harness.close());

const goesAway = () => harness.front.set(async () => ({ status: 503, body: 'away' }));

/** Waits until the run's calls fail, and lets `seconds` of that pass. */
async function outageOf(run: string, seconds: number): Promise<void> {
  const { pool } = harness.database;
  await expect.poll(async () => (await readRun(pool, run)).failingSince).toBeInstanceOf(Date);
  await pool.query(`update ledger.runs set trouble_since = trouble_since - $2 * interval '1 s' where id = $1`, [
    run,
    seconds,
  ]);
}

/** Waits until the run has failed to reach its service twice more. */
async function triesOn(run: string): Promise<Run> {
  const before = harness.front.requests.length;
  await expect.poll(() => harness.front.requests.length).toBeGreaterThan(before + 1);
  return readRun(harness.database.pool, run);
}

test('a run without any answer waits for its service, and resumes by itself', async () => {
  await harness.addContacts(people(5));
  goesAway();
  const run = await harness.beginSync();
  await outageOf(run.id, 10);
  expect((await triesOn(run.id)).status).toBe('running');
  harness.front.set();
  const done = await ended(harness.database, run.id);
  expect([done.status, (await harness.counts(done)).created]).toEqual(['done', 5]);
});

test('a run fails after the patience of its account, and says how to resume it', async () => {
  goesAway();
  const run = await harness.beginSync();
  await outageOf(run.id, 301);
  const failed = await ended(harness.database, run.id);
  expect([failed.status, failed.errorCode]).toEqual(['failed', 'SERVICE_AWAY']);
  expect(failed.error).toContain(`lockstep runs resume ${run.id}`);
});

test('a file of a folder stays where it is during an outage, and is loaded after it', async () => {
  await harness.addNumberedCustomers(3);
  const folder = path.join(harness.dataDir, 'folder');
  await mkdir(folder);
  const file = await harness.file('folder/may.csv', ordersCsv(10));
  await utimes(file, new Date(Date.now() - 120_000), new Date(Date.now() - 120_000));
  goesAway();
  const { run } = await startRun(harness.database.pool, {
    ...{ sync: 'files', type: 'orders', account: 'test', resource: 'sync:files', lane: 'batch', dryRun: false },
    ...{ phase: 'watch-orders', options: { folder, existing: 'skip', createCustomers: false } },
  });
  await harness.workspace.work();
  const load = () => harness.database.pool.query('select id from ledger.runs where id <> $1', [run.id]);
  await expect.poll(async () => (await load()).rowCount).toBe(1);
  const { id } = (await load()).rows[0];
  await outageOf(id, 10);
  expect((await triesOn(id)).status).toBe('running');
  expect(await readdir(folder)).not.toContain('failed');
  harness.front.set();
  expect((await ended(harness.database, run.id)).status).toBe('done');
  expect(await readdir(path.join(folder, 'done'))).toContain('may.csv');
  expect((await harness.orderCommits()).size).toBe(10);
});
