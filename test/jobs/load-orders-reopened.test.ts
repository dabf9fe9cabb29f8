/** A load that has ended, opened again and carried to its end. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { reopenLoad } from '../../src/orders/reopen.ts';
import { fateOf } from '../orders/load-worlds.ts';
import { type OrdersBed, openOrdersBed } from '../support/orders-bed.ts';
import { ended } from '../support/sync-bed.ts';

let bed: OrdersBed;
beforeAll(async () => {
  bed = await openOrdersBed();
});
afterAll(() => bed.close());

test('a row that failed is loaded once its customer is there, and what succeeded is not sent again', async () => {
  await bed.addCustomers([{ full_name: 'Ann', email: 'ann@example.com' }]);
  const csv = 'order_id,customer email,amount\nA,ann@example.com,12.50\nB,ben@example.com,7\nC,ann@example.com,0.10\n';
  const first = await bed.load(csv);
  expect((await bed.loaded(first)).map(fateOf)).toEqual([
    'settled created',
    'settled rejected CUSTOMER_UNKNOWN',
    'settled created',
  ]);
  await bed.addCustomers([{ full_name: 'Ben', email: 'ben@example.com' }]);
  expect(await reopenLoad(bed.database.pool, first.id)).toBe(1);
  await (await bed.workspace.work()).attend(await readRun(bed.database.pool, first.id));
  const second = await ended(bed.database, first.id);
  expect([second.status, (await bed.loaded(second)).map(fateOf)]).toEqual(['done', Array(3).fill('settled created')]);
  expect((await bed.orders()).map(({ order_id, amount }) => [order_id, amount]).toSorted()).toEqual([
    ['A', 12.5],
    ['B', 7],
    ['C', 0.1],
  ]);
  expect([...(await bed.orderCommits()).values()]).toEqual([1, 1, 1]);
});
