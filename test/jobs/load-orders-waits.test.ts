/** A load beside the runs that write its account's customers: it waits for them, and goes on however they end. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { inTransaction } from '../../src/database/transaction.ts';
import { beginRead } from '../../src/engine/ledger/records.ts';
import {
  endRun,
  pauseRun,
  type Queryable,
  type Run,
  readRun,
  startRun,
  supersedeRuns,
} from '../../src/engine/ledger/runs.ts';
import { keepPlace } from '../../src/orders/place.ts';
import { putRows } from '../engine/ledger/fresh-ledger.ts';
import { type OrdersBed, openOrdersBed } from '../support/orders-bed.ts';
import { ended } from '../support/sync-bed.ts';

const CSV = 'order_id,customer email,amount\nA,new@example.com,12.50\nB,new@example.com,7\n';

let bed: OrdersBed;
beforeAll(async () => {
  bed = await openOrdersBed();
});
beforeEach(() => bed.reset());
afterAll(() => bed.close());

async function aWriter(partOf?: string, db: Queryable = bed.database.pool): Promise<Run> {
  const begun = await startRun(db, {
    ...{ sync: partOf ? 'customers:x' : 'contacts', job: partOf ? 'customers' : 'contacts', account: 'test' },
    ...{ resource: 'customers', lane: 'batch', dryRun: false, options: {}, phase: 'of-another-version' },
    ...(partOf !== undefined && { partOf }),
  });
  return begun.run;
}

const pause = (run: Run) => pauseRun(bed.database.pool, run.id, { code: 'X', message: 'for a person' });

async function attend(run: Run): Promise<void> {
  const runner = await bed.workspace.work();
  await runner.attend(await readRun(bed.database.pool, run.id));
}

/** A load that waits for a run which makes its customer, with that run paused. */
/** A load whose customers another run makes; `isRead`: the database still has the read that found who is missing. */
async function waiting({ isRead = true } = {}): Promise<{ load: Run; creator: Run }> {
  const { begun } = await bed.takeIn(CSV, { createCustomers: true });
  const creator = await aWriter(begun.run.id);
  const row = { source_id: 'email new@example.com', email: 'new@example.com', action: 'create' };
  await putRows(bed.database, creator, [row]);
  await keepPlace(bed.database.pool, begun.run.id, { step: 'creating', isShown: false, creator: creator.id });
  if (isRead) await beginRead(bed.database.pool, begun.run.id, { kind: 'customer', pass: 0 });
  return { load: begun.run, creator };
}

async function verdicts(run: Run): Promise<readonly unknown[]> {
  return (await bed.loaded(run)).map(({ verdict, reason }) => [verdict, reason].filter(Boolean).join(' '));
}

/** A load that has said that it waits for a contact sync. */
async function waitingFor(sync: Run): Promise<string> {
  const { begun } = await bed.takeIn(CSV, { createCustomers: true });
  await attend(begun.run);
  await expect
    .poll(async () => (await readRun(bed.database.pool, begun.run.id)).notes, { timeout: 10_000, interval: 20 })
    .toContain(`waited for run ${sync.id} of contacts, which writes the same customers`);
  return begun.run.id;
}

const oneCustomer = async () => expect((await bed.customers()).map(({ email }) => email)).toEqual(['new@example.com']);

test('a load waits for a contact sync that writes customers, says so, and makes its own after it', async () => {
  const sync = await aWriter();
  const waiting = await waitingFor(sync);
  expect(await bed.customers()).toEqual([]);
  await endRun(bed.database.pool, sync.id, 'done');
  const load = await ended(bed.database, waiting);
  expect([load.status, await verdicts(load)]).toEqual(['done', ['created', 'created']]);
  await oneCustomer();
});

test('a customer that appears while the load waits is not made again', async () => {
  const sync = await aWriter();
  const waiting = await waitingFor(sync);
  await bed.addCustomers([{ email: 'new@example.com' }]);
  await endRun(bed.database.pool, sync.id, 'done');
  const load = await ended(bed.database, waiting);
  expect([load.status, await verdicts(load)]).toEqual(['done', ['created', 'created']]);
  await oneCustomer();
});

test('a run whose place was taken over is no more waited for: its customers are looked for and made anew', async () => {
  const { load, creator } = await waiting();
  await inTransaction(bed.database.pool, async (db) => {
    await endRun(db, creator.id, 'failed', { code: 'X', message: 'x' });
    const other = await aWriter(undefined, db);
    await supersedeRuns(db, other);
    await endRun(db, other.id, 'done');
  });
  await attend(load);
  expect((await ended(bed.database, load.id)).status).toBe('done');
  expect(await verdicts(load)).toEqual(['created', 'created']);
  await oneCustomer();
});

test('where the making of customers was cancelled, their orders are for a person', async () => {
  const { load, creator } = await waiting();
  await endRun(bed.database.pool, creator.id, 'cancelled');
  await attend(load);
  expect((await ended(bed.database, load.id)).status).toBe('done');
  expect(await verdicts(load)).toEqual(['review CUSTOMER_NOT_CREATED', 'review CUSTOMER_NOT_CREATED']);
  expect([await bed.customers(), await bed.orders()]).toEqual([[], []]);
});

test('customers that were read and lost by a crash of the database are read again', async () => {
  const { load, creator } = await waiting({ isRead: false });
  await endRun(bed.database.pool, creator.id, 'cancelled');
  await attend(load);
  expect((await ended(bed.database, load.id)).status).toBe('done');
  expect(await verdicts(load)).toEqual(['created', 'created']);
  await oneCustomer();
});

test('where the making of customers stands still, so does the load, with its reason', async () => {
  const { load, creator } = await waiting();
  await pause(creator);
  await attend(load);
  const paused = await ended(bed.database, load.id);
  expect([paused.status, paused.errorCode]).toEqual(['paused', 'CUSTOMERS_PAUSED']);
  expect(paused.error).toContain(`${creator.id}, which creates customers for it, is paused: for a person`);
});

test('where the making of customers has failed, so has the load, for the same reason', async () => {
  const { load, creator } = await waiting();
  await endRun(bed.database.pool, creator.id, 'failed', { code: 'SERVICE_AWAY', message: 'it is away' });
  await attend(load);
  const failed = await ended(bed.database, load.id);
  expect([failed.status, failed.errorCode]).toEqual(['failed', 'SERVICE_AWAY']);
  expect(failed.error).toContain('it is away');
});

test('cancelling a load cancels the making of its customers', async () => {
  const { load, creator } = await waiting();
  await endRun(bed.database.pool, load.id, 'cancelled');
  expect((await readRun(bed.database.pool, creator.id)).status).toBe('cancelled');
});
