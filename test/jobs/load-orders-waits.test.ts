/** A load beside the runs that write its account's customers: it waits for them, and continues however they end. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { beginRead } from '../../src/engine/ledger/match-index.ts';
import { endRun, pauseRun, supersedeRuns } from '../../src/engine/ledger/run-status.ts';
import { type Run, readRun, startRun } from '../../src/engine/ledger/runs.ts';
import type { Queryable } from '../../src/storage/queryable.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import { saveCheckpoint } from '../../src/syncs/orders/load-checkpoint.ts';
import { whileWaiting } from '../../src/syncs/orders/wait-for-run.ts';
import { putRows } from '../engine/ledger/fresh-ledger.ts';
import { ended } from '../support/harness/ended.ts';
import { openOrdersHarness } from '../support/harness/orders.ts';

const CSV = 'order_id,customer email,amount\nA,new@example.com,12.50\nB,new@example.com,7\n';

const harness = await openOrdersHarness();
beforeEach(() => harness.reset());
afterAll(() => harness.close());

async function aWriter(partOf?: string, db: Queryable = harness.database.pool): Promise<Run> {
  const begun = await startRun(db, {
    ...{ sync: partOf ? 'customers:x' : 'contacts', type: partOf ? 'customers' : 'contacts', account: 'test' },
    ...{ resource: 'customers', lane: 'batch', dryRun: false, options: {}, phase: 'of-another-version' },
    ...(partOf !== undefined && { partOf }),
  });
  return begun.run;
}

const pause = (run: Run) => pauseRun(harness.database.pool, run.id, { code: 'X', message: 'for a person' });

async function attend(run: Run): Promise<void> {
  const runner = await harness.workspace.work();
  await runner.attend(await readRun(harness.database.pool, run.id));
}

/** A load that waits for a run which creates its customer, with that run paused. */
/** A load whose customers another run creates; `isRead`: the database still has the read that found the missing ones. */
async function waiting({ isRead = true } = {}): Promise<{ load: Run; creator: Run }> {
  const { begun } = await harness.takeIn(CSV, { createCustomers: true });
  const creator = await aWriter(begun.run.id);
  const row = { source_id: 'email new@example.com', email: 'new@example.com', action: 'create' };
  await putRows(harness.database, creator, [row]);
  const checkpoint = { step: 'creating', isCleared: true, isRetried: false, creator: creator.id } as const;
  await saveCheckpoint(harness.database.pool, begun.run.id, checkpoint);
  if (isRead) await beginRead(harness.database.pool, begun.run.id, { kind: 'customer', pass: 0 });
  return { load: begun.run, creator };
}

async function verdicts(run: Run): Promise<readonly unknown[]> {
  return (await harness.loaded(run)).map(({ verdict, reason }) => [verdict, reason].filter(Boolean).join(' '));
}

/** A load that has reported that it waits for a contact sync. */
async function waitingFor(sync: Run): Promise<string> {
  const { begun } = await harness.takeIn(CSV, { createCustomers: true });
  await attend(begun.run);
  await expect
    .poll(async () => (await readRun(harness.database.pool, begun.run.id)).notes, { interval: 20 })
    .toContain(`waited for run ${sync.id} of contacts, which writes the same customers`);
  return begun.run.id;
}

const oneCustomer = async () =>
  expect((await harness.customers()).map(({ email }) => email)).toEqual(['new@example.com']);

test('a load waits for a contact sync that writes customers, reports it, and creates its own customers afterwards', async () => {
  const sync = await aWriter();
  const waiting = await waitingFor(sync);
  expect(await harness.customers()).toEqual([]);
  await endRun(harness.database.pool, sync.id, 'done');
  const load = await ended(harness.database, waiting);
  expect([load.status, await verdicts(load)]).toEqual(['done', ['created', 'created']]);
  await oneCustomer();
});

