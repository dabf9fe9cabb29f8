/** A person approves the first orders of a load, looks at them, and then decides about the others. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { cancelRun, reopenRun, retryLoad } from '../../src/operator/run-actions.ts';
import { planOf, writesOf } from '../../src/operator/run-plan.ts';
import { ended } from '../support/harness/ended.ts';
import { csvOf, eachOnce, openOrdersHarness, ordersCsv } from '../support/harness/orders.ts';

const harness = await openOrdersHarness({ hasFront: true });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

const now = ({ id }: Pick<Run, 'id'>) => readRun(harness.database.pool, id);

async function stopped({ id }: Pick<Run, 'id'>): Promise<Run> {
  await (await harness.workspace.work()).attend(await now({ id }));
  return ended(harness.database, id);
}

async function approve(run: Run, first?: number): Promise<Run> {
  await reopenRun(harness.database.pool, await now(run), { by: 'ann@office', first }, String);
  return stopped(run);
}

async function planned(run: Run): Promise<number> {
  return writesOf(await planOf(harness.database.pool, run, harness.workspace.settings));
}

const created = async () => (await harness.orders()).map(({ order_id }) => order_id).toSorted();

test('writes only the first orders, then plans the others again and waits until they are approved', async () => {
  const run = await harness.load(`${ordersCsv(5)}O-5,3,Order 5,5.25,new\n`, { confirm: true });
  expect(await planned(run)).toBe(5);
  const first = await approve(run, 2);
  expect([first.status, first.errorCode]).toEqual(['paused', 'AWAITS_CONFIRMATION']);
  expect(first.error).toContain('The first orders were approved before.');
  expect(await created()).toEqual(['O-1', 'O-2']);
  expect([await planned(first), first.planId === run.planId]).toEqual([3, false]);
  await approve(first, 1);
  expect(await created()).toEqual(['O-1', 'O-2', 'O-3']);
  expect((await approve(first)).status).toBe('done');
  expect(await harness.orderCommits()).toEqual(eachOnce(5));
  expect(await harness.tally(run)).toEqual({ in: 6, created: 5, existing: 1 });
});

test('retries a row without another approval once all orders were approved', async () => {
  const run = await harness.load(ordersCsv(3), { confirm: true });
  const first = await approve(run, 1);
  harness.front.set(async ({ path }, pass) => (path.endsWith('/orders/create') ? { status: 422, body: '{}' } : pass()));
  expect((await approve(first)).status).toBe('done');
  expect(await harness.tally(run)).toEqual({ in: 3, created: 1, rejected: 2 });
  harness.front.set();
  expect(await retryLoad(harness.database.pool, await now(run), String)).toBe(2);
  expect((await stopped(run)).status).toBe('done');
  expect(await harness.orderCommits()).toEqual(eachOnce(3));
});

test('creates only the customers of the first orders', async () => {
  const rows = [1, 2, 3, 4].map((n) => `O-${n},new${n}@example.com,${n}`);
  const csv = csvOf('order_id,customer_email,amount', rows);
  const run = await harness.load(csv, { confirm: true, createCustomers: true });
  await approve(run, 2);
  expect(
    (await harness.customers())
      .map(({ email }) => email)
      .slice(3)
      .sort(),
  ).toEqual(['new1@example.com', 'new2@example.com']);
  expect((await approve(run)).status).toBe('done');
  expect((await harness.customers()).length).toBe(7);
  expect(await harness.orderCommits()).toEqual(eachOnce(4));
});

/** As in `ordersCsv`. */
const order = (n: number) => ({ order_id: `O-${n}`, client_id: n + 1, description: `Order ${n}`, amount: n + 0.25 });

test('asks about the others also if the first orders exist by then', async () => {
  const run = await harness.load(ordersCsv(4), { confirm: true });
  for (const n of [1, 2]) await harness.call('orders.create', { ...order(n), status: 'new' });
  const first = await approve(run, 2);
  expect([first.errorCode, await planned(first)]).toEqual(['AWAITS_CONFIRMATION', 2]);
  expect(await created()).toEqual(['O-1', 'O-2']);
  expect((await approve(first)).status).toBe('done');
  expect(await harness.orderCommits()).toEqual(eachOnce(4));
});

test('leaves the others unsent if they are declined, and asks again if they are retried', async () => {
  const run = await harness.load(ordersCsv(4), { confirm: true });
  const first = await approve(run, 1);
  await cancelRun(harness.database.pool, first, 'ann@office');
  expect((await now(run)).error).toBe('Not approved by ann@office: nothing more was sent.');
  expect(await harness.tally(await now(run))).toEqual({ in: 4, created: 1, unknown: 3 });
  expect(await retryLoad(harness.database.pool, await now(run), String)).toBe(3);
  expect((await stopped(run)).errorCode).toBe('AWAITS_CONFIRMATION');
  expect(await created()).toEqual(['O-1']);
});

test('asks for the others if it was stopped while it wrote the first orders, and is retried', async () => {
  const { pool } = harness.database;
  const run = await harness.load(ordersCsv(4), { confirm: true });
  harness.front.set(async ({ path }, pass) => {
    if (path.endsWith('/orders/create')) await cancelRun(pool, await now(run), 'ann@office');
    return pass();
  });
  const cancelled = await approve(run, 1);
  harness.front.set();
  expect(cancelled.status).toBe('cancelled');
  await expect.poll(() => retryLoad(pool, cancelled, String).catch(() => 0)).toBe(4);
  expect((await stopped(run)).errorCode).toBe('AWAITS_CONFIRMATION');
  expect(await created()).toEqual(['O-1']);
});

test('refuses to approve the first rows of a run that is no load, or does not wait', async () => {
  const run = await harness.load(ordersCsv(2));
  const paused = { ...run, status: 'paused', errorCode: 'CUSTOMERS_PAUSED' } as const;
  const asked = reopenRun(harness.database.pool, paused, { by: 'ann@office', first: 1 }, String);
  const message = `Run ${run.id} is not a load that waits for approval, so its first orders cannot be approved alone. Resume that run: runs resume ${run.id}`;
  await expect(asked).rejects.toMatchObject({ code: 'NO_PLAN_OF_A_LOAD', message });
});
