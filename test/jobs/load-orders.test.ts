/** Orders over several loads of files, against the embedded service. */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { endRun, resumeRun } from '../../src/engine/ledger/run-status.ts';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { readRowStory } from '../../src/engine/ledger/views/row-story.ts';
import { reopenLoad } from '../../src/syncs/orders/reopen-load.ts';
import { ended } from '../support/harness/ended.ts';
import { csvOf, eachOnce, type LoadHow, openOrdersHarness, ordersCsv } from '../support/harness/orders.ts';

const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 300ms }';

const harness = await openOrdersHarness({ account: QUICK });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

/** Loads the file and expects exactly these counts and this many writes. */
async function loadTo(csv: string, counts: Record<string, number>, writes: number, how?: LoadHow): Promise<Run> {
  const before = harness.writesSeen();
  const run = await harness.load(csv, how);
  expect([run.status, run.error]).toEqual(['done', undefined]);
  expect(await harness.tally(run)).toEqual(counts);
  expect(harness.writesSeen() - before).toBe(writes);
  return run;
}

describe('a loaded file', () => {
  test('becomes orders with the right customer, amount and status, and every row gets its id', async () => {
    const run = await loadTo(ordersCsv(4), { in: 4, created: 4 }, 4);
    const orders = await harness.orders();
    const byLabel = new Map(orders.map((order) => [order.order_id, order]));
    expect(byLabel.get('O-2')).toMatchObject({ client_id: 3, description: 'Order 2', amount: 2.25, status: 'new' });
    const ids = (await harness.loaded(run)).map(({ recordId }) => Number(recordId));
    expect(ids).toEqual(['O-1', 'O-2', 'O-3', 'O-4'].map((label) => byLabel.get(label)?.id));
    // Lists, one of them twice because it is empty, and look-ups of ids that the first lists of customers and orders do not show.
    expect(run.calls).toBeLessThanOrEqual(4 + 10 + 10);
    const story = await readRowStory(harness.database.pool, run.id, '2');
    const attempt = { action: 'create', outcome: 'acked', httpStatus: 200, tookMs: expect.any(Number) };
    expect(story).toMatchObject({ attempts: [attempt], formerVerdicts: [], verdict: { verdict: 'created' } });
  });

  test('finds its customers by e-mail, phone and name, and rejects a row whose customer does not exist', async () => {
    await harness.addCustomers([{ full_name: 'Mia Fox', phone_number: '+49 30 555 0199' }]);
    const rows = ['A,customer2@example.com,,', 'B,,+49 (30) 555-0199,', 'C,,,mia FOX', 'D,unknown@example.com,,'];
    const csv = csvOf('order_id,customer_email,customer_phone,customer_name', rows);
    const run = await loadTo(csv, { in: 4, created: 3, rejected: 1 }, 3);
    expect((await harness.loaded(run))[3]).toMatchObject({ verdict: 'rejected', reason: 'CUSTOMER_UNKNOWN' });
    const owners = (await harness.orders()).map(({ order_id, client_id }) => `${order_id} ${client_id}`).sort();
    expect(owners).toEqual(['A 2', 'B 4', 'C 4']);
  });

  test('leaves a row that may mean two customers to a person, and sends nothing for it', async () => {
    await harness.addCustomers([{ full_name: 'Twin' }, { full_name: 'Twin' }]);
    const csv = csvOf('order_id,customer_name', ['A,Twin', 'B,Customer 1']);
    const run = await loadTo(csv, { in: 2, created: 1, review: 1 }, 1);
    expect((await harness.loaded(run))[0]).toMatchObject({ reason: 'AMBIGUOUS_CUSTOMER' });
  });

  test('sends identical rows once, and none of two contradicting rows', async () => {
    const rows = ['A,1,5', 'A,1,5', 'B,1,6', 'B,1,7', 'C,2,8'];
    const csv = csvOf('order_id,client_id,amount', rows);
    const run = await loadTo(csv, { in: 5, created: 2, existing: 1, invalid: 2 }, 2);
    const reasons = (await harness.loaded(run)).map(({ reason }) => reason);
    expect(reasons).toEqual([undefined, 'DUP_IN_FILE', 'ORDER_ID_REPEATED', 'ORDER_ID_REPEATED', undefined]);
    expect((await readRun(harness.database.pool, run.id)).notes).toEqual([
      'lines with the order_id and content of an earlier line are not sent, because they seem to be the same order: line 3. ' +
        'If they are items of one order, and each line has the amount of its item, combine the lines when you load the file (`--combine-lines sum`)',
    ]);
    expect([...(await harness.orderCommits()).keys()].sort()).toEqual(['A', 'C']);
  });

  test('names orders without an order_id by file and line, the same every time', async () => {
    const csv = csvOf('client_id,amount', ['1,5', '1,5', '2,7']);
    await loadTo(csv, { in: 3, created: 3 }, 3);
    const labels = (await harness.orders()).map(({ order_id }) => String(order_id)).sort();
    expect(labels.map((label) => label.replace(/[0-9a-f]{8}/, '8'))).toEqual(['LS-8-2', 'LS-8-3', 'LS-8-4']);
    await loadTo(csv, { in: 3, created: 3 }, 0); // the load that has ended, unchanged
    await loadTo(csv, { in: 3, existing: 3 }, 0, { salt: 'again' }); // evaluated again, by the names they have
  });
});

