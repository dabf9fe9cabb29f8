/** A service that is away while no person follows: runs wait for it, as long as the account's patience, and resume by themselves. */
import { mkdir, readdir, utimes } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type Run, readRun, startRun } from '../../src/engine/ledger/runs.ts';
import { type CommandBed, openCommandBed } from '../e2e/orders-bed.ts';
import { ordersCsv } from '../support/orders-bed.ts';
import { people } from '../support/people.ts';
import { ended } from '../support/sync-bed.ts';

const ACCOUNT = 'patience: 5m, budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 200ms }';

let bed: CommandBed;
beforeAll(async () => {
  bed = await openCommandBed({ account: ACCOUNT });
});
beforeEach(async () => {
  await bed.reset();
  bed.front.set();
});
afterAll(() => bed.close());

const goesAway = () => bed.front.set(async () => ({ status: 503, body: 'away' }));

/** Waits until the run's calls fail, and lets `seconds` of that pass. */
async function outageOf(run: string, seconds: number): Promise<void> {
  const { pool } = bed.database;
  await expect.poll(async () => (await readRun(pool, run)).troubleSince, { timeout: 20_000 }).toBeInstanceOf(Date);
  await pool.query(`update ledger.runs set trouble_since = trouble_since - $2 * interval '1 s' where id = $1`, [
    run,
    seconds,
  ]);
}

/** Waits until the run has failed to reach its service several times more. */
async function triesOn(run: string): Promise<Run> {
  const before = bed.front.requests.length;
  await expect.poll(() => bed.front.requests.length, { timeout: 20_000 }).toBeGreaterThan(before + 4);
  return readRun(bed.database.pool, run);
}

test('a run without any answer waits for its service, and resumes by itself', async () => {
  await bed.addContacts(people(5));
  goesAway();
  const run = await bed.beginSync();
  await outageOf(run.id, 10);
  expect((await triesOn(run.id)).status).toBe('running');
  bed.front.set();
  const done = await ended(bed.database, run.id);
  expect([done.status, (await bed.counts(done)).created]).toEqual(['done', 5]);
});

test('a run fails after the patience of its account, and says how to resume it', async () => {
  goesAway();
  const run = await bed.beginSync();
  await outageOf(run.id, 301);
  const failed = await ended(bed.database, run.id);
  expect([failed.status, failed.errorCode]).toEqual(['failed', 'SERVICE_AWAY']);
  expect(failed.error).toContain(`lockstep runs resume ${run.id}`);
});

test('a file of a folder stays where it is during an outage, and is loaded after it', async () => {
  await bed.addNumberedCustomers(3);
  const folder = path.join(bed.dataDir, 'folder');
  await mkdir(folder);
  const file = await bed.file('folder/may.csv', ordersCsv(10));
  await utimes(file, new Date(Date.now() - 120_000), new Date(Date.now() - 120_000));
  goesAway();
  const { run } = await startRun(bed.database.pool, {
    ...{ sync: 'files', job: 'orders', account: 'test', resource: 'sync:files', lane: 'batch', dryRun: false },
    ...{ phase: 'watch-orders', options: { folder, existing: 'skip', createCustomers: false } },
  });
  await bed.workspace.work();
  const load = () => bed.database.pool.query('select id from ledger.runs where id <> $1', [run.id]);
  await expect.poll(async () => (await load()).rowCount, { timeout: 20_000 }).toBe(1);
  const { id } = (await load()).rows[0];
  await outageOf(id, 10);
  expect((await triesOn(id)).status).toBe('running');
  expect(await readdir(folder)).not.toContain('failed');
  bed.front.set();
  expect((await ended(bed.database, run.id)).status).toBe('done');
  expect(await readdir(path.join(folder, 'done'))).toContain('may.csv');
  expect((await bed.orderCommits()).size).toBe(10);
});
