/** Loads that several processes work at, and loads side by side. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Workspace } from '../../src/cli/wire.ts';
import { endRun, readRun } from '../../src/engine/ledger/runs.ts';
import type { BehaviourOptions } from '../../src/service/behaviour.ts';
import { eachOnce, type OrdersBed, openOrdersBed, ordersCsv } from '../support/orders-bed.ts';
import { describeWithRedis } from '../support/redis.ts';
import { ended } from '../support/sync-bed.ts';

const ORDERS = 150;
/** Slow enough for every process to have a hand in it. */
const SLOW = 'budget: { requests: 200, per: 1s, burst: 5, timeout: 1s, settle: 400ms, concurrency: 4 }';
const QUICK = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 300ms, concurrency: 4 }';
const FAULTS: BehaviourOptions = { faults: { seed: 3, rate: 0.05, kinds: ['reset-after', '5xx-before'] } };

async function openBed(account: string, behaviour: BehaviourOptions = {}, redisUrl?: string): Promise<OrdersBed> {
  const bed = await openOrdersBed({ account, behaviour, ...(redisUrl !== undefined && { redisUrl }) });
  onTestFinished(() => bed.close());
  await bed.addNumberedCustomers(3);
  return bed;
}

const callsOf = async (workspace: Workspace) => (await workspace.accounts.open('test')).client.stats().calls;

function processesSuite(redisUrl?: string): void {
  test('three processes on one load: each has a hand in it, and each order is there once', async () => {
    const bed = await openBed(SLOW, FAULTS, redisUrl);
    const workers = [bed.workspace, await bed.anotherWorkspace(), await bed.anotherWorkspace()];
    const { begun } = await bed.takeIn(ordersCsv(ORDERS));
    for (const worker of workers) await (await worker.work()).attend(begun.run);
    const done = await ended(bed.database, begun.run.id);
    expect([done.status, done.error, await bed.tally(done)]).toEqual([
      'done',
      undefined,
      { in: ORDERS, created: ORDERS },
    ]);
    expect(await bed.orderCommits()).toEqual(eachOnce(ORDERS));
    const calls = await Promise.all(workers.map(callsOf));
    expect(calls.filter((n) => n > 0).length).toBeGreaterThanOrEqual(2); // two pumps a load
  });

  test('a process that stops hands its load over to the other', async () => {
    const bed = await openBed(SLOW, FAULTS, redisUrl);
    const [first, second] = [bed.workspace, await bed.anotherWorkspace()];
    const { begun } = await bed.takeIn(ordersCsv(ORDERS));
    await (await first.work()).attend(begun.run);
    await expect.poll(() => bed.service.traffic.total('orders.create'), { timeout: 20_000 }).toBeGreaterThan(20);
    await second.work();
    await first.close();
    const done = await ended(bed.database, begun.run.id);
    expect([done.status, done.error, await callsOf(second)]).toEqual(['done', undefined, expect.any(Number)]);
    expect(await bed.orderCommits()).toEqual(eachOnce(ORDERS));
    expect(await callsOf(second)).toBeGreaterThan(0);
  });
}

describe('on Postgres', () => processesSuite());
describeWithRedis('on Redis', ({ url }) => processesSuite(url));

test('a file that is taken in twice at the same moment is one load', async () => {
  const bed = await openBed(QUICK);
  const both = await Promise.allSettled([bed.takeIn(ordersCsv(50)), bed.takeIn(ordersCsv(50))]);
  const ids = both.flatMap((one) => (one.status === 'fulfilled' ? [one.value.begun.run.id] : []));
  const refused = both.flatMap((one) => (one.status === 'rejected' ? [one.reason.code] : []));
  expect([new Set(ids).size, refused.filter((code) => code !== 'LOAD_BEING_RECEIVED')]).toEqual([1, []]);
  const run = await bed.load(ordersCsv(50));
  expect([ids, await bed.orderCommits()]).toEqual([expect.arrayContaining([run.id]), eachOnce(50)]);
});

test('two loads with orders in common, with faults: each order once, and the later load waits for the earlier one’s', async () => {
  const bed = await openBed(QUICK, { ...FAULTS, latencyMs: 25 });
  const { begun } = await bed.takeIn(ordersCsv(60));
  await (await bed.workspace.work()).attend(begun.run);
  await expect
    .poll(() => bed.service.traffic.total('orders.create'), { timeout: 20_000, interval: 1 })
    .toBeGreaterThan(0);
  const other = await bed.load(ordersCsv(60, { from: 31 }).replaceAll(',new', ',fresh'));
  expect(await bed.tally(other)).toEqual({ in: 60, created: 30, review: 30 }); // there with another status
  expect(await bed.tally(await ended(bed.database, begun.run.id))).toEqual({ in: 60, created: 60 });
  expect(await bed.orderCommits()).toEqual(eachOnce(90));
});

test('a load that was cancelled with calls on their way: the next one waits for them, and doubles none', async () => {
  const bed = await openBed(QUICK, { latencyMs: 100 });
  const { begun } = await bed.takeIn(ordersCsv(16));
  await (await bed.workspace.work()).attend(begun.run);
  await expect
    .poll(() => bed.service.traffic.total('orders.create'), { timeout: 20_000, interval: 1 })
    .toBeGreaterThan(0);
  await endRun(bed.database.pool, begun.run.id, 'cancelled');
  const next = await bed.load(ordersCsv(16));
  const { in: sum, existing = 0, created = 0 } = await bed.tally(next);
  expect([sum, existing + created, existing > 0]).toEqual([16, 16, true]);
  expect(next.notes).toEqual(['waited for what an earlier load left unsettled']);
  expect(await bed.orderCommits()).toEqual(eachOnce(16));
});

test('a load that failed loses the orders that another load has taken over, and sends only the rest', async () => {
  const bed = await openBed(QUICK, { latencyMs: 20 });
  const { begun } = await bed.takeIn(ordersCsv(60));
  await (await bed.workspace.work()).attend(begun.run);
  await expect
    .poll(() => bed.service.traffic.total('orders.create'), { timeout: 20_000, interval: 1 })
    .toBeGreaterThan(5);
  await endRun(bed.database.pool, begun.run.id, 'failed', { code: 'SERVICE_AWAY', message: 'it was away' });
  const other = await bed.load(ordersCsv(40, { from: 41 }));
  expect(await bed.tally(other)).toMatchObject({ in: 40 });
  const resumed = await bed.load(ordersCsv(60));
  expect([resumed.id, resumed.status]).toEqual([begun.run.id, 'done']);
  expect((await readRun(bed.database.pool, other.id)).status).toBe('done');
  expect(await bed.orderCommits()).toEqual(eachOnce(80));
});
