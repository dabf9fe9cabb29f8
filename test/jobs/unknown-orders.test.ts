/** Services whose lists show orders in a way that the worker cannot compare with a file: the first load creates one order. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type BookHarness, openBookHarness } from '../support/harness/order-book.ts';
import { csvOf } from '../support/harness/orders.ts';
import type { BookRecord } from '../support/order-book.ts';

let harness: BookHarness;
beforeAll(async () => {
  harness = await openBookHarness();
});
beforeEach(() => harness.reset());
afterAll(() => harness?.close());

const WAYS: [string, (order: BookRecord) => Record<string, unknown>][] = [
  ['calls its own id order_id', (order) => ({ ...order, order_id: order.id, reference: order.order_id })],
  ['numbers orders itself', (order) => ({ ...order, order_id: `ORD-${100_000 + order.id}`, external: order.order_id })],
  ['shows the number of a customer as client_id', (order) => ({ ...order, client_id: `C-000${order.client_id}` })],
  ['shows no customer', (order) => ({ ...order, client_id: 0 })],
];

test.each(WAYS)(
  'a service that %s gets one order, and no other order that exists is created again',
  async (_, shown) => {
    const { book } = harness;
    book.begin({
      customers: [{ full_name: 'Ann', email: 'ann@example.com' }],
      show: (record) => (record.order_id === undefined ? record : shown(record)),
    });
    const numbers = Array.from({ length: 20 }, (_, n) => n + 1);
    for (const n of numbers)
      book.orders.push({ id: 100 + n, order_id: `O-${n}`, client_id: 1, amount: n + 0.5, status: 'new' });
    const rows = numbers.map((n) => `O-${n},1,${n}.5,new`);
    const run = await harness.load(csvOf('order_id,client_id,amount,status', rows));
    const fates = (created: number) => numbers.map((n) => `review ${n <= created ? 'NOT_RECOGNISED' : 'LIST_PARTIAL'}`);
    expect([await harness.fates(run), book.orders.length]).toEqual([fates(1), 21]);
    expect(run.notes).toContain('no other order was created, because the list of orders did not confirm the first one');
    const again = await harness.load(csvOf('order_id,client_id,amount,status', rows), { salt: 'again' });
    expect([await harness.fates(again), book.orders.length]).toEqual([fates(2), 22]);
  },
);
