/** Records that a service has and its list does not show, because it hides them or is cut off: they are not created again. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openBookHarness, orders } from '../support/harness/order-book.ts';
import { csvOf } from '../support/harness/orders.ts';
import type { BookRecord } from '../support/order-book.ts';

const harness = await openBookHarness();
beforeEach(() => harness.reset());
afterAll(() => harness?.close());

const { begin } = harness;

test('an order that the list hides is found by the id of the answer, and later loads compare and update it', async () => {
  begin({
    answersRecords: true,
    show: (record, how) => (how === 'list' && record.status === 'draft' ? undefined : record),
  });
  const csv = orders('A,1,5,draft', 'B,1,6,new');
  const run = await harness.load(csv);
  expect(await harness.fates(run)).toEqual(['created UNLISTED', 'created']);
  expect((await harness.loaded(run))[0]).toMatchObject({ recordId: '2', facts: { id: '2' } });
  expect(run.notes.join()).toContain('the list of orders does not show every record');
  expect(await harness.fates(await harness.load(csv, { salt: 'again' }))).toEqual(Array(2).fill('existing EXISTS'));
  const changed = csv.replace('A,1,5', 'A,1,7');
  expect(await harness.fates(await harness.load(changed, { existing: 'skip' }))).toEqual([
    'review DIFFERS',
    'existing EXISTS',
  ]);
  const updated = await harness.load(changed, { existing: 'update', salt: 'update' });
  expect(await harness.fates(updated)).toEqual(['updated', 'existing EXISTS']);
  expect(harness.book.orders.map(({ order_id, amount }) => [order_id, amount])).toEqual([
    ['A', 7],
    ['B', 6],
  ]);
});

test('an order that the list hides since an earlier load created it is not created again', async () => {
  begin({ show: (record, how) => (how === 'list' && record.status === 'cancelled' ? undefined : record) });
  const rows = Array.from({ length: 100 }, (_, i) => `A-${i},1,5,new`);
  await harness.load(orders(...rows));
  const { rows: known } = await harness.database.pool.query<{ id: string }>(
    'select record_id as id from ledger.witnesses',
  );
  const isWitness = ({ id }: BookRecord) => known.some((witness) => witness.id === String(id));
  Object.assign(harness.book.orders.find((order) => !isWitness(order)) ?? {}, { status: 'cancelled' });
  const run = await harness.load(orders(...rows, 'B,1,6,new'));
  expect(await harness.tally(run)).toEqual({ in: 101, created: 1, existing: 99, review: 1 });
  expect(harness.book.orders).toHaveLength(101);
});

test.each([
  ['found it by its e-mail', true],
  ['created it', false],
])('a customer that the list hides since an earlier load %s is not created again', async (_how, isThere) => {
  const customers = Array.from({ length: 100 }, (_, i) => ({ full_name: `C${i}`, email: `c${i}@example.com` }));
  const show = (record: BookRecord, how: string) => (how === 'list' && record.isArchived === true ? undefined : record);
  begin({ customers: isThere ? customers : [], show });
  const rows = customers.map(({ email }, i) => `A-${i},${email},5`);
  const load = (of: readonly string[]) =>
    harness.load(csvOf('order_id,customer_email,amount', of), { createCustomers: true });
  await load(rows);
  const { rows: known } = await harness.database.pool.query<{ id: string }>(
    'select record_id as id from ledger.witnesses',
  );
  const hidden = harness.book.customers.find(({ id }) => !known.some((witness) => witness.id === String(id)));
  Object.assign(hidden ?? {}, { isArchived: true });
  const run = await load([...(isThere ? rows : []), `B,${hidden?.email},6`]);
  expect(await harness.tally(run)).toEqual(isThere ? { in: 101, created: 1, existing: 100 } : { in: 1, created: 1 });
  expect([harness.book.customers.length, harness.book.orders.length]).toEqual([100, 101]);
});

test.each([
  ['is found', {}, 'created'],
  ['is unknown if it says that it is deleted', { deleted_at: '2026-01-05T10:00:00Z' }, 'rejected CUSTOMER_UNKNOWN'],
  ['is unknown if it says so as in JSON:API', { 'is-deleted': '1' }, 'rejected CUSTOMER_UNKNOWN'],
])('a customer that the list hides and a row names by its id %s', async (_what, members, fate) => {
  begin({
    customers: [
      { full_name: 'C0', email: 'c0@example.com' },
      { full_name: 'C1', email: 'c1@example.com', ...members },
    ],
    show: (record, how) => (how === 'list' && record.full_name === 'C1' ? undefined : record),
  });
  expect(await harness.fates(await harness.load(orders('A,2,5,new')))).toEqual([fate]);
});

test('orders after the last one of a list that is cut off at its beginning are not created again', async () => {
  begin({ show: (record, how) => (how === 'list' && record.id > 59 ? undefined : record) });
  for (let id = 10; id < 65; id++)
    harness.book.orders.push({ id, order_id: `O-${id}`, client_id: 1, amount: 5, status: 'new' });
  const run = await harness.load(orders('O-59,1,5,new', 'O-60,1,5,new'));
  expect(await harness.fates(run)).toEqual(['existing EXISTS', 'review LIST_PARTIAL']);
  expect(run.notes.join()).toContain('it does not contain order 60, which the service returns by its id');
  expect(harness.book.orders).toHaveLength(55);
});

test.each([
  ['oldest', (id: number) => id <= 3],
  ['newest', (id: number) => id >= 4],
])(
  'orders of an empty list that shows only its %s orders are not created again if no create was answered',
  async (_which, isListed) => {
    const show = (record: BookRecord, how: 'list' | 'get') =>
      how === 'list' && 'order_id' in record && !isListed(record.id) ? undefined : record;
    begin({ show, afterCreate: () => ({ status: 502, body: 'no' }) });
    const run = await harness.load(orders('A,1,5,new', 'B,1,6,new', 'C,1,7,new', 'D,1,8,new'));
    expect(harness.book.orders).toHaveLength(4);
    expect((await harness.fates(run)).toSorted()).toEqual([
      'created',
      'created',
      'review NOT_IN_LIST',
      'review NOT_IN_LIST',
    ]);
  },
);

test('an order after the last one of a list that is cut off is not created again, whatever the list showed before', async () => {
  const show = (record: BookRecord, how: 'list' | 'get') =>
    how === 'list' && 'order_id' in record && record.id > 3 ? undefined : record;
  begin({ show, afterCreate: () => ({ status: 502, body: 'no' }) });
  harness.book.orders.push({ id: 1, order_id: 'A', client_id: 1, amount: 5, status: 'new' });
  const run = await harness.load(orders('A,1,5,new', 'B,1,6,new', 'C,1,7,new', 'D,1,8,new'));
  expect(harness.book.orders).toHaveLength(4);
  expect(await harness.fates(run)).toEqual(['existing EXISTS', 'created', 'created', 'review NOT_IN_LIST']);
});

test('a list that does not show a new order yet is read again, and is not partial', async () => {
  const settleMs = 1_000;
  const slow = await openBookHarness({ settleMs });
  try {
    let firstShownAt: number | undefined;
    let isLate = false; // as the second of two servers behind one address, which shows orders later than the first
    const show = (record: BookRecord, how: 'list' | 'get') => {
      if (record.order_id !== 'A') return record;
      firstShownAt ??= performance.now();
      return isLate && how === 'list' && performance.now() < firstShownAt + settleMs ? undefined : record;
    };
    slow.begin({ show });
    slow.book.orders.push({ id: 1, order_id: 'O', client_id: 1, amount: 5, status: 'new' });
    await slow.load(orders('A,1,5,new'));
    isLate = true;
    const run = await slow.load(orders('B,1,6,new'));
    expect(await slow.fates(run)).toEqual(['created']);
    expect(run.notes.join()).not.toContain('partial');
  } finally {
    await slow.close();
  }
});
