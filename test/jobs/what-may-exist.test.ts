/** Services whose lists do not show what was created: nothing is created again, and the verdicts say what is known. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { keepCutOff } from '../../src/engine/account/cut-off-lists.ts';
import { approveRun } from '../../src/engine/ledger/approval.ts';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { ended } from '../support/harness/ended.ts';
import { openBookHarness, orders, SETTLE_MS } from '../support/harness/order-book.ts';
import { csvOf } from '../support/harness/orders.ts';
import type { BookRecord, OrderBookOptions } from '../support/order-book.ts';

const harness = await openBookHarness();
beforeEach(() => harness.reset());
afterAll(() => harness?.close());

const { begin } = harness;
const escaped = (record: BookRecord) => ({ ...record, order_id: String(record.order_id).replaceAll('&', '&amp;') });

test.each([
  ['acknowledged', undefined],
  ['answered with a 502', { status: 502, body: 'no' }],
] as const)('an order that the list shows under another label is created once if it was %s', async (_how, answer) => {
  begin({ show: escaped, afterCreate: ({ order_id }) => (order_id === 'A&B' ? answer : undefined) });
  const csv = orders('A&B,1,5,new', 'C,1,6,new');
  const run = await harness.load(csv);
  expect(await harness.fates(run)).toEqual(['review NOT_RECOGNISED', 'created']);
  const named = { what: 'order', ids: [String(harness.book.orders[0]?.id)] };
  expect((await harness.loaded(run))[0]?.facts).toEqual(named);
  const again = await harness.load(csv, { salt: 'again' });
  expect(await harness.fates(again)).toEqual(['review NOT_RECOGNISED', 'existing EXISTS']);
  expect((await harness.loaded(again))[0]?.facts).toEqual({ ...named, earlier: run.id });
  expect(harness.book.orders).toHaveLength(2);
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
  expect(await harness.fates(run)).toEqual(['review CUSTOMER_UNCLEAR', 'review CUSTOMER_UNCLEAR']);
  expect((await harness.loaded(run))[0]?.facts).toMatchObject({ because: { code: 'NOT_RECOGNISED' } });
  const again = await harness.load(csv, { salt: 'again', createCustomers: true });
  expect(await harness.fates(again)).toEqual(['review LIST_PARTIAL', 'review LIST_PARTIAL']);
  expect([harness.book.customers.length, harness.book.orders.length]).toEqual([1, 0]);
});

test('an update sends only what the file has, and leaves what the list shows in another form', async () => {
  begin({ show: (record) => ({ ...record, ...('amount' in record && { amount: Number(record.amount) * 100 }) }) });
  for (const order_id of ['A', 'B'])
    harness.book.orders.push({ id: harness.book.orders.length + 10, order_id, client_id: 1, amount: 5, status: 'new' });
  const run = await harness.load(csvOf('order_id,client_id,status', ['A,1,paid', 'B,1,paid']), { existing: 'update' });
  expect(await harness.fates(run)).toEqual(['updated', 'updated']);
  expect(harness.book.orders).toMatchObject([
    { amount: 5, status: 'paid' },
    { amount: 5, status: 'paid' },
  ]);
  expect(harness.book.updates().map((body) => 'amount' in body)).toEqual([false, false]);
});

test.each([
  ['its id', undefined],
  ['the list only', (record: BookRecord, how: 'list' | 'get') => (how === 'list' ? record : undefined)],
])(
  'a service that empties what an update does not send gets whole orders, once the first one has shown it by %s',
  async (_how, show) => {
    begin({ updates: 'empty', ...(show && { show }) });
    for (const order_id of ['A', 'B', 'C'])
      harness.book.orders.push({
        id: harness.book.orders.length + 10,
        order_id,
        client_id: 1,
        amount: 5,
        description: 'x',
        status: 'new',
      });
    const csv = csvOf('order_id,client_id,status', ['A,1,paid', 'B,1,paid', 'C,1,paid']);
    const before = harness.book.requests.length;
    const run = await harness.load(csv, { existing: 'update' });
    expect(await harness.fates(run)).toEqual(['updated', 'updated', 'updated']);
    expect(run.calls).toBe(harness.book.requests.length - before);
    expect(harness.book.orders).toMatchObject(Array(3).fill({ amount: 5, description: 'x', status: 'paid' }));
    expect(harness.book.updates().filter((body) => !('amount' in body))).toHaveLength(1);
  },
);

test('texts that the list or the file has escaped for HTML are the same, and whole updates do not escape them twice', async () => {
  const show = ({ description, ...record }: BookRecord) => ({
    ...record,
    ...(description !== undefined && { description: String(description).replace('& c', '&amp; c') }),
  });
  begin({ updates: 'empty', show });
  const csv = csvOf('order_id,client_id,status,description', ['A,1,new,Tea & cake', 'B,1,new,Tea &amp; milk']);
  await harness.load(csv);
  const again = await harness.load(csv, { existing: 'update', salt: 'again' });
  expect(await harness.fates(again)).toEqual(['existing EXISTS', 'existing EXISTS']);
  await harness.load(csvOf('order_id,client_id,status', ['A,1,paid']), { existing: 'update' });
  expect(harness.book.orders[0]).toMatchObject({ status: 'paid', description: 'Tea & cake' });
});

test('the calls of a run include the look for what follows a list that may be cut off', async () => {
  begin({ customers: Array.from({ length: 20 }, (_, n) => ({ full_name: 'Ann', email: `ann${n}@example.com` })) });
  await harness.load(orders('A,1,5,new'));
  const before = harness.book.requests.length;
  const run = await harness.load(orders('B,1,5,new'));
  expect(run.calls).toBe(harness.book.requests.length - before);
});

test('amounts that cannot be read are not compared, and updated if that is wanted; the run says so', async () => {
  begin({ show: (record) => ({ ...record, amount: `about ${record.amount}` }) });
  const run = await harness.load(orders('A,1,5,new', 'B,1,6,new'));
  expect(await harness.fates(run)).toEqual(['created', 'created']);
  const other = await harness.load(orders('A,1,7,new'), { existing: 'update' });
  expect(await harness.fates(other)).toEqual(['updated']);
  for (const { notes } of [run, other])
    expect(notes.join()).toContain('amounts of orders were not compared with the file');
});

test('a tenant that is another one in the middle of the first load pauses it', async () => {
  let isOther = false;
  const show = (record: BookRecord) =>
    isOther && 'email' in record ? { ...record, full_name: 'Eve', email: 'eve@example.org' } : record;
  const customers = ['ann', 'ben', 'cy'].map((name) => ({ full_name: name, email: `${name}@example.com` }));
  const afterCreate = () => {
    if (!isOther) harness.book.orders.length = 0;
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

test('a tenant that is another one when the first load is approved gets no order', async () => {
  let isOther = false;
  const show = (record: BookRecord) =>
    isOther ? { ...record, full_name: `Eve ${record.id}`, email: `eve${record.id}@example.org` } : record;
  begin({ customers: ['ann', 'ben'].map((name) => ({ full_name: name, email: `${name}@example.com` })), show });
  const csv = csvOf('order_id,customer_email,amount', ['A,ann@example.com,5', 'B,ben@example.com,6']);
  const shown = await harness.load(csv, { confirm: true });
  isOther = true;
  await approveRun(harness.database.pool, shown, 'ann@office');
  await (await harness.workspace.work()).attend(await readRun(harness.database.pool, shown.id));
  const run = await ended(harness.database, shown.id);
  expect([run.status, run.errorCode, harness.book.orders]).toEqual(['paused', 'IDENTITY_UNCLEAR', []]);
  expect(run.error).toContain('2 of 2 known records are other records now');
  expect(run.error).toContain('Nothing was written');
});

test('a load that stops after it has written says how many rows were sent', async () => {
  begin({ show: ({ order_id: _, ...record }) => record });
  const run = await harness.load(orders('A,1,5,new', 'B,1,6,new'));
  expect(run.errorCode).toBe('SERVICE_UNREADABLE');
  expect(run.error).toContain('Before that, the run has sent 2 rows: 2 not confirmed.');
});

describe('a service that spells the order_ids of new orders in its own way', () => {
  const spelt = (record: BookRecord) => ({
    ...record,
    order_id: String(record.order_id).normalize('NFD').replace(/^#/, '').replaceAll('-', '–').replaceAll(/[ _]/g, '-'),
  });
  const rows = ['#1001', 'A 7', 'b_8', 'n-é'].map((label) => `${label},1,5,new`);

  test('gets each order once, and knows it in later loads', async () => {
    begin({ show: spelt, afterCreate: ({ id }) => (id % 2 === 0 ? { status: 502, body: 'no' } : undefined) });
    const run = await harness.load(orders(...rows));
    expect(await harness.fates(run)).toEqual(Array(4).fill('created'));
    expect(run.notes.join()).toMatch(/order_ids in another spelling, such as /);
    expect(await harness.fates(await harness.load(orders(...rows), { salt: 'again' }))).toEqual(
      Array(4).fill('existing EXISTS'),
    );
    const more = await harness.load(orders(...rows.map((row) => row.replace('5,new', '6,new'))), {
      existing: 'update',
    });
    expect(await harness.fates(more)).toEqual(Array(4).fill('updated'));
    expect(harness.book.orders.map(({ order_id, amount }) => [order_id, amount])).toEqual(
      ['#1001', 'A 7', 'b_8', 'n-é'].map((label) => [label, 6]),
    );
    const accents = await harness.load(orders('né,1,6,new'));
    expect(accents.notes).toContain('the service shows order_ids in another Unicode form, such as né');
  });

  test('does not get an order that may be there already', async () => {
    begin({});
    harness.book.orders.push({ id: 9, order_id: '1001', client_id: 1, amount: 5, status: 'new' });
    expect(await harness.fates(await harness.load(orders('#1001,1,5,new')))).toEqual(['review OTHER_LETTERS']);
    expect(harness.book.orders).toHaveLength(1);
  });
});

test('a customer whose id the orders show in other letters than the customers is the same', async () => {
  const uuid = '5F0C8B6E-7A0D-4C2E-9B1A-0D3E5F7A9B1C';
  const lower = (record: BookRecord) => ({ ...record, client_id: String(record.client_id).toLowerCase() });
  begin({ show: (record) => ('order_id' in record ? lower(record) : { ...record, id: uuid }) });
  harness.book.orders.push({ id: 9, order_id: 'OLD', client_id: uuid, amount: 5, status: 'new' });
  const csv = orders(`OLD,${uuid},5,new`, `NEW,${uuid},6,new`);
  expect(await harness.fates(await harness.load(csv))).toEqual(['existing EXISTS', 'created']);
  expect(await harness.fates(await harness.load(csv, { salt: 'again' }))).toEqual(Array(2).fill('existing EXISTS'));
  expect(harness.book.orders.map(({ client_id }) => client_id)).toEqual([uuid, uuid]);
});

describe('the first list of orders that a service shows', () => {
  const there = (ids: readonly number[]) => {
    for (const id of ids) harness.book.orders.push({ id, order_id: `O-${id}`, client_id: 1, amount: 5, status: 'new' });
  };
  const numbers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => from + n);
  const hiding = (...ids: readonly number[]): OrderBookOptions => ({
    show: (record, how) => (how === 'list' && ids.includes(record.id) ? undefined : record),
  });
  const HIDDEN: readonly (readonly [what: string, has: readonly number[], hides: readonly number[], named: number])[] =
    [
      ['skips an order between its ids', numbers(10, 19), [13], 13],
      ['begins after older orders', numbers(10, 19), [10, 11], 11],
      ['ends before newer orders', numbers(10, 25), numbers(19, 25), 19],
      ['ends before newer orders, of which some were removed', [10, 11, 14], [14], 14],
    ];

  test.each(HIDDEN)('creates nothing if it %s', async (_, has, hides, named) => {
    begin(hiding(...hides));
    there(has);
    const run = await harness.load(orders(`O-${named},1,5,new`, 'O-99,1,5,new'));
    expect(await harness.fates(run)).toEqual(['review LIST_PARTIAL', 'review LIST_PARTIAL']);
    expect(run.notes.join()).toContain(`it does not contain order ${named}, which the service returns by its id`);
    expect(harness.book.orders).toHaveLength(has.length);
  });

  test('creates nothing if it skips an id that counts behind letters', async () => {
    const named = (record: BookRecord) => ({ ...record, id: `ord_${String(record.id).padStart(4, '0')}` });
    begin({
      show: (record, how) => {
        if (how === 'list' && record.id === 13) return undefined;
        return 'order_id' in record ? named(record) : record;
      },
    });
    there(numbers(10, 19));
    await keepCutOff(harness.database.pool, 'test', 'orders', 'cut off');
    const run = await harness.load(orders('O-13,1,5,new'));
    await keepCutOff(harness.database.pool, 'test', 'orders');
    expect(await harness.fates(run)).toEqual(['review LIST_PARTIAL']);
    expect(run.notes.join()).toContain('the doctor found that the list of orders is cut off');
    expect(run.notes.join()).toContain('it does not contain order ord_0013');
  });

  test.each([
    ['end before', 20],
    ['skip', 15],
  ])('may %s an order that is created while it is read', async (_where, id) => {
    let reads = 0;
    begin({ show: (record, how) => (how === 'list' && record.id === id && reads++ === 0 ? undefined : record) });
    there(numbers(10, 20));
    const run = await harness.load(orders(`O-${id},1,5,new`, 'O-99,1,5,new'));
    expect(await harness.fates(run)).toEqual(['existing EXISTS', 'created']);
    expect(run.notes.join()).toContain(`waited to see whether the list of orders shows order ${id}, which may be new`);
  });

  test('may skip orders that say that they are deleted, and ids without an order', async () => {
    begin(hiding(13, 15));
    there(numbers(10, 14));
    Object.assign(harness.book.orders[3] ?? {}, { deleted_at: '2026-01-05T10:00:00Z' });
    there([16]);
    expect(await harness.fates(await harness.load(orders('O-99,1,5,new')))).toEqual(['created']);
  });

  test('may skip orders once a person has said that they were deleted', async () => {
    begin(hiding(13));
    there(numbers(10, 14));
    const { pool } = harness.database;
    await pool.query('update ledger.scopes set rebound_at = clock_timestamp()');
    expect(await harness.fates(await harness.load(orders('O-99,1,5,new')))).toEqual(['created']);
  });

  test('may list an order of the load later than the service shows it by its id', async () => {
    let [reads, createdAtMs] = [0, 0];
    const isLate = () => performance.now() < createdAtMs + SETTLE_MS;
    begin({
      afterCreate({ id }) {
        if (id === 3) createdAtMs = performance.now();
        return undefined;
      },
      show: (record, how) => (how === 'list' && record.id === 3 && reads++ < 2 && isLate() ? undefined : record),
    });
    const run = await harness.load(orders('A,1,5,new', 'B,1,6,new', 'C,1,7,new'));
    expect(await harness.fates(run)).toEqual(['created', 'created', 'created']);
    expect(run.notes.join()).not.toContain('partial');
  });
});