test('a customer that appears while the load waits is not created again', async () => {
  const sync = await aWriter();
  const waiting = await waitingFor(sync);
  await harness.addCustomers([{ email: 'new@example.com' }]);
  await endRun(harness.database.pool, sync.id, 'done');
  const load = await ended(harness.database, waiting);
  expect([load.status, await verdicts(load)]).toEqual(['done', ['created', 'created']]);
  await oneCustomer();
});

test('a load stops waiting for a run whose position was taken over: it looks for its customers and creates them again', async () => {
  const { load, creator } = await waiting();
  await inTransaction(harness.database.pool, async (db) => {
    await endRun(db, creator.id, 'failed', { code: 'X', message: 'x' });
    const other = await aWriter(undefined, db);
    await supersedeRuns(db, other);
    await endRun(db, other.id, 'done');
  });
  await attend(load);
  expect((await ended(harness.database, load.id)).status).toBe('done');
  expect(await verdicts(load)).toEqual(['created', 'created']);
  await oneCustomer();
});

test('orders whose customers were not created because of a cancellation are for a person', async () => {
  const { load, creator } = await waiting();
  await endRun(harness.database.pool, creator.id, 'cancelled');
  await attend(load);
  expect((await ended(harness.database, load.id)).status).toBe('done');
  expect(await verdicts(load)).toEqual(['review CUSTOMER_NOT_CREATED', 'review CUSTOMER_NOT_CREATED']);
  expect([await harness.customers(), await harness.orders()]).toEqual([[], []]);
});

test('customers that were read and lost by a crash of the database are read again', async () => {
  const { load, creator } = await waiting({ isRead: false });
  await endRun(harness.database.pool, creator.id, 'cancelled');
  await attend(load);
  expect((await ended(harness.database, load.id)).status).toBe('done');
  expect(await verdicts(load)).toEqual(['created', 'created']);
  await oneCustomer();
});

test('a load that waits for a run that awaits approval leads to its plan, not to a command that approves it', async () => {
  const { begun } = await harness.takeIn(CSV, { createCustomers: true });
  const sync = await aWriter();
  const { pool } = harness.database;
  const waits = { run: sync.id, sinceMs: 0 };
  const look = () => whileWaiting(pool, begun.run, { step: 'creating', isCleared: true, waits });
  await pauseRun(pool, sync.id, { code: 'AWAITS_CONFIRMATION', message: 'The run would write 2 contacts' });
  await expect(look()).rejects.toThrow(`approve or decline it: \`lockstep runs show ${sync.id}\``);
  await pool.query(`update ledger.runs set error_code = 'X' where id = $1`, [sync.id]);
  await expect(look()).rejects.toThrow(`Resume that run: \`lockstep runs resume ${sync.id}\`. Then:`);
  await pool.query(`update ledger.runs set job = 'orders' where id = $1`, [sync.id]); // a load whose file was corrected, perhaps
  await expect(look()).rejects.toThrow(`cancel that load instead: \`lockstep runs cancel ${sync.id}\`. Then:`);
});

test('while the creation of customers is paused, the load is paused for the same reason', async () => {
  const { load, creator } = await waiting();
  await pause(creator);
  await attend(load);
  const paused = await ended(harness.database, load.id);
  expect([paused.status, paused.errorCode]).toEqual(['paused', 'CUSTOMERS_PAUSED']);
  expect(paused.error).toContain(`${creator.id}, which creates the missing customers, is paused: for a person`);
});

test('when the creation of customers fails, the load fails for the same reason', async () => {
  const { load, creator } = await waiting();
  await endRun(harness.database.pool, creator.id, 'failed', { code: 'SERVICE_AWAY', message: 'it is away' });
  await attend(load);
  const failed = await ended(harness.database, load.id);
  expect([failed.status, failed.errorCode]).toEqual(['failed', 'SERVICE_AWAY']);
  expect(failed.error).toContain('it is away');
});

test('cancelling a load cancels the creation of its customers', async () => {
  const { load, creator } = await waiting();
  await endRun(harness.database.pool, load.id, 'cancelled');
  expect((await readRun(harness.database.pool, creator.id)).status).toBe('cancelled');
});
