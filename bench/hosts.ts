/**
 * Worker hosts that share one Redis and one Postgres: 1, 2 and 4 processes load the orders of 16 accounts, at a service that
 * answers after 50 ms and has no limit. An account has at most 16 calls in flight however many hosts there are, and a host
 * sends for at most 8 accounts at once: two hosts are twice as fast as one, and with 16 accounts four are not faster than two.
 */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { openDatabase } from '../src/storage/open.ts';
import { startRedis, type TestRedis } from '../test/support/redis-server.ts';
import { cpuMsOf } from './cost.ts';
import { writeSheet } from './orders-sheet.ts';
import type { TinyAnswer } from './orders-tiny-process.ts';
import { CONCURRENCY, figuresOf, run } from './processes.ts';
import type { Row } from './table.ts';

const HOSTS = { 1: 1, 2: 1.9, 4: 1.9 } as const;
const ACCOUNTS = 16;
const ORDERS = 3_000;
const LATENCY_MS = 50;
const CUSTOMERS = 100;
const LOOK_MS = 100;

interface Shared {
  readonly ms: number;
  /** While the middle 80% of the orders were sent: loads begin with lists, and end with waiting. */
  readonly perSecond: number;
  readonly cpuMs: readonly number[];
  readonly service: TinyAnswer;
}

export async function hosts(): Promise<readonly Row[]> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const redis = await startRedis(dir);
  if (!redis) throw new Error('this needs redis-server or valkey-server');
  try {
    const file = path.join(dir, 'orders.csv');
    await writeSheet(
      file,
      { from: 0, to: ORDERS },
      Array.from({ length: CUSTOMERS }, (_, i) => i + 1),
    );
    const rows: Row[] = [];
    let alone: number | undefined;
    for (const [count, wanted] of Object.entries(HOSTS)) {
      const shared = await share(dir, file, redis, Number(count));
      alone ??= shared.perSecond;
      rows.push(rowOf(Number(count), wanted, shared.perSecond / alone, shared));
    }
    return rows;
  } finally {
    await redis.close();
    await rm(dir, { recursive: true, force: true });
  }
}

async function share(dir: string, file: string, redis: TestRedis, count: number): Promise<Shared> {
  const service = run('orders-tiny-process', [String(CUSTOMERS), String(LATENCY_MS)]);
  const [{ url }] = (await once(service, 'message')) as [TinyAnswer]; // safe: the process sends nothing else
  const dataDir = path.join(dir, `hosts-${count}`);
  const settings = settingsFor(url, `${redis.url}/${Math.log2(count) + 1}`);
  const keys = Object.fromEntries(Array.from({ length: ACCOUNTS }, (_, i) => [`KEY_${i}`, `the-key-of-account-${i}`]));
  const database = await openDatabase({ url: 'embedded', dataDir, maxConnections: 1 });
  await figuresOf(run('hosts-process', ['begin', dataDir, settings, file], keys));
  const workers = Array.from({ length: count }, () => run('hosts-process', ['work', dataDir, settings], keys));
  const startedAt = performance.now();
  try {
    for (;;) {
      const left = await database.pool.query<{ n: number }>(
        "select count(*)::int as n from ledger.runs where status <> 'done'",
      );
      if (left.rows[0]?.n === 0) break;
      await delay(LOOK_MS);
    }
    const ms = performance.now() - startedAt;
    const cpuMs = await Promise.all(workers.map(({ pid = 0 }) => cpuMsOf(pid)));
    service.send('tell');
    const [told] = (await once(service, 'message')) as [TinyAnswer]; // as above
    return { ms, perSecond: await rateIn(database.pool), cpuMs, service: told };
  } finally {
    for (const child of [...workers, service]) child.disconnect();
    await Promise.all([...workers, service].map((child) => once(child, 'exit')));
    await database.close();
  }
}

async function rateIn(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query<{ perSecond: number }>(
    `select (0.8 * count(*) / extract(epoch from percentile_disc(0.9) within group (order by at)
       - percentile_disc(0.1) within group (order by at)))::float8 as "perSecond" from ledger.attempts`,
  );
  return rows[0]?.perSecond ?? 0;
}

function settingsFor(url: string, redisUrl: string): string {
  const accounts = Array.from(
    { length: ACCOUNTS },
    (_, i) => `
  account-${i}:
    url: "${url}"
    prefix: /api/v1
    apiKey: { env: KEY_${i} }
    budget: { requests: 100000, per: 1s, concurrency: ${CONCURRENCY}, settle: 1s }`,
  );
  return `redis: { url: "${redisUrl}" }\naccounts:${accounts.join('')}`;
}

function rowOf(count: number, wanted: number, faster: number, { ms, perSecond, cpuMs, service }: Shared): Row {
  const all = ACCOUNTS * ORDERS;
  const isRight = service.orders === all && service.distinct === all && service.mostAtOnce <= CONCURRENCY;
  const cores = cpuMs.map((one) => (one / ms).toFixed(2)).join(', ');
  return {
    what: `${count} ${count === 1 ? 'host' : 'hosts'}, ${ACCOUNTS} accounts with ${ORDERS} orders each, ${LATENCY_MS} ms: orders a second against one`,
    wanted: `≥ ${wanted} ×, ${all} orders, at most ${CONCURRENCY} at once`,
    got: `${faster.toFixed(2)} × (${perSecond.toFixed(0)}/s, ${(ms / 1_000).toFixed(1)} s in all; cores: ${cores}), ${service.distinct} orders, at most ${service.mostAtOnce} at once`,
    isMet: faster >= wanted && isRight,
  };
}
