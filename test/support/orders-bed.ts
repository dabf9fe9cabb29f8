/** The bed of syncs, with what loads of orders take beside it. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type pg from 'pg';
import { expect, vi } from 'vitest';
import { type LoadedRow, loadedRows } from '../../src/engine/ledger/matching/staged-orders.ts';
import { type Run, readRun, resumeRun } from '../../src/engine/ledger/runs.ts';
import type { OrdersOptions } from '../../src/orders/options.ts';
import { type FileLoad, type ReceivedLoad, receiveLoad } from '../../src/orders/receive-load.ts';
import { type BedOptions, openSyncBed, type SyncBed } from './sync-bed.ts';

export interface OrdersBed extends SyncBed {
  /** Takes a CSV in as a load, and leaves it to whoever works. */
  takeIn(csv: string, how?: LoadHow): Promise<ReceivedLoad>;
  /** Loads a CSV and waits until its run has stopped; one that is paused or failed is taken up again. */
  load(csv: string, how?: LoadHow): Promise<Run>;
  /** The rows of a load in the order of the file, without their cells. */
  loaded(run: Run): Promise<readonly Omit<LoadedRow, 'cells'>[]>;
  /** What the service has, by id. */
  orders(): Promise<readonly Record<string, unknown>[]>;
  /** How often each order was created, by the service's own commit log: by order_id. */
  orderCommits(): Promise<ReadonlyMap<string, number>>;
  /** Adds `count` customers; the ids are 1, 2, … and customer 2 has the e-mail customer2@example.com. */
  addNumberedCustomers(count: number): Promise<void>;
  /** The run's counts, those of 0 left out. */
  tally(run: Run): Promise<Readonly<Record<string, number>>>;
  /** Requests that wrote anything, since the service began to count. */
  writesSeen(): number;
}

/** A CSV with these lines. */
export function csvOf(header: string, rows: readonly string[]): string {
  return `${[header, ...rows].join('\n')}\n`;
}

/** Orders O-1, O-2, … of the customers 1, 2, … in turn; `from` counts on from another file's last. */
export function ordersCsv(count: number, { customers = 3, from = 1 } = {}): string {
  const numbers = Array.from({ length: count }, (_, i) => from + i);
  const rows = numbers.map((n) => `O-${n},${(n % customers) + 1},Order ${n},${n}.25,new`);
  return csvOf('order_id,client_id,description,amount,status', rows);
}

/** What the commit log has to say after `count` orders of `ordersCsv`: each of them once. */
export function eachOnce(count: number, { from = 1 } = {}): ReadonlyMap<string, number> {
  return new Map(Array.from({ length: count }, (_, i) => [`O-${from + i}`, 1]));
}

export interface LoadHow extends Partial<OrdersOptions> {
  readonly dryRun?: boolean;
  readonly salt?: string;
  readonly choices?: FileLoad['choices'];
}

export async function openOrdersBed(options?: BedOptions): Promise<OrdersBed> {
  const bed = await openSyncBed(options);
  const { pool } = bed.database;
  let files = 0;
  const takeIn: OrdersBed['takeIn'] = async (csv, how = {}) => {
    const { dryRun = false, salt, choices = {}, existing = 'skip', createCustomers = false, confirm = false } = how;
    const source = path.join(bed.dataDir, `orders-${++files}.csv`);
    await writeFile(source, csv);
    return receiveLoad(pool, {
      account: await bed.workspace.accounts.open('test'),
      source,
      choices,
      options: { existing, createCustomers, confirm },
      lane: 'batch',
      dryRun,
      spoolDir: bed.dataDir,
      signal: new AbortController().signal,
      ...(salt !== undefined && { salt }),
    });
  };
  return {
    ...bed,
    takeIn,
    async load(csv, how) {
      const { begun } = await takeIn(csv, how);
      if (begun.status === 'unfinished') await resumeRun(pool, begun.run.id);
      const runner = await bed.workspace.work();
      await runner.attend(await readRun(pool, begun.run.id));
      return stopped(pool, begun.run.id);
    },
    async loaded(run) {
      const rows: Omit<LoadedRow, 'cells'>[] = [];
      for await (const { cells: _, ...row } of loadedRows(pool, run.id)) rows.push(row);
      return rows;
    },
    async orders() {
      // Safe: our own service answers a list of records here.
      const orders = (await bed.call('orders.getall')) as Record<string, unknown>[];
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
        await bed.call('customers.create', { full_name: `Customer ${n}`, email: `customer${n}@example.com` });
    },
    async tally(run) {
      return Object.fromEntries(Object.entries(await bed.counts(run)).filter(([, n]) => n !== 0));
    },
    writesSeen() {
      const seen = [...bed.service.traffic.counts().byOperation].filter(([name]) => !/\.get(all)?$/.test(name));
      return seen.reduce((sum, [, n]) => sum + n, 0);
    },
    async reset() {
      await bed.reset();
      await pool.query('truncate service.orders, ledger.order_keys, ledger.witnesses restart identity cascade');
    },
  };
}

/** As `ended`, for tests that run side by side: `expect.poll` takes each for the one that was begun last. */
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
