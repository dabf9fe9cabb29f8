/** Loads that create the customers they miss: each customer once, whoever else wants it at the same time. */
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import {
  endRun,
  listRuns,
  type NewRun,
  pauseRun,
  type Run,
  readRun,
  resumeRun,
  startRun,
} from '../../src/engine/ledger/runs.ts';
import { reopenLoad } from '../../src/orders/reopen.ts';
import { type FrontServer, startFrontServer } from '../support/front-server.ts';
import { csvOf, type OrdersBed, openOrdersBed } from '../support/orders-bed.ts';
import { ended } from '../support/sync-bed.ts';

/** Slow enough to look at a run in its midst. */
const SLOW = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 150ms, concurrency: 2 }';
const CREATE = { createCustomers: true };

let bed: OrdersBed;
let front: FrontServer;
beforeAll(async () => {
  front = await startFrontServer();
  bed = await openOrdersBed({ account: SLOW, behaviour: { latencyMs: 10 }, serviceUrl: front.url });
  front.passTo(bed.service.url);
});
beforeEach(() => bed.reset());
afterAll(async () => {
  await bed.close();
  await front.close();
});

/** One order each of customers that are not there. */
function ofNewCustomers(count: number, { from = 1, prefix = 'O' } = {}): string {
  const numbers = Array.from({ length: count }, (_, i) => from + i);
  const rows = numbers.map((n) => `${prefix}-${n},New ${n},new${n}@example.com`);
  return csvOf('order_id,customer_name,customer_email', rows);
}

/** The run that creates the load's customers, once it has made some of them. */
async function creatorAtWork(load: Run): Promise<Run> {
  const made = () => bed.service.traffic.total('customers.create');
  await expect.poll(made, { timeout: 20_000, interval: 1 }).toBeGreaterThan(0);
  const creator = (await listRuns(bed.database.pool, 10)).find(({ partOf }) => partOf === load.id);
  if (!creator) throw new Error('nothing creates customers');
  return creator;
}

async function begin(csv: string): Promise<Run> {
  const { begun } = await bed.takeIn(csv, CREATE);
  await (await bed.workspace.work()).attend(begun.run);
  return begun.run;
}

/** Takes the run up and waits until it stops. */
async function goOn({ id }: Run): Promise<Run> {
  await (await bed.workspace.work()).attend(await readRun(bed.database.pool, id));
  return ended(bed.database, id);
}

async function emails(): Promise<readonly unknown[]> {
  return (await bed.customers()).map(({ email }) => email).sort();
}

const newEmails = (count: number) => Array.from({ length: count }, (_, i) => `new${i + 1}@example.com`).sort();

test('many rows of one missing customer create it once, with all that its row says', async () => {
  const rows = ['A,Ann Lee,ann@example.com,Lee Ltd', 'B,,Ann@Example.com,', 'C,,ann@example.com,'];
  const csv = csvOf('order_id,customer_name,customer_email,organization', rows);
  const run = await bed.load(csv, CREATE);
  expect([run.error, await bed.tally(run)]).toEqual([undefined, { in: 3, created: 3 }]);
  expect(await bed.customers()).toMatchObject([{ full_name: 'Ann Lee', organization: 'Lee Ltd' }]);
  expect((await bed.orders()).map(({ client_id }) => client_id)).toEqual([1, 1, 1]);
});

test('a row that has a phone only waits for the customer that another row gives with an e-mail', async () => {
  const rows = ['A,Ann Lee,ann@example.com,+49 30 555 0101', 'B,,,+49 30 555 0101'];
  const run = await bed.load(csvOf('order_id,customer_name,customer_email,customer_phone', rows), CREATE);
  expect(await bed.tally(run)).toEqual({ in: 2, created: 2 });
  expect(await emails()).toEqual(['ann@example.com']);
});

test('run dry: nobody is created, and the orders are planned', async () => {
  const run = await bed.load(ofNewCustomers(3), { ...CREATE, dryRun: true });
  expect([bed.writesSeen(), await bed.tally(run)]).toEqual([0, { in: 3, created: 3 }]);
});

test('a customer that the service refuses takes only its own orders with it', async () => {
  front.set(async ({ body }, pass) =>
    body.includes('gone@') ? { status: 422, body: { status: 'error', message: 'no such mailbox' } } : pass(),
  );
  onTestFinished(() => front.set());
  const csv = csvOf('order_id,customer_email', ['A,gone@example.com', 'B,ann@example.com']);
  const run = await bed.load(csv, CREATE);
  const [refused, other] = await bed.loaded(run);
  expect(refused).toMatchObject({ verdict: 'rejected', reason: 'CUSTOMER_NOT_CREATED' });
  const because = { facts: { answer: expect.stringContaining('no such mailbox') } };
  expect([refused?.facts, other?.verdict]).toMatchObject([{ because }, 'created']);
  expect(await emails()).toEqual(['ann@example.com']);
});

