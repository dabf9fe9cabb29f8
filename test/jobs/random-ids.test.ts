/**
 * Services whose ids are random, or numbers with gaps, so that the ids of records that a list hides cannot be named: what
 * hides records is found in other ways.
 */
import { createHash } from 'node:crypto';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { openBookHarness } from '../support/harness/order-book.ts';
import { csvOf } from '../support/harness/orders.ts';
import type { BookRecord } from '../support/order-book.ts';

const harness = await openBookHarness();
beforeEach(() => harness.reset());
afterAll(() => harness?.close());

const uuid = (id: number) =>
  createHash('sha256')
    .update(String(id))
    .digest('hex')
    .replace(/^(.{8})(.{4})(.{4})(.{4})(.{12}).*/, '$1-$2-$3-$4-$5');
const ANN = uuid(1);
/** Of a sequence that many tenants share. */
const shared = (id: number) => 5_000 + 13 * id;

/** Begins with this many customers, and orders O-1, O-2, … of the first; lists leave out records that `hides` names. */
function begin(
  hides: (record: BookRecord) => boolean,
  {
    customers = 1,
    orders = 37,
    refused = '',
    refusedAs = 422,
    isTwice = false,
    idOf = uuid as (id: number) => string | number,
  } = {},
): void {
  harness.book.begin({
    afterCreate: (order) => {
      if (isTwice) harness.book.orders.push({ ...order, id: order.id + 5_000 });
      return undefined;
    },
    refuses: ({ order_id }) => order_id === refused,
    refusedAs,
    customers: Array.from({ length: customers }, (_, n) => ({ full_name: `C${n}`, email: `c${n}@example.com` })),
    show: (record, how) => (how === 'list' && hides(record) ? undefined : { ...record, id: idOf(record.id) }),
  });
  for (let n = 1; n <= orders; n++)
    harness.book.orders.push({ id: 1_000 + n, order_id: `O-${n}`, client_id: idOf(1), amount: 5, status: 'new' });
}

const csv = (from: number, to: number, client: string | number = ANN) =>
  csvOf(
    'order_id,client_id,amount,status',
    Array.from({ length: to - from + 1 }, (_, n) => `O-${from + n},${client},5,new`),
  );
const alone = 'created one order first, to see whether the list of orders shows it';

test('creates one order first, and the others once the list shows it; later loads begin with all', async () => {
  begin(() => false);
  const run = await harness.load(csv(36, 40));
  expect(await harness.fates(run)).toEqual([...Array(2).fill('existing EXISTS'), ...Array(3).fill('created')]);
  expect(run.notes).toContain(alone);
  const later = await harness.load(csv(39, 43));
  expect(await harness.fates(later)).toEqual([...Array(2).fill('existing EXISTS'), ...Array(3).fill('created')]);
  expect([later.notes.includes(alone), harness.book.orders.length]).toEqual([false, 43]);
});

test('creates no other order, and says why, if the list shows the first one twice', async () => {
  const { book } = harness;
  begin(() => false, { isTwice: true });
  const run = await harness.load(csv(36, 40));
  const fates = [...Array(2).fill('existing EXISTS'), 'review DUPLICATE', ...Array(2).fill('review LIST_PARTIAL')];
  expect(await harness.fates(run)).toEqual(fates);
  const why = 'no other order was created, because the list of orders shows the first one more than once';
  expect([run.notes.includes(why), book.orders.length]).toEqual([true, 39]);
});

test.each([
  ['random', uuid],
  ['of a sequence that tenants share', shared],
])('creates no other order if the list does not show the first, in later loads too (ids are %s)', async (_, idOf) => {
  begin(({ id, order_id }) => order_id !== undefined && (id < 1_000 || id > 1_030), { idOf });
  const run = await harness.load(csv(31, 37, idOf(1)));
  expect(await harness.fates(run)).toEqual(['review NOT_IN_LIST', ...Array(6).fill('review LIST_PARTIAL')]);
  expect(run.notes).toContain('no other order was created, because the list of orders did not confirm the first one');
  const later = await harness.load(csv(32, 37, idOf(1)));
  expect(await harness.fates(later)).toEqual(['review NOT_IN_LIST', ...Array(5).fill('review LIST_PARTIAL')]);
  expect(harness.book.orders).toHaveLength(39);
});