describe('a second load', () => {
  test('of the same file joins the first one: nothing is sent', async () => {
    const first = await loadTo(ordersCsv(5), { in: 5, created: 5 }, 5);
    const { begun } = await harness.takeIn(ordersCsv(5));
    expect([begun.status, begun.run.id]).toEqual(['finished', first.id]);
    expect(await harness.orderCommits()).toEqual(eachOnce(5));
  });

  test('of the same file with --again finds every order', async () => {
    await loadTo(ordersCsv(5), { in: 5, created: 5 }, 5);
    await loadTo(ordersCsv(5), { in: 5, existing: 5 }, 0, { salt: 'again' });
    expect(await harness.orderCommits()).toEqual(eachOnce(5));
  });

  test('of a file that overlaps creates only what is new', async () => {
    await loadTo(ordersCsv(5), { in: 5, created: 5 }, 5);
    await loadTo(ordersCsv(5, { from: 4 }), { in: 5, existing: 2, created: 3 }, 3);
    expect(await harness.orderCommits()).toEqual(eachOnce(8));
  });

  test('updates what differs where the options say so, and nothing else', async () => {
    await loadTo(ordersCsv(3), { in: 3, created: 3 }, 3);
    const changed = ordersCsv(3).replace('2.25', '99.5');
    await loadTo(changed, { in: 3, existing: 2, updated: 1 }, 1, { existing: 'update' });
    const orders = await harness.orders();
    expect(orders.find(({ order_id }) => order_id === 'O-2')).toMatchObject({ amount: 99.5, description: 'Order 2' });
    await loadTo(changed, { in: 3, existing: 3 }, 0, { existing: 'update', salt: 'again' });
  });

  test('leaves differing orders to a person and says how, by default', async () => {
    await loadTo(ordersCsv(1), { in: 1, created: 1 }, 1);
    const run = await loadTo(ordersCsv(1).replace('1.25', '99.5'), { in: 1, review: 1 }, 0);
    const [row] = await harness.loaded(run);
    expect(row).toMatchObject({
      reason: 'DIFFERS',
      facts: { differences: [{ field: 'amount', is: '1.25', expected: '99.5' }] },
    });
  });

  test('rejects existing orders where the options say so, and creates new ones', async () => {
    await loadTo(ordersCsv(2), { in: 2, created: 2 }, 2);
    const run = await loadTo(ordersCsv(3), { in: 3, created: 1, rejected: 2 }, 1, { existing: 'fail' });
    expect((await harness.loaded(run))[0]).toMatchObject({ reason: 'ORDER_EXISTS' });
  });

  test('clears no field that its file has no column for', async () => {
    await loadTo(ordersCsv(1), { in: 1, created: 1 }, 1);
    const csv = csvOf('order_id,client_id,status', ['O-1,2,paid']);
    await loadTo(csv, { in: 1, updated: 1 }, 1, { existing: 'update' });
    expect(await harness.orders()).toMatchObject([{ status: 'paid', amount: 1.25, description: 'Order 1' }]);
  });

  test('leaves an order that exists twice to a person, and changes neither', async () => {
    for (const _twice of [1, 2]) await harness.call('orders.create', { order_id: 'O-1', client_id: 2, amount: 1.25 });
    const run = await loadTo(ordersCsv(2), { in: 2, created: 1, review: 1 }, 1, { existing: 'update' });
    expect((await harness.loaded(run))[0]).toMatchObject({
      reason: 'DUPLICATE',
      facts: { before: true, ids: ['1', '2'] },
    });
  });
});