describe('while its customers are created, the run that creates them', () => {
  const away = { code: 'SERVICE_AWAY', message: 'it was away' };

  test('fails: the load fails with it, says why, and goes on with it', async () => {
    const load = await begin(ofNewCustomers(40));
    const creator = await creatorAtWork(load);
    await endRun(bed.database.pool, creator.id, 'failed', away);
    const failed = await ended(bed.database, load.id);
    expect([failed.status, failed.errorCode]).toEqual(['failed', 'SERVICE_AWAY']);
    expect(failed.error).toContain(creator.id);
    expect(await resumeRun(bed.database.pool, load.id)).toBe(true);
    await (await bed.workspace.work()).attend(await readRun(bed.database.pool, creator.id));
    expect(await bed.tally(await goOn(load))).toEqual({ in: 40, created: 40 });
    expect(await emails()).toEqual(newEmails(40));
  });

  test('is paused: the load pauses, and resuming takes both up', async () => {
    const load = await begin(ofNewCustomers(40));
    const creator = await creatorAtWork(load);
    await pauseRun(bed.database.pool, creator.id, { code: 'SHAPE_CHANGED', message: 'it looks odd' });
    const paused = await ended(bed.database, load.id);
    expect([paused.status, paused.errorCode]).toEqual(['paused', 'CUSTOMERS_PAUSED']);
    expect(await resumeRun(bed.database.pool, load.id)).toBe(true);
    await (await bed.workspace.work()).attend(await readRun(bed.database.pool, creator.id));
    expect(await bed.tally(await goOn(load))).toEqual({ in: 40, created: 40 });
    expect(await emails()).toEqual(newEmails(40));
  });

  test('is cancelled: orders of those that were made are loaded, the others are for a person', async () => {
    const load = await begin(ofNewCustomers(40));
    await endRun(bed.database.pool, (await creatorAtWork(load)).id, 'cancelled');
    const done = await ended(bed.database, load.id);
    expect([done.status, done.error]).toEqual(['done', undefined]);
    const { created = 0, review = 0 } = await bed.tally(done);
    expect([created + review, review > 0]).toEqual([40, true]);
    expect(await reopenLoad(bed.database.pool, load.id)).toBe(review);
    expect(await bed.tally(await goOn(load))).toEqual({ in: 40, created: 40 });
    expect(await emails()).toEqual(newEmails(40));
  });

  test('is cancelled with its load', async () => {
    const load = await begin(ofNewCustomers(40));
    const creator = await creatorAtWork(load);
    await endRun(bed.database.pool, load.id, 'cancelled');
    expect((await readRun(bed.database.pool, creator.id)).status).toBe('cancelled');
    const next = await bed.load(ofNewCustomers(40), CREATE);
    expect(await bed.tally(next)).toEqual({ in: 40, created: 40 });
    expect(await emails()).toEqual(newEmails(40));
  });
});

describe('at the same time', () => {
  test('a contact sync imports the same people: nobody is there twice', async () => {
    await bed.addContacts(newEmails(20).map((email) => ({ first_name: 'New', last_name: email, email })));
    const sync = await bed.beginSync();
    const load = await bed.load(ofNewCustomers(30), CREATE);
    expect([load.error, await bed.tally(load)]).toEqual([undefined, { in: 30, created: 30 }]);
    expect((await ended(bed.database, sync.id)).status).toBe('done');
    expect(await emails()).toEqual(newEmails(30));
  });

  test('a contact sync begins while customers are created: it waits its turn, and nobody is there twice', async () => {
    await bed.addContacts(newEmails(20).map((email) => ({ first_name: 'New', last_name: email, email })));
    const load = await begin(ofNewCustomers(30));
    const creator = await creatorAtWork(load);
    const busy = await bed.workspace.startSync('contacts', { lane: 'batch', dryRun: false });
    expect([busy.status, busy.run.id]).toEqual(['busy', creator.id]);
    await ended(bed.database, load.id);
    expect(await bed.tally(await bed.runSync())).toMatchObject({ in: 20, existing: 20 });
    expect(await emails()).toEqual(newEmails(30));
  });

  test('two loads that miss the same customers create them once, and both get all their orders', async () => {
    const [one, other] = [await begin(ofNewCustomers(20)), await begin(ofNewCustomers(20, { from: 11, prefix: 'P' }))];
    for (const { id } of [one, other]) {
      const done = await ended(bed.database, id);
      expect([done.status, done.error, await bed.tally(done)]).toEqual(['done', undefined, { in: 20, created: 20 }]);
    }
    expect(await emails()).toEqual(newEmails(30));
  });

  test('a sync wrote customers after the load had read them: they are read again, and nobody is there twice', async () => {
    const { pool } = bed.database;
    let reads = 0;
    front.set(async ({ path }, pass) => {
      const read = await pass();
      if (path.endsWith('/customers/getall') && ++reads === 1) {
        const sync = await startRun(pool, SYNC);
        await bed.addCustomers([{ full_name: 'New 1', email: 'new1@example.com' }]);
        await endRun(pool, sync.run.id, 'done');
      }
      return read;
    });
    onTestFinished(() => front.set());
    const load = await bed.load(ofNewCustomers(2), CREATE);
    expect(await bed.tally(load)).toEqual({ in: 2, created: 2 });
    expect(await emails()).toEqual(newEmails(2));
  });
});

const SYNC: NewRun = {
  sync: 'contacts',
  job: 'contacts',
  account: 'test',
  resource: 'customers',
  lane: 'batch',
  dryRun: false,
  options: {},
  phase: 'finished-by-the-test',
};
