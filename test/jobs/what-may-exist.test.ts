/** Services whose lists do not show what was created: nothing is created again, and the verdicts say what is known. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { csvOf, type OrdersHarness, openOrdersHarness } from '../support/harness/orders.ts';
import { type BookRecord, type OrderBook, type OrderBookOptions, startOrderBook } from '../support/order-book.ts';

const ACCOUNT = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 100ms }';
const CUSTOMERS = [{ full_name: 'Ann', email: 'ann@example.com' }];

let harness: OrdersHarness;
let book: OrderBook;
beforeAll(async () => {
  book = await startOrderBook();
  harness = await openOrdersHarness({ account: ACCOUNT, serviceUrl: book.url });
});
beforeEach(() => harness.reset());
afterAll(async () => {
  await harness.close();
  await book.close();
});

const begin = (options: OrderBookOptions) => book.begin({ customers: CUSTOMERS, ...options });
const orders = (...rows: readonly string[]) => csvOf('order_id,client_id,amount,status', rows);
const fates = async (run: Run) =>
  (await harness.loaded(run)).map(({ verdict, reason }) => [verdict, reason].filter(Boolean).join(' '));
const escaped = (record: BookRecord) => ({ ...record, order_id: String(record.order_id).replaceAll('&', '&amp;') });

test('an order that the list hides is found by the id of the answer, and later loads know it', async () => {
  begin({
    answersRecords: true,
    show: (record, how) => (how === 'list' && record.status === 'draft' ? undefined : record),
  });
  const csv = orders('A,1,5,draft', 'B,1,6,new');
  const run = await harness.load(csv);
  expect(await fates(run)).toEqual(['created UNLISTED', 'created']);
  expect((await harness.loaded(run))[0]).toMatchObject({ recordId: '2', facts: { id: '2' } });
  expect(run.notes.join()).toContain('the list of orders does not show every record');
  expect(await fates(await harness.load(csv, { salt: 'again' }))).toEqual(['existing UNLISTED', 'existing EXISTS']);
  expect(book.orders).toHaveLength(2);
});

test.each([
  ['acknowledged', undefined],
  ['answered with a 502', { status: 502, body: 'no' }],
] as const)('an order that the list shows under another label is created once if it was %s', async (_how, answer) => {
  begin({ show: escaped, afterCreate: ({ order_id }) => (order_id === 'A&B' ? answer : undefined) });
  const csv = orders('A&B,1,5,new', 'C,1,6,new');
  expect(await fates(await harness.load(csv))).toEqual(['review NOT_RECOGNISED', 'created']);
  const again = await harness.load(csv, { salt: 'again' });
  expect(await fates(again)).toEqual(['review NOT_RECOGNISED', 'existing EXISTS']);
  expect(book.orders).toHaveLength(2);
});

test('customers that the list shows with masked e-mails and other names are created once', async () => {
  const show = (record: BookRecord) =>
    'email' in record ? { ...record, full_name: '#', email: String(record.email).replace(/.*@/, '***@') } : record;
  begin({ customers: [], show, answersRecords: true });
  const csv = csvOf('order_id,customer_email,customer_name,amount', [
    'A,ben@example.com,Ben,5',
    'B,ben@example.com,Ben,6',
  ]);
  const run = await harness.load(csv, { createCustomers: true });
  expect(await fates(run)).toEqual(['review CUSTOMER_UNCLEAR', 'review CUSTOMER_UNCLEAR']);
  expect((await harness.loaded(run))[0]?.facts).toMatchObject({ because: { code: 'NOT_RECOGNISED' } });
  const again = await harness.load(csv, { salt: 'again', createCustomers: true });
  expect(await fates(again)).toEqual(['review LIST_PARTIAL', 'review LIST_PARTIAL']);
  expect([book.customers.length, book.orders.length]).toEqual([1, 0]);
});

test('an update sends only what the file has, and leaves what the list shows in another form', async () => {
  begin({ show: (record) => ({ ...record, ...('amount' in record && { amount: Number(record.amount) * 100 }) }) });
  for (const order_id of ['A', 'B'])
    book.orders.push({ id: book.orders.length + 10, order_id, client_id: 1, amount: 5, status: 'new' });
  const run = await harness.load(csvOf('order_id,client_id,status', ['A,1,paid', 'B,1,paid']), { existing: 'update' });
  expect(await fates(run)).toEqual(['updated', 'updated']);
  expect(book.orders).toMatchObject([
    { amount: 5, status: 'paid' },
    { amount: 5, status: 'paid' },
  ]);
  expect(book.updates().map((body) => 'amount' in body)).toEqual([false, false]);
});

test('a service that empties what an update does not send gets whole orders, once the first one has shown it', async () => {
  begin({ updates: 'empty' });
  for (const order_id of ['A', 'B', 'C'])
    book.orders.push({
      id: book.orders.length + 10,
      order_id,
      client_id: 1,
      amount: 5,
      description: 'x',
      status: 'new',
    });
  const csv = csvOf('order_id,client_id,status', ['A,1,paid', 'B,1,paid', 'C,1,paid']);
  expect(await fates(await harness.load(csv, { existing: 'update' }))).toEqual(['updated', 'updated', 'updated']);
  expect(book.orders).toMatchObject(Array(3).fill({ amount: 5, description: 'x', status: 'paid' }));
  expect(book.updates().filter((body) => !('amount' in body))).toHaveLength(1);
});

test('amounts that cannot be read are not compared, and the run says so', async () => {
  begin({ show: (record) => ({ ...record, amount: `about ${record.amount}` }) });
  const run = await harness.load(orders('A,1,5,new', 'B,1,6,new'));
  expect(await fates(run)).toEqual(['created', 'created']);
  expect(run.notes.join()).toContain('amounts of orders were not compared with the file');
});

test('a tenant that is another one in the middle of the first load pauses it', async () => {
  let isOther = false;
  const show = (record: BookRecord) =>
    isOther && 'email' in record ? { ...record, full_name: 'Eve', email: 'eve@example.org' } : record;
  const customers = ['ann', 'ben', 'cy'].map((name) => ({ full_name: name, email: `${name}@example.com` }));
  const afterCreate = () => {
    if (!isOther) book.orders.length = 0;
    isOther = true;
    return undefined;
  };
  begin({ customers, show, afterCreate });
  const run = await harness.load(
    csvOf('order_id,customer_email,amount', ['A,ann@example.com,5', 'B,ben@example.com,6']),
  );
  expect([run.status, run.errorCode]).toEqual(['paused', 'IDENTITY_UNCLEAR']);
  expect(run.error).toContain('Before that, the run has sent 2 rows: 1 created, 1 not confirmed.');
});

test('a load that stops after it has written says how many rows were sent', async () => {
  begin({ show: ({ order_id: _, ...record }) => record });
  const run = await harness.load(orders('A,1,5,new', 'B,1,6,new'));
  expect(run.errorCode).toBe('SERVICE_UNREADABLE');
  expect(run.error).toContain('Before that, the run has sent 2 rows: 2 not confirmed.');
});

test('orders after the last one of a list that is cut off at its beginning are not created again', async () => {
  begin({ show: (record, how) => (how === 'list' && record.id > 59 ? undefined : record) });
  for (let id = 10; id < 65; id++)
    book.orders.push({ id, order_id: `O-${id}`, client_id: 1, amount: 5, status: 'new' });
  const run = await harness.load(orders('O-59,1,5,new', 'O-60,1,5,new'));
  expect(await fates(run)).toEqual(['existing EXISTS', 'review LIST_PARTIAL']);
  expect(run.notes.join()).toContain('has 50 records, which looks like a page size: nothing shows that it is complete');
  expect(book.orders).toHaveLength(55);
});
