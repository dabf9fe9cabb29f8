/** Loads that create the customers they miss: each customer once, even when other runs need it at the same time. */
import { afterAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { remedyFor } from '../../src/base/reasons/reasons.ts';
import { approveRun } from '../../src/engine/ledger/approval.ts';
import { decide } from '../../src/engine/ledger/decisions.ts';
import { endRun, pauseRun, resumeRun } from '../../src/engine/ledger/run-status.ts';
import { type NewRun, type Run, readRun, startRun } from '../../src/engine/ledger/runs.ts';
import { reviewItems } from '../../src/engine/ledger/views/review-items.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import { reopenLoad } from '../../src/syncs/orders/reopen-load.ts';
import { CONTACT_RUN } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import { csvOf, openOrdersHarness } from '../support/harness/orders.ts';
import { listRuns } from '../support/newest-runs.ts';

/** Slow enough to inspect a run midway. */
const SLOW = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 150ms, concurrency: 2 }';
const CREATE = { createCustomers: true };

const harness = await openOrdersHarness({ account: SLOW, behaviour: { latencyMs: 10 }, hasFront: true });
beforeEach(() => harness.reset());
afterAll(() => harness.close());

/** One order each of customers that do not exist. */
function ofNewCustomers(count: number, { from = 1, prefix = 'O' } = {}): string {
  const numbers = Array.from({ length: count }, (_, i) => from + i);
  const rows = numbers.map((n) => `${prefix}-${n},New ${n},new${n}@example.com`);
  return csvOf('order_id,customer_name,customer_email', rows);
}

/** The run that creates the load's customers, once it has created some of them. */
async function creatorAtWork(load: Run): Promise<Run> {
  const made = () => harness.service.traffic.total('customers.create');
  await expect.poll(made, { interval: 1 }).toBeGreaterThan(0);
  const creator = (await listRuns(harness.database.pool, 10)).find(({ run }) => run.partOf === load.id)?.run;
  if (!creator) throw new Error('nothing creates customers');
  return creator;
}

async function begin(csv: string): Promise<Run> {
  const { begun } = await harness.takeIn(csv, CREATE);
  await (await harness.workspace.work()).attend(begun.run);
  return begun.run;
}

/** Resumes the run and waits until it stops. */
async function resumeLoad({ id }: Run): Promise<Run> {
  await (await harness.workspace.work()).attend(await readRun(harness.database.pool, id));
  return ended(harness.database, id);
}

async function emails(): Promise<readonly unknown[]> {
  return (await harness.customers()).map(({ email }) => email).sort();
}

const newEmails = (count: number) => Array.from({ length: count }, (_, i) => `new${i + 1}@example.com`).sort();

test('many rows of one missing customer create it once, with all the data of its row', async () => {
  const rows = ['A,Ann Lee,ann@example.com,Lee Ltd', 'B,,Ann@Example.com,', 'C,,ann@example.com,'];
  const csv = csvOf('order_id,customer_name,customer_email,organization', rows);
  const run = await harness.load(csv, CREATE);
  expect([run.error, await harness.tally(run)]).toEqual([undefined, { in: 3, created: 3 }]);
  expect(await harness.customers()).toMatchObject([{ full_name: 'Ann Lee', organization: 'Lee Ltd' }]);
  expect((await harness.orders()).map(({ client_id }) => client_id)).toEqual([1, 1, 1]);
});

test('a row with only a phone waits for the customer that another row gives with an e-mail', async () => {
  const rows = ['A,Ann Lee,ann@example.com,+49 30 555 0101', 'B,,,+49 30 555 0101'];
  const run = await harness.load(csvOf('order_id,customer_name,customer_email,customer_phone', rows), CREATE);
  expect(await harness.tally(run)).toEqual({ in: 2, created: 2 });
  expect(await emails()).toEqual(['ann@example.com']);
});

