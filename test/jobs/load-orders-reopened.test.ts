/** A load that has ended, is opened again and completes. */
import { afterAll, expect, test } from 'vitest';
import { declineRun } from '../../src/engine/ledger/approval.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { phaseTimes } from '../../src/engine/ledger/views/run-phases.ts';
import { reopenLoad } from '../../src/syncs/orders/reopen-load.ts';
import { fateOf } from '../engine/ledger/matching/load-worlds.ts';
import { ended } from '../support/harness/ended.ts';
import { openOrdersHarness } from '../support/harness/orders.ts';

const harness = await openOrdersHarness();
afterAll(() => harness.close());

test('loads a row that failed once its customer exists, and does not send succeeded rows again', async () => {
  await harness.addCustomers([{ full_name: 'Ann', email: 'ann@example.com' }]);
  const csv = 'order_id,customer email,amount\nA,ann@example.com,12.50\nB,ben@example.com,7\nC,ann@example.com,0.10\n';
  const first = await harness.load(csv);
  expect((await harness.loaded(first)).map(fateOf)).toEqual([
    'settled created',
    'settled rejected CUSTOMER_UNKNOWN',
    'settled created',
  ]);
  await harness.addCustomers([{ full_name: 'Ben', email: 'ben@example.com' }]);
  expect(await reopenLoad(harness.database.pool, first.id)).toBe(1);
  await (await harness.workspace.work()).attend(await readRun(harness.database.pool, first.id));
  const second = await ended(harness.database, first.id);
  expect([second.status, (await harness.loaded(second)).map(fateOf)]).toEqual([
    'done',
    Array(3).fill('settled created'),
  ]);
  expect((await harness.orders()).map(({ order_id, amount }) => [order_id, amount]).toSorted()).toEqual([
    ['A', 12.5],
    ['B', 7],
    ['C', 0.1],
  ]);
  expect([...(await harness.orderCommits()).values()]).toEqual([1, 1, 1]);
  const times = await phaseTimes(harness.database.pool, second);
  expect(times.flatMap(({ waits }) => waits.map((wait) => wait.for))).not.toContain('failed');
});

test.each([
  ['was not approved', (run: Run) => declineRun(harness.database.pool, run.id, 'ann@office')],
  ['was cancelled before its plan was seen', (run: Run) => endRun(harness.database.pool, run.id, 'cancelled')],
])('asks for approval if it %s, and sends nothing before', async (how, end) => {
  const { pool } = harness.database;
  const csv = `order_id,customer email,amount\nD-${how.length},ann@example.com,3\n`;
  const before = await harness.orders();
  const { begun } = await harness.takeIn(csv, { confirm: true });
  await end(begun.run);
  expect(await reopenLoad(pool, begun.run.id)).toBe(1);
  await (await harness.workspace.work()).attend(await readRun(pool, begun.run.id));
  await expect.poll(async () => (await readRun(pool, begun.run.id)).errorCode).toBe('AWAITS_CONFIRMATION');
  expect(await harness.orders()).toEqual(before);
});
