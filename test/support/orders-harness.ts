/** The harness of syncs, extended for loads of orders. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { expect, vi } from 'vitest';
import { type LoadedRow, loadedRows } from '../../src/engine/ledger/matching/staged-orders.ts';
import { type Run, readRun, resumeRun } from '../../src/engine/ledger/runs.ts';
import type { OrdersOptions } from '../../src/syncs/orders/options.ts';
import { type FileLoad, type ReceivedLoad, receiveLoad } from '../../src/syncs/orders/receive-load.ts';
import { type BedOptions, openSyncHarness, type SyncHarness } from './sync-harness.ts';

export interface OrdersHarness extends SyncHarness {
  /** Takes a CSV in as a load; a running worker processes it. */
  takeIn(csv: string, how?: LoadHow): Promise<ReceivedLoad>;
  /** Loads a CSV and waits until its run has stopped; resumes a load that is paused or failed. */
  load(csv: string, how?: LoadHow): Promise<Run>;
  /** The rows of a load in the order of the file, without their cells. */
  loaded(run: Run): Promise<readonly Omit<LoadedRow, 'lines' | 'label'>[]>;
  /** The orders of the service, by id. */
  orders(): Promise<readonly Record<string, unknown>[]>;
  /** How often each order was created, by the service's own commit log: by order_id. */
  orderCommits(): Promise<ReadonlyMap<string, number>>;
  /** Adds `count` customers; the ids are 1, 2, … and customer 2 has the e-mail customer2@example.com. */
  addNumberedCustomers(count: number): Promise<void>;
  /** The run's counts, without zeros. */
  tally(run: Run): Promise<Readonly<Record<string, number>>>;
  /** Requests that wrote anything, since the service began to count. */
  writesSeen(): number;
}

/** A CSV with these lines. */
export function csvOf(header: string, rows: readonly string[]): string {
  return `${[header, ...rows].join('\n')}\n`;
}

/** Orders O-1, O-2, … of the customers 1, 2, … in turn; `from` continues after another file's last order. */
export function ordersCsv(count: number, { customers = 3, from = 1 } = {}): string {
  const numbers = Array.from({ length: count }, (_, i) => from + i);
  const rows = numbers.map((n) => `O-${n},${(n % customers) + 1},Order ${n},${n}.25,new`);
  return csvOf('order_id,client_id,description,amount,status', rows);
}

/** The expected commit log after `count` orders of `ordersCsv`: each of them once. */
export function eachOnce(count: number, { from = 1 } = {}): ReadonlyMap<string, number> {
  return new Map(Array.from({ length: count }, (_, i) => [`O-${from + i}`, 1]));
}

export interface LoadHow extends Partial<OrdersOptions> {
  readonly dryRun?: boolean;
  readonly salt?: string;
  readonly choices?: FileLoad['choices'];
}

export async function openOrdersHarness(options?: BedOptions): Promise<OrdersHarness> {
  const harness = await openSyncHarness(options);
  const { pool } = harness.database;
  let files = 0;
  const takeIn: OrdersHarness['takeIn'] = async (csv, how = {}) => {
    const { dryRun = false, salt, choices = {}, existing = 'skip', createCustomers = false, confirm = false } = how;
    const source = path.join(harness.dataDir, `orders-${++files}.csv`);
    await writeFile(source, csv);
    return receiveLoad(pool, {
      account: await harness.workspace.accounts.open('test'),
      source,
      choices,
      options: { existing, createCustomers, confirm },
      lane: 'batch',
      dryRun,
      spoolDir: harness.dataDir,
      signal: new AbortController().signal,
      ...(salt !== undefined && { salt }),
    });
  };
  return {
    ...harness,
    takeIn,
    async load(csv, how) {
      const { begun } = await takeIn(csv, how);
      if (begun.status === 'unfinished') await resumeRun(pool, begun.run.id);
      const runner = await harness.workspace.work();
      await runner.attend(await readRun(pool, begun.run.id));
      return stopped(pool, begun.run.id);
    },
    async loaded(run) {
      const rows: Omit<LoadedRow, 'lines' | 'label'>[] = [];
      for await (const { lines: _, label: _label, ...row } of loadedRows(pool, run.id)) rows.push(row);
      return rows;
    },
    async orders() {
      // Safe: our own service answers a list of records here.
      const orders = (await harness.call('orders.getall')) as Record<string, unknown>[];
      return orders.sort((a, b) => Number(a.id) - Number(b.id));
    },
    async orderCommits() {
      const found = await pool.query<{ key: string; n: number }>(
        `select natural_key as key, count(*)::int as n from service.commits
         where operation = 'orders.create' group by 1`,
      );
      return new Map(found.rows.map(({ key, n }) => [key, n]));
    },
    async addNumberedCustomers(count) {
      for (let n = 1; n <= count; n++)
        await harness.call('customers.create', { full_name: `Customer ${n}`, email: `customer${n}@example.com` });
    },
    async tally(run) {
      return Object.fromEntries(Object.entries(await harness.counts(run)).filter(([, n]) => n !== 0));
    },
    writesSeen() {
      const seen = [...harness.service.traffic.counts().byOperation].filter(([name]) => !/\.get(all)?$/.test(name));
      return seen.reduce((sum, [, n]) => sum + n, 0);
    },
    async reset() {
      await harness.reset();
      await pool.query('truncate service.orders, ledger.order_keys, ledger.witnesses restart identity cascade');
    },
  };
}

/** Like `ended`, for parallel tests: `expect.poll` would count each poll for the test begun last. */
function stopped(pool: pg.Pool, runId: string): Promise<Run> {
  return vi.waitFor(
    async () => {
      const run = await readRun(pool, runId);
      expect(run.status).not.toBe('running');
      return run;
    },
    { timeout: 60_000, interval: 20 },
  );
}
