/**
 * Services whose lists show orders or customers in a way that the worker cannot compare with what it has sent: the first load
 * creates one order, and nothing is sent again.
 */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openBookHarness } from '../support/harness/order-book.ts';
import { csvOf } from '../support/harness/orders.ts';
import type { BookRecord } from '../support/order-book.ts';

const harness = await openBookHarness();
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

const EMPTY_BY_MISTAKE = 'a first list of %s that is empty by mistake %s does not make records that exist twice';
const HIDDEN = Array(4).fill('review LIST_PARTIAL');
const EXIST = [...Array(3).fill('existing EXISTS'), 'created'];

test.each([
  ['orders', 'once', 1, EXIST, 4],
  ['orders', 'twice', 2, EXIST, 4],
  ['orders', 'always', 100, HIDDEN, 3],
  ['customers', 'twice', 2, Array(4).fill('created'), 4],
  ['customers', 'always', 100, HIDDEN, 3],
] as const)(EMPTY_BY_MISTAKE, async (kind, _, times, fates, count) => {
  const { book } = harness;
  const reads = () => book.requests.filter(({ path }) => path.endsWith(`/${kind}/getall`)).length;
  const last = reads() + times;
  const customers = [1, 2, 3].map((n) => ({ full_name: `C${n}`, email: `c${n}@example.com` }));
  const isHidden = (record: BookRecord) => 'order_id' in record === (kind === 'orders') && reads() <= last;
  book.begin({ customers, show: (record, how) => (how === 'list' && isHidden(record) ? undefined : record) });
  const before = times === 1 ? 100 : 0; // ids after 100 are not looked up: only the second read shows them
  if (kind === 'orders')
    for (const n of [1, 2, 3])
      book.orders.push({ id: before + n, order_id: `O-${n}`, client_id: n, amount: n, status: 'new' });
  const who = (n: number) => (kind === 'orders' ? Math.min(n, 3) : `c${n}@example.com`);
  const rows = [1, 2, 3, 4].map((n) => `O-${n},${who(n)},${n},new`);
  const csv = csvOf(`order_id,${kind === 'orders' ? 'client_id' : 'customer_email'},amount,status`, rows);
  const run = await harness.load(csv, { createCustomers: true });
  expect([await harness.fates(run), book[kind].length]).toEqual([fates, count]);
});

test.each([
  [
    'cuts labels and rounds amounts',
    ({ order_id, amount }: BookRecord) => [String(order_id).slice(0, 12), Math.round(Number(amount))],
  ],
  [
    'cuts labels and adds a tax',
    ({ order_id, amount }: BookRecord) => [String(order_id).slice(0, 12), Number(amount) * 1.19],
  ],
  ['numbers orders and rounds amounts', ({ id, amount }: BookRecord) => [`No. ${id}`, Math.floor(Number(amount))]],
])('the only order of a load, at a service that %s, is created once if its answer is lost', async (_, changed) => {
  harness.book.begin({
    customers: [{ full_name: 'Ann', email: 'ann@example.com' }],
    show: (record) => {
      if (record.order_id === undefined) return record;
      const [order_id, amount] = changed(record);
      return { ...record, order_id, amount };
    },
    afterCreate: () => ({ status: 502, body: 'no' }),
  });
  expect(
    await harness.fates(
      await harness.load(csvOf('order_id,client_id,amount,status', ['INVOICE-2026-000017,1,17.85,new'])),
    ),
  ).toEqual(['review NOT_RECOGNISED']);
  expect(harness.book.orders).toHaveLength(1);
});

test('a customer that the list shows with another e-mail is created once, although its answer is lost', async () => {
  const show = (record: BookRecord) => ('email' in record ? { ...record, email: 'ben@example.com' } : record);
  harness.book.begin({ customers: [], show, afterCreate: () => ({ status: 502, body: 'no' }) });
  const csv = csvOf('order_id,customer_email,customer_name,amount', ['A,ben+news@example.com,Ben,5']);
  expect(await harness.fates(await harness.load(csv, { createCustomers: true }))).toEqual(['review CUSTOMER_UNCLEAR']);
  expect(harness.book.customers).toHaveLength(1);
});
