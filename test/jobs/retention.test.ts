/** After retention has deleted old rows and runs, nothing is written twice. */
import pino from 'pino';
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import { prune } from '../../src/cli/workspace/retention.ts';
import { startRoles } from '../../src/cli/workspace/roles.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { reopenLoad } from '../../src/syncs/orders/reopen-load.ts';
import { ended } from '../support/harness/ended.ts';
import { csvOf, eachOnce, openOrdersHarness, ordersCsv } from '../support/harness/orders.ts';
import { PATIENT } from '../support/patient.ts';

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }';

const harness = await openOrdersHarness({ account: QUICK, retention: '{ rows: 90d, runs: 400d }' });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

/** Makes everything in the ledger 500 days older. */
async function makeOld(): Promise<void> {
  await harness.database.pool.query(
    `update ledger.runs set created_at = created_at - interval '500 days', ended_at = ended_at - interval '500 days'`,
  );
}

/** Deletes what retention does not keep for 500 days. */
async function pruneLater() {
  await makeOld();
  return prune(harness.database.pool, harness.workspace.settings);
}

test('a sync of contacts writes nothing for unchanged contacts, and finds the changed one', async () => {
  await harness.addContacts([
    { first_name: 'Ann', email: 'ann@example.com' },
    { first_name: 'Ben', email: 'ben@example.com' },
  ]);
  expect(await harness.tally(await harness.runSync())).toEqual({ in: 2, created: 2 });
  expect(await harness.tally(await harness.runSync())).toEqual({ in: 2, unchanged: 2 });
  expect(await pruneLater()).toEqual({ rows: 2, runs: 1, deliveries: 0, inbox: 0 });
  const before = harness.writesSeen();
  expect(await harness.tally(await harness.runSync())).toEqual({ in: 2, unchanged: 2 });
  expect(harness.writesSeen()).toBe(before);
  await harness.editContact(1, { last_name: 'Lee' });
  expect(await harness.tally(await harness.runSync())).toEqual({ in: 2, updated: 1, unchanged: 1 });
  expect(harness.writesSeen() - before).toBe(1);
});

test('a contact that must not be sent again stays with a person', async () => {
  await harness.addContacts([{ first_name: 'Ann', email: 'ann@example.com' }]);
  await harness.runSync();
  const customer = (await harness.customers()).find(({ email }) => email === 'ann@example.com');
  await harness.remove('customer', Number(customer?.id));
  await harness.editContact(1, { last_name: 'Lee' });
  for (const _night of [1, 2, 3]) {
    const run = await harness.runSync();
    expect(await harness.rows(run)).toMatchObject([{ verdict: 'review', reason: 'CUSTOMER_GONE' }]);
    await pruneLater();
  }
});

test('the same file is known, and creates nothing', async () => {
  const csv = ordersCsv(4);
  const run = await harness.load(csv);
  expect((await pruneLater()).rows).toBe(4);
  const { begun } = await harness.takeIn(csv);
  expect([begun.status, begun.run.id]).toEqual(['finished', run.id]);
  expect(await harness.tally(begun.run)).toEqual({ in: 4, created: 4 });
  expect(await harness.tally(await harness.load(csv, { salt: 'again' }))).toEqual({ in: 4, existing: 4 });
  expect(await harness.orderCommits()).toEqual(eachOnce(4));
});

test('the file of a load that was cancelled creates only what is missing', async () => {
  const csv = ordersCsv(4);
  const run = await harness.load(csv);
  await harness.database.pool.query(`update ledger.runs set status = 'paused', ended_at = null where id = $1`, [
    run.id,
  ]);
  await endRun(harness.database.pool, run.id, 'cancelled');
  expect((await pruneLater()).rows).toBe(4);
  const isLeft = async () => {
    await pruneLater(); // a run that a process still holds is deleted the next time
    return (await harness.database.pool.query('select from ledger.runs where id = $1', [run.id])).rowCount;
  };
  await expect.poll(isLeft).toBe(0);
  expect(await harness.tally(await harness.load(csv))).toEqual({ in: 4, existing: 4 });
  expect(await harness.orderCommits()).toEqual(eachOnce(4));
});

test('a load is retried for the rows that are left, and keeps the counts of the others', async () => {
  await harness.addCustomers([{ full_name: 'Twin' }, { full_name: 'Twin' }]);
  const run = await harness.load(csvOf('order_id,customer_name', ['A,Twin', 'B,Customer 1', 'C,Unknown']));
  expect(await harness.tally(run)).toEqual({ in: 3, created: 1, rejected: 1, review: 1 });
  expect((await pruneLater()).rows).toBe(2);
  expect(await reopenLoad(harness.database.pool, run.id)).toBe(1);
  await (await harness.workspace.work()).attend(await readRun(harness.database.pool, run.id));
  const second = await ended(harness.database, run.id);
  expect(second.status).toBe('done');
  expect(await harness.tally(second)).toEqual({ in: 3, created: 1, rejected: 1, review: 1 });
});

test('the role worker deletes what is too old', async () => {
  const run = await harness.load(ordersCsv(4));
  await makeOld();
  const log = pino({ level: 'silent' });
  await startRoles(harness.workspace, new Set(['worker']), { port: 0, listen: '127.0.0.1', log, say: () => {} });
  await vi.waitFor(async () => expect((await readRun(harness.database.pool, run.id)).rowsPruned).toBe(4), PATIENT);
});