test.each([
  ['numbers', (id: number) => id, 0],
  ['random', uuid, 1],
  ['of a sequence that tenants share', shared, 1],
])(
  'creates at most one order that a list hides since it has grown to the size of a page (ids are %s)',
  async (_, idOf, created) => {
    const isOrder = ({ order_id }: BookRecord) => order_id !== undefined;
    begin((record) => isOrder(record) && harness.book.orders.findIndex(({ id }) => id === record.id) >= 50, { idOf });
    await harness.load(csv(36, 39, idOf(1)));
    for (let n = 40; n <= 60; n++)
      harness.book.orders.push({ id: 1_000 + n, order_id: `O-${n}`, client_id: idOf(1), amount: 5, status: 'new' });
    const run = await harness.load(csv(49, 55, idOf(1)));
    const hidden = [...Array(created).fill('review NOT_IN_LIST'), ...Array(5 - created).fill('review LIST_PARTIAL')];
    expect(await harness.fates(run)).toEqual([...Array(2).fill('existing EXISTS'), ...hidden]);
    expect(harness.book.orders).toHaveLength(60 + created);
  },
);

test('creates no other order if the first one pushes another out of the list', async () => {
  begin(({ id }) => harness.book.orders.slice(0, -30).some((order) => order.id === id));
  const run = await harness.load(csv(1, 7));
  expect(await harness.fates(run)).toEqual(['created', ...Array(6).fill('review LIST_PARTIAL')]);
  expect(run.notes.join()).toContain(`it does not contain order ${uuid(1_008)}, which the service returns by its id`);
  expect(harness.book.orders).toHaveLength(38);
});

const DIFFERS = 'review CONTENT_DIFFERS';
test.each([
  ['shows', true, Array(3).fill(DIFFERS)],
  ['hides', false, [DIFFERS, ...Array(2).fill('review LIST_PARTIAL')]],
])('of a first order with other content, what counts is whether the list %s it', async (_, isListed, expected) => {
  const shown = (record: BookRecord) => ({ ...record, id: uuid(record.id), status: 'odd' });
  harness.book.begin({
    customers: [{ full_name: 'C0', email: 'c0@example.com' }],
    show: (record, how) => (how === 'get' || isListed || record.status !== 'late' ? shown(record) : undefined),
    afterCreate: (record) => ({ body: { status: 'success', content: shown(record), message: 'OK' } }),
  });
  harness.book.orders.push({ id: 1_001, order_id: 'O-1', client_id: ANN, amount: 5, status: 'new' });
  const run = await harness.load(csv(38, 40).replaceAll(',new', ',late'));
  expect(await harness.fates(run)).toEqual(expected);
});

test.each([
  [422, 'rejected REFUSED_BY_SERVICE'],
  [500, 'review GAVE_UP'],
])('tries the next order first if the service answers the first one with a %s', async (refusedAs, fate) => {
  begin(() => false, { refused: 'O-38', refusedAs });
  const run = await harness.load(csv(38, 40));
  expect(await harness.fates(run)).toEqual([fate, 'created', 'created']);
  expect(run.notes.filter((note) => note.startsWith(alone))).toHaveLength(1);
});

test('creates no customer if an order names one that the list of customers hides', async () => {
  begin(({ email }) => email === 'c0@example.com', { customers: 3 });
  const rows = ['A,c0@example.com,5', 'B,new@example.com,5'];
  const run = await harness.load(csvOf('order_id,customer_email,amount', rows), { createCustomers: true });
  expect(await harness.fates(run)).toEqual(Array(2).fill('review LIST_PARTIAL'));
  expect(run.notes.join()).toContain(`it does not contain customer ${ANN}, which the service returns by its id`);
  expect([harness.book.customers.length, harness.book.orders.length]).toEqual([3, 37]);
});

test('creates customers if an order names one that was removed', async () => {
  begin(() => false, { customers: 3 });
  harness.book.customers.shift();
  const rows = ['A,c1@example.com,5', 'B,new@example.com,5'];
  const run = await harness.load(csvOf('order_id,customer_email,amount', rows), { createCustomers: true });
  expect(await harness.fates(run)).toEqual(['created', 'created']);
});
