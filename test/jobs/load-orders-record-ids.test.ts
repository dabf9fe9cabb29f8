/** The service numbers customers and orders separately: both can have one number, and neither hides the other. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { approveRun } from '../../src/engine/ledger/approval.ts';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { ended } from '../support/harness/ended.ts';
import { openOrdersHarness } from '../support/harness/orders.ts';

const harness = await openOrdersHarness();
beforeEach(() => harness.reset());
afterAll(() => harness.close());

/** Customer 1, and orders 1 and 2: the next customer is number 2 as well. */
async function oneCustomerWithTwoOrders(): Promise<void> {
  await harness.addCustomers([{ full_name: 'Ann', email: 'ann@example.com' }]);
  for (const order_id of ['A', 'B']) await harness.call('orders.create', { client_id: 1, order_id, amount: 5 });
}

test('finds a customer created after the plan was shown, though an order has its number', async () => {
  await oneCustomerWithTwoOrders();
  const csv = `order_id,customer email,amount\nA,ann@example.com,5\nB,ann@example.com,5\nC,new@example.com,7\n`;
  const shown = await harness.load(csv, { createCustomers: true, confirm: true });
  expect([shown.status, shown.errorCode]).toEqual(['paused', 'AWAITS_CONFIRMATION']);
  await approveRun(harness.database.pool, shown, 'ann@office');
  await (await harness.workspace.work()).attend(await readRun(harness.database.pool, shown.id));
  const run = await ended(harness.database, shown.id);
  expect(run.status).toBe('done');
  expect((await harness.loaded(run)).map(({ verdict, recordId }) => [verdict, recordId])).toEqual([
    ['existing', '1'],
    ['existing', '2'],
    ['created', '3'],
  ]);
});