describe('a load that waits for a person', () => {
  test('in a dry run plans everything, sends no write and does not prevent loading the file', async () => {
    await harness.load(ordersCsv(1));
    const run = await loadTo(ordersCsv(3), { in: 3, existing: 1, created: 2 }, 0, { dryRun: true });
    expect((await harness.loaded(run)).map(({ reason }) => reason)).toEqual(['EXISTS', 'PLANNED', 'PLANNED']);
    await loadTo(ordersCsv(3), { in: 3, existing: 1, created: 2 }, 2);
  });

  test('writes nothing before the operator has approved it, and everything afterwards', async () => {
    const { begun } = await harness.takeIn(ordersCsv(3), { confirm: true });
    await (await harness.workspace.work()).attend(begun.run);
    const waiting = await ended(harness.database, begun.run.id);
    expect([waiting.status, waiting.errorCode, harness.writesSeen()]).toEqual(['paused', 'AWAITS_CONFIRMATION', 0]);
    await loadTo(ordersCsv(3), { in: 3, created: 3 }, 3, { confirm: true });
  });

  test('decides again when it is approved: an order created in between is not created twice', async () => {
    const { begun } = await harness.takeIn(ordersCsv(3), { confirm: true });
    await (await harness.workspace.work()).attend(begun.run);
    expect((await ended(harness.database, begun.run.id)).errorCode).toBe('AWAITS_CONFIRMATION');
    await harness.call('orders.create', { order_id: 'O-2', client_id: 3, amount: 2.25 });
    await loadTo(ordersCsv(3), { in: 3, created: 2, existing: 1 }, 2, { confirm: true });
    expect(await harness.orderCommits()).toEqual(eachOnce(3));
  });

  test('creates no customer before the operator has approved it', async () => {
    const csv = csvOf('order_id,customer_email', ['A,new@example.com']);
    const how = { confirm: true, createCustomers: true };
    const { begun } = await harness.takeIn(csv, how);
    await (await harness.workspace.work()).attend(begun.run);
    expect((await ended(harness.database, begun.run.id)).errorCode).toBe('AWAITS_CONFIRMATION');
    expect([harness.writesSeen(), await harness.customers()]).toMatchObject([0, { length: 3 }]);
    await loadTo(csv, { in: 1, created: 1 }, 2, how);
  });
});

describe('a load that is stopped', () => {
  /** Begins the load and stops it with `stop` when some of its orders are created. */
  async function stoppedMidway(csv: string, stop: (runId: string) => Promise<unknown>): Promise<Run> {
    const { begun } = await harness.takeIn(csv);
    await (await harness.workspace.work()).attend(begun.run);
    await expect.poll(() => harness.service.traffic.total('orders.create'), { interval: 1 }).toBeGreaterThan(0);
    await stop(begun.run.id);
    return ended(harness.database, begun.run.id);
  }

  test('by cancelling leaves the rest unprocessed; the same file then creates exactly the rest', async () => {
    const csv = ordersCsv(1_500);
    const cancelled = await stoppedMidway(csv, (id) => endRun(harness.database.pool, id, 'cancelled'));
    expect(cancelled.status).toBe('cancelled');
    const before = await harness.tally(cancelled);
    expect([before.in, before.unknown]).toEqual([1_500, expect.any(Number)]);
    const next = await harness.load(csv);
    expect([next.status, next.id === cancelled.id]).toEqual(['done', false]);
    const { created = 0, existing = 0 } = await harness.tally(next);
    expect([created + existing, existing > 0, created > 0]).toEqual([1_500, true, true]);
    expect(await harness.orderCommits()).toEqual(eachOnce(1_500));
  });

  test('by a failure resumes where it was, with nothing twice', async () => {
    const error = { code: 'SERVICE_AWAY', message: 'it was away' };
    const failed = await stoppedMidway(ordersCsv(1_500), (id) => endRun(harness.database.pool, id, 'failed', error));
    expect(await resumeRun(harness.database.pool, failed.id)).toBe(true);
    await (await harness.workspace.work()).attend(await readRun(harness.database.pool, failed.id));
    const done = await ended(harness.database, failed.id);
    expect([done.status, await harness.tally(done)]).toEqual(['done', { in: 1_500, created: 1_500 }]);
    expect(await harness.orderCommits()).toEqual(eachOnce(1_500));
  });
});

describe('a retry', () => {
  test('takes only what failed, and leaves succeeded rows unchanged', async () => {
    const csv = csvOf('order_id,customer_email', ['A,customer1@example.com', 'B,late@example.com', 'C,x@example.com']);
    const run = await loadTo(csv, { in: 3, created: 1, rejected: 2 }, 1);
    await harness.addCustomers([{ full_name: 'Late', email: 'late@example.com' }]);
    expect(await reopenLoad(harness.database.pool, run.id)).toBe(2);
    await (await harness.workspace.work()).attend(await readRun(harness.database.pool, run.id));
    const again = await ended(harness.database, run.id);
    expect(await harness.tally(again)).toEqual({ in: 3, created: 2, rejected: 1 });
    expect(Object.fromEntries(await harness.orderCommits())).toEqual({ A: 1, B: 1 });
  });

  test('does nothing where nothing failed', async () => {
    const run = await harness.load(ordersCsv(2));
    expect(await reopenLoad(harness.database.pool, run.id)).toBe(0);
    expect((await readRun(harness.database.pool, run.id)).status).toBe('done');
  });
});