test('a customer whose e-mail was corrected at the service is not created again, and its orders neither', async () => {
  await harness.load(ofNewCustomers(2), CREATE);
  const one = (await harness.customers()).find(({ email }) => email === 'new1@example.com');
  await harness.call('customers.update', { ...one, email: 'corrected@example.com' });
  const csv = `${ofNewCustomers(3)}O-9,New 1,new1@example.com\n`; // the same file with two more orders
  const run = await harness.load(csv, CREATE);
  expect(await harness.tally(run)).toEqual({ in: 4, existing: 1, created: 1, review: 2 });
  const reasons = (await harness.loaded(run)).map(({ line, reason }) => [line, reason]);
  expect(reasons).toEqual([
    [2, 'CUSTOMER_UNCLEAR'],
    [3, 'EXISTS'],
    [4, undefined],
    [5, 'CUSTOMER_UNCLEAR'],
  ]);
  expect([(await harness.customers()).length, (await harness.orders()).length]).toEqual([3, 3]);
  // A file that has only new orders of it.
  const later = await harness.load(ofNewCustomers(1, { prefix: 'P' }), CREATE);
  expect(await harness.loaded(later)).toMatchObject([{ verdict: 'review', reason: 'CUSTOMER_UNCLEAR' }]);
  expect((await harness.customers()).length).toBe(3);
});

test('a customer that a contact sync has linked, and whose e-mail was corrected since, is not created again', async () => {
  await harness.addContacts([{ first_name: 'New', last_name: '1', email: 'new1@example.com' }]);
  await harness.runSync();
  const [one] = await harness.customers();
  await harness.call('customers.update', { ...one, email: 'corrected@example.com' });
  const run = await harness.load(ofNewCustomers(2), CREATE);
  expect(await harness.loaded(run)).toMatchObject([
    { verdict: 'review', reason: 'CUSTOMER_UNCLEAR', facts: { customer: String(one?.id) } },
    { verdict: 'created' },
  ]);
  expect((await harness.customers()).length).toBe(2);
});

test('a customer that a load has created, and whose e-mail was corrected since, is not created again for its contact', async () => {
  await harness.load(ofNewCustomers(1), CREATE);
  const [one] = await harness.customers();
  await harness.call('customers.update', { ...one, email: 'corrected@example.com' });
  await harness.addContacts(
    [1, 2].map((n) => ({ first_name: 'Any', last_name: `Body ${n}`, email: `new${n}@example.com` })),
  );
  expect(await harness.tally(await harness.runSync())).toEqual({ in: 2, created: 1, review: 1 });
  const [item] = await reviewItems(harness.database.pool);
  expect(item).toMatchObject({ reason: 'NOT_RECOGNISED', facts: { ids: [String(one?.id)] } });
  expect((await harness.customers()).length).toBe(2);
});

test.each([
  ['belongs to another customer', { client_id: 2 }],
  ['has another order_id', { order_id: 'X' }],
])('an order of an earlier load that %s now is not created again', async (_, change) => {
  await harness.addNumberedCustomers(2);
  const rows = ['A,1,5', 'B,2,6'];
  await harness.load(csvOf('order_id,client_id,amount', rows));
  const order = (await harness.orders()).find(({ order_id }) => order_id === 'A');
  await harness.call('orders.update', { ...order, ...change });
  const run = await harness.load(csvOf('order_id,client_id,amount', [...rows, 'C,1,7']));
  const [changed, ...others] = await harness.loaded(run);
  expect([changed?.reason, changed?.recordId]).toEqual(['ORDER_CHANGED', String(order?.id)]);
  expect(others.map(({ verdict, reason }) => [verdict, reason])).toEqual([
    ['existing', 'EXISTS'],
    ['created', undefined],
  ]);
  const items = await reviewItems(harness.database.pool);
  const ignored = items.map((item) => ({ item, choice: 'ignore', record: undefined, note: undefined }) as const);
  await inTransaction(harness.database.pool, (db) => decide(db, ignored, 'ann@office'));
  const later = await harness.load(csvOf('order_id,client_id,amount', [...rows, 'C,1,7', 'D,1,8']));
  expect(await harness.tally(later)).toEqual({ in: 4, existing: 3, created: 1 });
  expect(await harness.orders()).toHaveLength(4);
});

