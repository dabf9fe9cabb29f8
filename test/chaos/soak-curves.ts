/** What a soak measures every minute, whether it grows, and a picture of it. Linux only. */
import fs from 'node:fs/promises';
import type pg from 'pg';
import { familyOf, memoryMb } from '../../bench/cost.ts';
import { median } from '../../bench/processes.ts';
import { ledgerSize } from '../../src/engine/ledger/retention/size.ts';
import { postmasterOf } from '../support/processes.ts';
import { ask } from '../support/redis-nodes.ts';
import type { TestRedis } from '../support/redis-server.ts';

/** One figure of each curve. */
export type Sample = Readonly<Record<string, number>>;

export interface Sampled {
  readonly pool: pg.Pool;
  /** Process ids. */
  readonly worker: number;
  readonly service: number;
  /** Of the embedded Postgres. */
  readonly dataDir: string;
  readonly healthUrl: string;
  readonly redis: TestRedis | undefined;
}

export interface Curve {
  readonly name: string;
  /** Medians of the second quarter and of the last one. */
  readonly early: number;
  readonly late: number;
  readonly most: number;
  readonly hasGrown: boolean;
}

/** Growth that is allowed from the second quarter to the last one: a share, and a step that small curves may take. */
const MOST_GROWTH = 1.1;
const STEPS: Readonly<Record<string, number>> = { MB: 8, handles: 5, jobs: 5 };

export async function takeSample({ pool, worker, service, dataDir, healthUrl, redis }: Sampled): Promise<Sample> {
  const postgres = await familyOf(postmasterOf(dataDir));
  const own = await Promise.all(postgres.map((pid) => memoryMb(pid, 'Pss', 'smaps_rollup').catch(() => 0))); // a backend may have ended
  const bytes = (tables: Awaited<ReturnType<typeof ledgerSize>>) => tables.reduce((sum, table) => sum + table.bytes, 0);
  const ledger = await ledgerSize(pool);
  const metrics = await (await fetch(`${healthUrl}/metrics`)).text();
  const jobs = [...metrics.matchAll(/^lockstep_queue_jobs\{.*\} (\d+)/gm)].reduce((sum, [, n]) => sum + Number(n), 0);
  const info = redis ? String(await ask(redis.url, 'info', 'memory')) : '';
  const queue = await pool.query<{ bytes: number }>(
    `select coalesce(sum(pg_total_relation_size(c.oid)), 0)::float8 as bytes from pg_class c join pg_namespace s on s.oid = c.relnamespace
     where s.nspname = 'bullmq' and c.relkind = 'r'`,
  );
  return {
    'worker, RSS in MB': await memoryMb(worker, 'VmRSS'),
    'service, RSS in MB': await memoryMb(service, 'VmRSS'),
    'Postgres, PSS in MB': own.reduce((sum, mb) => sum + mb, 0),
    'worker, open handles': await handles(worker),
    'service, open handles': await handles(service),
    'ledger in MB': bytes(ledger) / 1e6,
    'jobs in the queue': jobs,
    ...(redis
      ? { 'Redis in MB': Number(/used_memory:(\d+)/.exec(info)?.[1]) / 1e6 }
      : { 'queue in MB': (queue.rows[0]?.bytes ?? 0) / 1e6 }),
  };
}

export function curvesOf(samples: readonly Sample[]): readonly Curve[] {
  const quarter = Math.floor(samples.length / 4);
  return Object.keys(samples[0] ?? {}).map((name) => {
    const values = samples.map((sample) => sample[name] ?? Number.NaN);
    const early = median(values.slice(quarter, 2 * quarter));
    const late = median(values.slice(-quarter));
    const step = Object.entries(STEPS).find(([unit]) => name.includes(unit))?.[1] ?? 0;
    return {
      name,
      early,
      late,
      most: Math.max(...values),
      hasGrown: !(late <= early * MOST_GROWTH || late <= early + step),
    };
  });
}

async function handles(pid: number): Promise<number> {
  return (await fs.readdir(`/proc/${pid}/fd`)).length;
}
