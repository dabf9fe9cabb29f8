/** Customers and orders are counted apart by the service: one number may be both, and neither hides the other. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { readRun, resumeRun } from '../../src/engine/ledger/runs.ts';
import { type OrdersBed, openOrdersBed } from '../support/orders-bed.ts';
import { ended } from '../support/sync-bed.ts';

let bed: OrdersBed;
beforeAll(async () => {
  bed = await openOrdersBed();
});
beforeEach(() => bed.reset());
afterAll(() => bed.close());

/** Customer 1, and orders 1 and 2: the next customer is number 2 as well. */
async function oneCustomerWithTwoOrders(): Promise<void> {
  await bed.addCustomers([{ full_name: 'Ann', email: 'ann@example.com' }]);
  for (const order_id of ['A', 'B']) await bed.call('orders.create', { client_id: 1, order_id, amount: 5 });
}

test('a customer that is created after the plan was shown is found, though an order has its number', async () => {
  await oneCustomerWithTwoOrders();
  const csv = `order_id,customer email,amount\nA,ann@example.com,5\nB,ann@example.com,5\nC,new@example.com,7\n`;
  const shown = await bed.load(csv, { createCustomers: true, confirm: true });
  expect([shown.status, shown.errorCode]).toEqual(['paused', 'AWAITS_CONFIRMATION']);
  await resumeRun(bed.database.pool, shown.id);
  await (await bed.workspace.work()).attend(await readRun(bed.database.pool, shown.id));
  const run = await ended(bed.database, shown.id);
  expect(run.status).toBe('done');
  expect((await bed.loaded(run)).map(({ verdict, recordId }) => [verdict, recordId])).toEqual([
    ['existing', '1'],
    ['existing', '2'],
    ['created', '3'],
  ]);
});
