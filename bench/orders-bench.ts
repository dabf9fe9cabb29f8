/** The service of the orders' benchmarks, and loads of orders against it, each in a process of its own. */
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type { BehaviourOptions } from '../src/service/testbed/behaviour.ts';
import { openDatabase } from '../src/storage/open.ts';
import type { Posting, PostingFigures } from './orders-bare-process.ts';
import type { Loading, LoadingFigures } from './orders-load-process.ts';
import { type Numbers, writeSheet } from './orders-sheet.ts';
import { CONCURRENCY, figuresOf, openBenchService, run } from './processes.ts';
import type { Answer } from './service-process.ts';

export interface OrdersBench {
  /** The folder for the benchmark's files. */
  readonly dir: string;
  /** Restarts the service. */
  start(behaviour: BehaviourOptions): Promise<void>;
  /** A fresh tenant with a thousand customers. */
  tenant(): Promise<OrdersTenant>;
  traffic(): Promise<Required<Omit<Answer, 'url'>>>;
  /** How often the tenants' orders were created, by the service's own commit log: each order once in `numbers`. */
  commits(tenant: OrdersTenant): Promise<readonly number[]>;
  sheet(tenant: OrdersTenant, numbers: Numbers): Promise<string>;
  posting(tenant: OrdersTenant, numbers: Numbers): Posting;
  bare(tenant: OrdersTenant, numbers: Numbers): Promise<PostingFigures>;
  load(
    tenant: OrdersTenant,
    budget: string,
    loading: Pick<Loading, 'file' | 'alone' | 'behind' | 'lane'>,
  ): Promise<LoadingFigures>;
  close(): Promise<void>;
}

export interface OrdersTenant {
  readonly name: string;
  readonly key: string;
  readonly customers: readonly number[];
}

/** A tenth of them are customers. */
const CONTACTS = 10_000;

export async function openOrdersBench(): Promise<OrdersBench> {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bench-'));
  const { service, ask } = await openBenchService(dir);
  const database = await openDatabase({ url: 'embedded', dataDir: path.join(dir, 'service'), maxConnections: 1 });
  let url = '';
  let made = 0;
  const bench: OrdersBench = {
    dir,
    async start(behaviour) {
      url = (await ask({ start: behaviour })).url ?? '';
    },
    async tenant() {
      const tenant = { name: `tenant-${++made}`, key: `the-key-of-tenant-number-${made}` };
      await ask({ seed: { ...tenant, contacts: CONTACTS } });
      const customers = await database.pool.query<{ id: number }>(
        `select c.id::int as id from service.customers c join service.tenants t on t.id = c.tenant_id
         where t.name = $1 order by c.id`,
        [tenant.name],
      );
      return { ...tenant, customers: customers.rows.map(({ id }) => id) };
    },
    traffic: async () => (await ask({ traffic: true })) as Required<Answer>,
    async commits({ name }) {
      const counted = await database.pool.query<{ n: number }>(
        `select count(*)::int as n from service.commits c join service.tenants t on t.id = c.tenant_id
         where t.name = $1 and c.operation = 'orders.create' group by c.natural_key`,
        [name],
      );
      return counted.rows.map(({ n }) => n);
    },
    async sheet({ name, customers }, numbers) {
      const file = path.join(dir, `${name}-${numbers.from}-${numbers.to}.csv`);
      await writeSheet(file, numbers, customers);
      return file;
    },
    posting: ({ key, customers }, numbers) => ({ url, key, customers, numbers, concurrency: CONCURRENCY }),
    bare: (tenant, numbers) =>
      figuresOf<PostingFigures>(run('orders-bare-process', [JSON.stringify(bench.posting(tenant, numbers))])),
    load: ({ name, key }, budget, loading) =>
      startLoad({ dataDir: path.join(dir, name), url, key, budget, ...loading }),
    async close() {
      await database.close();
      service.disconnect();
      await once(service, 'exit');
      await rm(dir, { recursive: true, force: true });
    },
  };
  return bench;
}

export interface LoadAt extends Omit<Loading, 'settings'> {
  readonly url: string;
  readonly key: string;
  readonly budget: string;
}

/** Loads in a separate process, which keeps its ledger in `dataDir`. */
export function startLoad({ url, key, budget, ...loading }: LoadAt): Promise<LoadingFigures> {
  const settings = `
accounts: { bench: { url: "${url}", apiKey: { env: BENCH_KEY }, prefix: /api/v1, budget: ${budget} } }`;
  const told: Loading = { ...loading, settings };
  return figuresOf<LoadingFigures>(run('orders-load-process', [JSON.stringify(told)], { BENCH_KEY: key }));
}

/** The phases of a load with the time of each. */
export function phasesOf({ phases }: LoadingFigures): string {
  return Object.entries(phases)
    .map(([name, tookMs]) => `${name} ${(tookMs / 1000).toFixed(1)} s`)
    .join(', ');
}

/** The steps of a load with the CPU of each in microseconds a row: node + Postgres. */
export function costsOf({ costs, created }: LoadingFigures): string {
  const each = (ms: number) => ((ms * 1000) / created).toFixed(0);
  return Object.entries(costs)
    .map(([name, { nodeCpuMs, postgresCpuMs }]) => `${name} ${each(nodeCpuMs)} + ${each(postgresCpuMs)}`)
    .join(', ');
}
