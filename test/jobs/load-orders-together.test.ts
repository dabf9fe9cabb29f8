/** Several processes that work on one load, and loads side by side. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Workspace } from '../../src/cli/workspace/open-workspace.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { cancelRun, retryLoad } from '../../src/operator/run-actions.ts';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { ended } from '../support/harness/ended.ts';
import { eachOnce, type OrdersHarness, openOrdersHarness, ordersCsv } from '../support/harness/orders.ts';
import { describeWithRedis } from '../support/redis.ts';

const ORDERS = 150;
/** Slow enough for a process to be stopped during its load. */
const SLOW = 'budget: { requests: 200, per: 1s, burst: 5, timeout: 1s, settle: 400ms, concurrency: 4 }';
const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 300ms, concurrency: 4 }';
const FAULTS: BehaviourOptions = { faults: { seed: 3, rate: 0.05, kinds: ['reset-after', '5xx-before'] } };

async function openLoads(needs: Parameters<typeof openOrdersHarness>[0]): Promise<OrdersHarness> {
  const harness = await openOrdersHarness(needs);
  onTestFinished(() => harness.close());
  await harness.addNumberedCustomers(3);
  return harness;
}

const callsOf = async (workspace: Workspace) => (await workspace.accounts.open('test')).budgetStats().used;

function processesSuite(redisUrl?: string): void {
  test('a load that three processes may work on creates each order once', async () => {
    const harness = await openLoads({ account: SLOW, behaviour: FAULTS, redisUrl });
    const workers = [harness.workspace, await harness.anotherWorkspace(), await harness.anotherWorkspace()];
    const { begun } = await harness.takeIn(ordersCsv(ORDERS));
    for (const worker of workers) await (await worker.work()).attend(begun.run);
    const done = await ended(harness.database, begun.run.id);
    expect([done.status, done.error, await harness.tally(done)]).toEqual([
      'done',
      undefined,
      { in: ORDERS, created: ORDERS },
    ]);
    expect(await harness.orderCommits()).toEqual(eachOnce(ORDERS));
  });

  test('a process that stops hands its load over to the other process', async () => {
    const harness = await openLoads({ account: SLOW, behaviour: FAULTS, redisUrl });
    const [first, second] = [harness.workspace, await harness.anotherWorkspace()];
    const { begun } = await harness.takeIn(ordersCsv(ORDERS));
    await (await first.work()).attend(begun.run);
    await expect.poll(() => harness.service.traffic.total('orders.create')).toBeGreaterThan(20);
    await second.work();
    await first.close();
    const done = await ended(harness.database, begun.run.id);
    expect([done.status, done.error, await callsOf(second)]).toEqual(['done', undefined, expect.any(Number)]);
    expect(await harness.orderCommits()).toEqual(eachOnce(ORDERS));
    expect(await callsOf(second)).toBeGreaterThan(0);
  });
}

describe('on Postgres', () => processesSuite());
describeWithRedis('on Redis', ({ url }) => processesSuite(url));

test('a file that is loaded twice at the same moment is one load', async () => {
  const harness = await openLoads({ account: QUICK });
  const both = await Promise.allSettled([harness.takeIn(ordersCsv(50)), harness.takeIn(ordersCsv(50))]);
  const ids = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value.begun.run.id] : []));
  const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect([new Set(ids).size, refused.filter((code) => code !== 'LOAD_BEING_RECEIVED')]).toEqual([1, []]);
  const run = await harness.load(ordersCsv(50));
  expect([ids, await harness.orderCommits()]).toEqual([expect.arrayContaining([run.id]), eachOnce(50)]);
});

test('two loads with orders in common, with faults: each order once, and the later load waits for the earlier one', async () => {
  const harness = await openLoads({ account: QUICK, behaviour: { ...FAULTS, latencyMs: 25 } });
  const { begun } = await harness.takeIn(ordersCsv(60));
  await (await harness.workspace.work()).attend(begun.run);
  await expect.poll(() => harness.service.traffic.total('orders.create'), { interval: 1 }).toBeGreaterThan(0);
  const other = await harness.load(ordersCsv(60, { from: 31 }).replaceAll(',new', ',fresh'));
  expect(await harness.tally(other)).toEqual({ in: 60, created: 30, review: 30 }); // there with another status
  expect(await harness.tally(await ended(harness.database, begun.run.id))).toEqual({ in: 60, created: 60 });
  expect(await harness.orderCommits()).toEqual(eachOnce(90));
});

test('the next load waits for the calls in flight of a cancelled load, and duplicates no order', async () => {
  const harness = await openLoads({ account: QUICK.replace('settle: 300ms', 'settle: 4s'), hasFront: true });
  harness.front.set(async ({ method }, pass) => {
    const answer = await pass();
    return method === 'POST' ? undefined : answer; // the calls are still in flight when the next load begins
  });
  const { begun } = await harness.takeIn(ordersCsv(16));
  await (await harness.workspace.work()).attend(begun.run);
  await expect.poll(() => harness.service.traffic.total('orders.create'), { interval: 1 }).toBeGreaterThan(0);
  await endRun(harness.database.pool, begun.run.id, 'cancelled');
  harness.front.set();
  const next = await harness.load(ordersCsv(16));
  const { in: sum, existing = 0, created = 0 } = await harness.tally(next);
  expect([sum, existing + created, existing > 0]).toEqual([16, 16, true]);
  expect(next.notes[0]).toBe('waited for unsettled rows of an earlier load');
  expect(await harness.orderCommits()).toEqual(eachOnce(16));
});

test.each(['skip', 'fail'] as const)(
  'orders that a load sent before it was cancelled are its own when it is retried: %s',
  async (existing) => {
    const harness = await openLoads({ account: QUICK, behaviour: { latencyMs: 20 } });
    const { pool } = harness.database;
    const { begun } = await harness.takeIn(ordersCsv(60), { existing });
    await (await harness.workspace.work()).attend(begun.run);
    await expect.poll(() => harness.service.traffic.total('orders.create'), { interval: 1 }).toBeGreaterThan(5);
    await cancelRun(pool, begun.run, 'ann@office');
    await expect.poll(async () => retryLoad(pool, await readRun(pool, begun.run.id), String).catch(() => 0)).toBe(60);
    await (await harness.workspace.work()).attend(await readRun(pool, begun.run.id));
    expect(await harness.tally(await ended(harness.database, begun.run.id))).toEqual({ in: 60, created: 60 });
    expect(await harness.orderCommits()).toEqual(eachOnce(60));
  },
);

test('a failed load loses the orders that another load has taken over, and sends only the rest', async () => {
  const harness = await openLoads({ account: QUICK, behaviour: { latencyMs: 20 } });
  const { begun } = await harness.takeIn(ordersCsv(60));
  await (await harness.workspace.work()).attend(begun.run);
  await expect.poll(() => harness.service.traffic.total('orders.create'), { interval: 1 }).toBeGreaterThan(5);
  await endRun(harness.database.pool, begun.run.id, 'failed', { code: 'SERVICE_AWAY', message: 'it was away' });
  const other = await harness.load(ordersCsv(40, { from: 41 }));
  expect(await harness.tally(other)).toMatchObject({ in: 40 });
  const resumed = await harness.load(ordersCsv(60));
  expect([resumed.id, resumed.status]).toEqual([begun.run.id, 'done']);
  expect((await readRun(harness.database.pool, other.id)).status).toBe('done');
  expect(await harness.orderCommits()).toEqual(eachOnce(80));
});