test('an order that a dry run has found, and that belongs to another customer now, is not created again', async () => {
  await harness.addNumberedCustomers(2);
  await harness.call('orders.create', { order_id: 'A', client_id: 1, amount: 4 });
  const csv = csvOf('order_id,client_id,amount', ['A,1,5']);
  await harness.load(csv, { dryRun: true, existing: 'update' });
  await harness.call('orders.update', { ...(await harness.orders())[0], client_id: 2 });
  const [changed] = await harness.loaded(await harness.load(csv, { existing: 'update' }));
  expect(changed).toMatchObject({ verdict: 'review', reason: 'ORDER_CHANGED' });
  expect(await harness.orders()).toHaveLength(1);
});

test('of many customers it keeps only those that a row may mean, and recognises a new one', async () => {
  await harness.addNumberedCustomers(60);
  await harness.call('customers.create', { full_name: 'Pia', phone_number: '+49 30 555 0101' });
  const rows = [
    'A,,customer50@example.com,,',
    'B,,new@example.com,,',
    'C,0051,,,',
    'D,,,+49 (30) 555-0101,',
    'E,,,,customer 52',
  ];
  const header = 'order_id,client_id,customer_email,customer_phone,customer_name';
  const run = await harness.load(csvOf(header, rows), { ...CREATE, confirm: true });
  const kept = await harness.database.pool.query(`select record_id from ledger.records where run_id = $1 order by 1`, [
    run.id,
  ]);
  expect(kept.rows.map(({ record_id }) => Number(record_id)).filter((id) => id > 10)).toEqual([50, 51, 52, 61]);
  await approveRun(harness.database.pool, run, 'ann@office');
  expect(await harness.tally(await resumeLoad(run))).toEqual({ in: 5, created: 5 });
  const clients = (await harness.orders()).map(({ order_id, client_id }) => `${order_id} ${client_id}`);
  expect(clients.toSorted()).toEqual(['A 50', 'B 62', 'C 51', 'D 61', 'E 52']);
});

test('a dry run creates no customer, and plans the orders', async () => {
  const run = await harness.load(ofNewCustomers(3), { ...CREATE, dryRun: true });
  expect([harness.writesSeen(), await harness.tally(run)]).toEqual([0, { in: 3, created: 3 }]);
});

test('a customer that the service refuses rejects only its own orders', async () => {
  harness.front.set(async ({ body }, pass) =>
    body.includes('gone@') ? { status: 422, body: { status: 'error', message: 'no such mailbox' } } : pass(),
  );
  onTestFinished(() => harness.front.set());
  const csv = csvOf('order_id,customer_email', ['A,gone@example.com', 'B,ann@example.com']);
  const run = await harness.load(csv, CREATE);
  const [refused, other] = await harness.loaded(run);
  expect(refused).toMatchObject({ verdict: 'rejected', reason: 'CUSTOMER_NOT_CREATED' });
  const because = { facts: { answer: expect.stringContaining('no such mailbox') } };
  expect([refused?.facts, other?.verdict]).toMatchObject([{ because }, 'created']);
  expect(await emails()).toEqual(['ann@example.com']);
});

