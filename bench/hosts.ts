/**
 * Worker hosts that share one Redis and one Postgres: 1, 2 and 4 of them load the orders of 16 accounts, at a service that
 * answers after 50 ms and has no limit. An account has at most 16 calls in flight however many hosts there are, and a host
 * sends for at most 4 accounts at once. As root, each host has a network namespace of its own (host-network.ts).
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
import { type HostNetwork, openHostNetwork } from './host-network.ts';
import { writeSheet } from './orders-sheet.ts';
import type { TinyAnswer } from './orders-tiny-process.ts';
import { CONCURRENCY, figuresOf, run } from './processes.ts';
import type { Row } from './table.ts';

const HOSTS = { 1: 1, 2: 1.9, 4: 3.5 } as const;
const ACCOUNTS = 16;
const ACCOUNTS_AT_ONCE = 4;
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
  const network = await openHostNetwork(Math.max(...Object.keys(HOSTS).map(Number)));
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
      const shared = await share(dir, file, { redis, network }, Number(count));
      alone ??= shared.perSecond;
      rows.push(rowOf(Number(count), wanted, shared.perSecond / alone, { ...shared, isReal: network.isReal }));
    }
    return rows;
  } finally {
    await network.close();
    await redis.close();
    await rm(dir, { recursive: true, force: true });
  }
}

interface Stores {
  readonly redis: TestRedis;
  readonly network: HostNetwork;
}

async function share(dir: string, file: string, { redis, network }: Stores, count: number): Promise<Shared> {
  const service = run('orders-tiny-process', [String(CUSTOMERS), String(LATENCY_MS), '0', network.address]);
  const [{ url }] = (await once(service, 'message')) as [TinyAnswer]; // safe: the process sends nothing else
  const dataDir = path.join(dir, `hosts-${count}`);
  const redisPort = await network.forward(Number(new URL(redis.url).port));
  const settings = settingsFor(url, `redis://${network.address}:${redisPort}/${Math.log2(count) + 1}`);
  const database = await openDatabase({ url: 'embedded', dataDir, maxConnections: 1 });
  const { host, port, user, password, database: name } = database.connection;
  const postgresPort = await network.forward(path.join(String(host), `.s.PGSQL.${port}`));
  const keys = Object.fromEntries(Array.from({ length: ACCOUNTS }, (_, i) => [`KEY_${i}`, `the-key-of-account-${i}`]));
  const env = {
    ...keys,
    DATABASE_URL: `postgres://${user}:${password}@${network.address}:${postgresPort}/${name}`,
  };
  await figuresOf(run('hosts-process', ['begin', dataDir, settings, file], env));
  const workers = Array.from({ length: count }, (_, n) =>
    run('hosts-process', ['work', path.join(dataDir, `host-${n}`), settings], env, network.on(n)),
  );
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
  return `redis: { url: "${redisUrl}" }\nworker: { concurrency: ${ACCOUNTS_AT_ONCE} }\naccounts:${accounts.join('')}`;
}

function rowOf(
  count: number,
  wanted: number,
  faster: number,
  { ms, perSecond, cpuMs, service, isReal }: Shared & Pick<HostNetwork, 'isReal'>,
): Row {
  const all = ACCOUNTS * ORDERS;
  const isRight = service.orders === all && service.distinct === all && service.mostAtOnce <= CONCURRENCY;
  const cores = cpuMs.map((one) => (one / ms).toFixed(2)).join(', ');
  return {
    what: `${count} ${count === 1 ? 'host' : 'hosts'}${isReal ? ' in network namespaces' : ''}, ${ACCOUNTS} accounts with ${ORDERS} orders each, ${LATENCY_MS} ms: orders a second against one`,
    wanted: `≥ ${wanted} ×, ${all} orders, at most ${CONCURRENCY} at once`,
    got: `${faster.toFixed(2)} × (${perSecond.toFixed(0)}/s, ${(ms / 1_000).toFixed(1)} s in all; cores: ${cores}), ${service.distinct} orders, at most ${service.mostAtOnce} at once`,
    isMet: faster >= wanted && isRight,
  };
}
