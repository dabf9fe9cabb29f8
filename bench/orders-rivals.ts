/**
 * A load beside what a user would write instead, under the same faults: time, and orders lost and doubled. Node-RED takes part
 * if NODE_RED names the folder in which `npm install node-red` was run.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { FAULT_KINDS } from '../src/service/testbed/behaviour.ts';
import { startRedis, type TestRedis } from '../test/support/redis-server.ts';
import { type OrdersBench, type OrdersTenant, openOrdersBench } from './orders-bench.ts';
import type { NodeRedRival } from './orders-node-red-process.ts';
import type { Rival, RivalFigures } from './orders-rivals-process.ts';
import { CONCURRENCY, figuresOf, run } from './processes.ts';
import type { Row } from './table.ts';

const ROWS = { from: 0, to: 5_000 };
const RATE = 500;
const FAULTS = { rate: 0.1, kinds: [...FAULT_KINDS] };
const LATE_MS = 1_000;
const TIMEOUT_MS = 2_000;
const BUDGET = `{ requests: ${RATE}, per: 1s, burst: ${RATE}, concurrency: ${CONCURRENCY}, timeout: 2s, settle: 3s }`;
const UNDER = `${ROWS.to} orders, ${RATE}/s, ${FAULTS.rate * 100}% of writes faulty`;

export async function ordersRivals(): Promise<readonly Row[]> {
  const bench = await openOrdersBench();
  const redis = await startRedis(bench.dir);
  try {
    const rows = [await lockstep(bench), await loop(bench)];
    if (redis) rows.push(await jobs(bench, redis));
    if (process.env.NODE_RED) rows.push(await nodeRed(bench));
    return rows;
  } finally {
    await redis?.close();
    await bench.close();
  }
}

async function lockstep(bench: OrdersBench): Promise<Row> {
  const { row, lost, doubled } = await contend(bench, 'this load', async (tenant) => {
    const { ms, calls, created } = await bench.load(tenant, BUDGET, { file: await bench.sheet(tenant, ROWS) });
    return { ms, aside: `, ${created} reported created, ${calls} calls` };
  });
  return { ...row, wanted: '0 lost, 0 doubled', isMet: lost === 0 && doubled === 0 };
}

async function loop(bench: OrdersBench): Promise<Row> {
  const { row } = await contend(bench, 'a loop with a limiter and retries', async (tenant) => {
    const { ms } = await rivalOf(bench, tenant, 'loop', '');
    return { ms, aside: '' };
  });
  return row;
}

async function jobs(bench: OrdersBench, redis: TestRedis): Promise<Row> {
  const { row } = await contend(bench, 'a BullMQ job for each order, with retries', async (tenant) => {
    const { ms, queued } = await rivalOf(bench, tenant, 'jobs', redis.url);
    return { ms, aside: `, ${queued} keys in Redis` };
  });
  return row;
}

async function nodeRed(bench: OrdersBench): Promise<Row> {
  const { row } = await contend(bench, 'a flow in Node-RED, with retries', async (tenant) => {
    const rival: NodeRedRival = {
      ...rivalAt(bench, tenant, ''),
      file: await bench.sheet(tenant, ROWS),
      dir: bench.dir,
    };
    const { ms } = await figuresOf<RivalFigures>(run('orders-node-red-process', [JSON.stringify(rival)]));
    return { ms, aside: '' };
  });
  return row;
}

function rivalOf(bench: OrdersBench, tenant: OrdersTenant, way: 'jobs' | 'loop', redisUrl: string) {
  const rival = JSON.stringify(rivalAt(bench, tenant, redisUrl));
  return figuresOf<RivalFigures>(run('orders-rivals-process', [way, rival]));
}

function rivalAt(bench: OrdersBench, tenant: OrdersTenant, redisUrl: string): Rival {
  return { ...bench.posting(tenant, ROWS), redisUrl, ratePerSecond: RATE, timeoutMs: TIMEOUT_MS };
}

/** Each meets the same faults in the same order, at its own tenant. */
async function contend(
  bench: OrdersBench,
  who: string,
  send: (tenant: OrdersTenant) => Promise<{ readonly ms: number; readonly aside: string }>,
) {
  await bench.start({ faults: { ...FAULTS, lateMs: LATE_MS } });
  const tenant = await bench.tenant();
  const { ms, aside } = await send(tenant);
  await delay(2 * LATE_MS); // late commits count
  const commits = await bench.commits(tenant);
  const lost = ROWS.to - commits.length;
  const doubled = commits.reduce((all, n) => all + n - 1, 0);
  const got = `${lost} lost, ${doubled} doubled in ${(ms / 1000).toFixed(1)} s${aside}`;
  return { lost, doubled, row: { what: `${UNDER}: ${who}`, wanted: '-', got, isMet: true } };
}
