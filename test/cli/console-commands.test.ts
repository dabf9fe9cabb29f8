/** `lockstep activity` and `lockstep queues`: what pages of the console show, without them. */
import pino from 'pino';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { keepAction } from '../../src/engine/ledger/console/console-actions.ts';
import { openQueue } from '../../src/engine/worker/queue.ts';
import { freshLedger } from '../engine/ledger/fresh-ledger.ts';
import { commandsWith } from './command.ts';

const database = await freshLedger();
afterAll(() => database.close());

const lockstep = commandsWith(database, 'accounts: { a: {} }\n');

test('lists what people did, the newest first, with who and what was refused', async () => {
  expect((await lockstep('activity')).stdout).toContain('No one has done anything');
  const done = { who: 'ann', via: 'page', action: 'run-sync', about: 'nightly', refused: undefined } as const;
  await keepAction(database.pool, done);
  await keepAction(database.pool, { ...done, via: 'api', about: 'hourly', refused: 'SYNC_BUSY' });
  const { code, stdout } = await lockstep('activity');
  expect(code).toBe(0);
  expect(stdout).toMatch(/ann +API +run-sync +hourly +refused: SYNC_BUSY\n.* ann +console +run-sync +nightly +done/);
  const { json } = await lockstep('activity', '--about', 'nightly', '--limit', '1', '--json');
  expect(json.actions).toMatchObject([{ who: 'ann', about: 'nightly', refused: null }]);
});

test('lists the jobs of the queue by state, with the run that each continues', async () => {
  const { connection } = database;
  const queue = openQueue({ redis: undefined, database: connection, log: pino({ level: 'silent' }) });
  onTestFinished(() => queue.close());
  await queue.add('create-orders', { runId: 'run-1' }, { id: 'one', isUrgent: true });
  const { code, stdout, stderr } = await lockstep('queues');
  expect([code, stderr]).toEqual([0, '']);
  expect(stdout).toMatch(/Waiting for a worker: 1\n.*\n\nRUN .*\nrun-1 +sending +waiting for a worker +\d{4}-/s);
  const { states } = (await lockstep('queues', '--json')).json;
  expect(states).toMatchObject([
    { count: 0 },
    { state: 'prioritized', count: 1, jobs: [{ run: 'run-1' }] },
    { count: 0 },
  ]);
});