describe('while its customers are created, the run that creates them', () => {
  const away = { code: 'SERVICE_AWAY', message: 'it was away' };

  test('fails: the load fails with it, says why, and resumes together with it', async () => {
    const load = await begin(ofNewCustomers(40));
    const creator = await creatorAtWork(load);
    await endRun(harness.database.pool, creator.id, 'failed', away);
    const failed = await ended(harness.database, load.id);
    expect([failed.status, failed.errorCode]).toEqual(['failed', 'SERVICE_AWAY']);
    expect(failed.error).toContain(creator.id);
    expect(await resumeRun(harness.database.pool, load.id)).toBe(true);
    await (await harness.workspace.work()).attend(await readRun(harness.database.pool, creator.id));
    expect(await harness.tally(await resumeLoad(load))).toEqual({ in: 40, created: 40 });
    expect(await emails()).toEqual(newEmails(40));
  });

  test('is paused: the load pauses, and resuming the load resumes both', async () => {
    const load = await begin(ofNewCustomers(40));
    const creator = await creatorAtWork(load);
    await pauseRun(harness.database.pool, creator.id, { code: 'SHAPE_CHANGED', message: 'it looks odd' });
    const paused = await ended(harness.database, load.id);
    expect([paused.status, paused.errorCode]).toEqual(['paused', 'CUSTOMERS_PAUSED']);
    expect(remedyFor('CUSTOMERS_PAUSED', { run: load.id })).toContain(`\`lockstep runs resume ${load.id}\``);
    expect(await resumeRun(harness.database.pool, load.id)).toBe(true);
    await (await harness.workspace.work()).attend(await readRun(harness.database.pool, creator.id));
    expect(await harness.tally(await resumeLoad(load))).toEqual({ in: 40, created: 40 });
    expect(await emails()).toEqual(newEmails(40));
  });

  test('is cancelled: orders of the customers that were created are loaded, the others are for a person', async () => {
    const load = await begin(ofNewCustomers(40));
    await endRun(harness.database.pool, (await creatorAtWork(load)).id, 'cancelled');
    const done = await ended(harness.database, load.id);
    expect([done.status, done.error]).toEqual(['done', undefined]);
    const { created = 0, review = 0 } = await harness.tally(done);
    expect([created + review, review > 0]).toEqual([40, true]);
    expect(await reopenLoad(harness.database.pool, load.id)).toBe(review);
    expect(await harness.tally(await resumeLoad(load))).toEqual({ in: 40, created: 40 });
    expect(await emails()).toEqual(newEmails(40));
  });

  test('is cancelled with its load', async () => {
    const load = await begin(ofNewCustomers(40));
    const creator = await creatorAtWork(load);
    await endRun(harness.database.pool, load.id, 'cancelled');
    expect((await readRun(harness.database.pool, creator.id)).status).toBe('cancelled');
    const next = await harness.load(ofNewCustomers(40), CREATE);
    expect(await harness.tally(next)).toEqual({ in: 40, created: 40 });
    expect(await emails()).toEqual(newEmails(40));
  });
});

describe('at the same time', () => {
  test('a contact sync imports the same people: each customer exists once', async () => {
    await harness.addContacts(newEmails(20).map((email) => ({ first_name: 'New', last_name: email, email })));
    const sync = await harness.beginSync();
    const load = await harness.load(ofNewCustomers(30), CREATE);
    expect([load.error, await harness.tally(load)]).toEqual([undefined, { in: 30, created: 30 }]);
    expect((await ended(harness.database, sync.id)).status).toBe('done');
    expect(await emails()).toEqual(newEmails(30));
  });

  test('a contact sync that begins while customers are created waits, and each customer exists once', async () => {
    await harness.addContacts(newEmails(20).map((email) => ({ first_name: 'New', last_name: email, email })));
    const load = await begin(ofNewCustomers(30));
    const creator = await creatorAtWork(load);
    const busy = await harness.workspace.startSync('contacts', { lane: 'batch', dryRun: false });
    expect([busy.status, busy.run.id]).toEqual(['busy', creator.id]);
    await ended(harness.database, load.id);
    expect(await harness.tally(await harness.runSync())).toMatchObject({ in: 20, existing: 20 });
    expect(await emails()).toEqual(newEmails(30));
  });

  test('two loads that miss the same customers create them once, and both get all their orders', async () => {
    const [one, other] = [await begin(ofNewCustomers(20)), await begin(ofNewCustomers(20, { from: 11, prefix: 'P' }))];
    for (const { id } of [one, other]) {
      const done = await ended(harness.database, id);
      expect([done.status, done.error, await harness.tally(done)]).toEqual([
        'done',
        undefined,
        { in: 20, created: 20 },
      ]);
    }
    expect(await emails()).toEqual(newEmails(30));
  });

  test('a sync wrote customers after the load had read them: the load reads them again, and each customer exists once', async () => {
    const { pool } = harness.database;
    let reads = 0;
    harness.front.set(async ({ path }, pass) => {
      const read = await pass();
      if (path.endsWith('/customers/getall') && ++reads === 1) {
        const sync = await startRun(pool, SYNC);
        await harness.addCustomers([{ full_name: 'New 1', email: 'new1@example.com' }]);
        await endRun(pool, sync.run.id, 'done');
      }
      return read;
    });
    onTestFinished(() => harness.front.set());
    const load = await harness.load(ofNewCustomers(2), CREATE);
    expect(await harness.tally(load)).toEqual({ in: 2, created: 2 });
    expect(await emails()).toEqual(newEmails(2));
  });
});

const SYNC: NewRun = { ...CONTACT_RUN, phase: 'finished-by-the-test' };
