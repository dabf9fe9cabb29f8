/**
 * No statement goes through more rows than a few times those of its run: a plan that compares each row with each other one is
 * quick in a small test and takes hours in a load of a million.
 */
import { afterAll, expect, test } from 'vitest';
import { seedWorkspace } from '../../src/service/testbed/seed.ts';
import { freshDatabase } from '../support/database.ts';
import { TEST_KEY } from '../support/harness/harness.ts';
import { csvOf, type LoadHow, openOrdersHarness } from '../support/harness/orders.ts';
import { byLength } from '../support/property-runs.ts';
import { type Work, watchWork } from '../support/statement-work.ts';

const MANY = 2_000;
/** From this many on, the rows of a run are analysed before statements about them. */
const CUSTOMERS = 1_000;
/** Far from each with each; plans differ from run to run while Postgres has no statistics. */
const MOST_EACH = 100;

const database = await freshDatabase();
const work = await watchWork(database);
const account = 'budget: { requests: 100000, per: 1s, concurrency: 16, settle: 100ms }';
// Small pages: what is done for each of them counts.
const syncs = { contacts: 'job: contacts, options: { rowsPerPage: 20 }' };
const harness = await openOrdersHarness({ database, account, syncs, hasFront: true });
afterAll(() => harness.close());

/** The statements of Lockstep that have gone through too many rows for `count` since the last call, all their executions together. */
function tooMuch(count = MANY): readonly Work[] {
  const sums = new Map<string, Work>();
  for (const one of work.take()) {
    const rows = one.rows + (sums.get(one.statement)?.rows ?? 0);
    sums.set(one.statement, { ...one, rows });
  }
  expect(sums.size).toBeGreaterThan(20);
  return [...sums.values()].filter(
    ({ rows, statement }) => rows > MOST_EACH * count && !statement.includes('service.'),
  );
}

/** Rows with `given` before the columns of the order. */
const orders = (header: string, given: (n: number) => string, amount = (n: number) => n + 1, count = MANY) =>
  csvOf(
    `order_id,${header},amount`,
    Array.from({ length: count }, (_, n) => `${header}-${n},${given(n)},${amount(n)}.50`),
  );

test('a sync of new contacts and of unclear ones, and of the same unchanged', async () => {
  const { pool } = harness.database;
  await seedWorkspace(pool, { contacts: MANY, tenants: [{ name: 'test', key: TEST_KEY }] });
  await pool.query(`insert into service.customers (tenant_id, fields)
    select tenant_id, jsonb_build_object('full_name', 'Other', 'email', fields->'email')
    from service.contacts, generate_series(1, 2) where id % 3 = 0`);
  const counts = await harness.counts(await harness.runSync());
  expect(counts.created).toBeGreaterThan(MANY / 2);
  expect(counts.review).toBeGreaterThan(MANY / 4);
  expect(tooMuch()).toEqual([]);
  await harness.runSync();
  expect(tooMuch()).toEqual([]);
});

const BY_NAME = orders('customer_name', (n) => `Buyer ${n % CUSTOMERS}`);

const LOADS: Readonly<Record<string, { readonly csv: string; readonly how?: LoadHow }>> = {
  'named by id': { csv: orders('client_id', (n) => String((n % CUSTOMERS) + 1)) },
  'named by id, with other amounts': {
    csv: orders(
      'client_id',
      (n) => String((n % CUSTOMERS) + 1),
      (n) => n + 2,
    ),
    how: { existing: 'update' },
  },
  'named by e-mail, for new customers': {
    csv: orders('customer_email', (n) => `new${n % CUSTOMERS}@example.com`),
    how: { createCustomers: true },
  },
  'named by e-mail': {
    csv: orders('customer_email', (n) => `new${n % CUSTOMERS}@example.com`),
    how: { salt: 'again' },
  },
  'named by a name': { csv: BY_NAME, how: { createCustomers: true } },
};

const all = Object.entries(LOADS);

test.each(byLength({ few: all.slice(2, 3), all }))(
  'a load of orders whose customers are %s',
  async (_, { csv, how }) => {
    work.take();
    const run = await harness.load(csv, how);
    expect((await harness.counts(run)).in).toBe(MANY);
    expect(tooMuch()).toEqual([]);
  },
);

test('a load of orders whose customers are unclear', async () => {
  await harness.database.pool.query(`insert into service.customers (tenant_id, fields)
    select 1, jsonb_build_object('full_name', 'Buyer ' || n) from generate_series(0, ${CUSTOMERS - 1}) n, generate_series(1, 2)`);
  work.take();
  const run = await harness.load(BY_NAME, { salt: 'unclear' });
  expect((await harness.counts(run)).review).toBe(MANY);
  expect(tooMuch()).toEqual([]);
});

const MISSING = 200;

test('a load of orders of which many are not at the service', async () => {
  const seen = new Set<string>();
  harness.front.set(async ({ path, body }, pass) => {
    if (!path.endsWith('/orders/create') || seen.has(body)) return pass();
    // Not several in a row: the account would be suspended for a while.
    return seen.add(body).size % 2 === 0 ? pass() : { status: 500, body: 'away' };
  });
  work.take();
  const csv = orders('client_id', (n) => String((n % 9) + 1), undefined, 2 * MISSING);
  const run = await harness.load(csv, { salt: 'missing' });
  expect(await harness.counts(run)).toMatchObject({ in: 2 * MISSING, created: 2 * MISSING });
  expect(tooMuch(2 * MISSING)).toEqual([]);
});
