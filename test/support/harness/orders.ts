/** For tests of loads: files of orders, and what the service has of them. */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Workspace } from '../../../src/cli/workspace/open-workspace.ts';
import { type LoadedRow, loadedRows } from '../../../src/engine/ledger/matching/staged-orders.ts';
import { type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import { reopenRun } from '../../../src/operator/run-actions.ts';
import type { OrdersOptions } from '../../../src/syncs/orders/options.ts';
import { type FileLoad, type ReceivedLoad, receiveLoad } from '../../../src/syncs/orders/receive-load.ts';
import { withContacts } from './contacts.ts';
import { ended } from './ended.ts';
import { type Harness, openHarness } from './harness.ts';
import type { Needs } from './needs.ts';

export type OrdersHarness = ReturnType<typeof withOrders>;

export async function openOrdersHarness(needs?: Needs): Promise<OrdersHarness> {
  return withOrders(await openHarness(needs));
}

export interface LoadHow extends Partial<OrdersOptions> {
  readonly dryRun?: boolean;
  readonly salt?: string;
  readonly choices?: FileLoad['choices'];
}

export function withOrders(bare: Harness) {
  const harness = withContacts(bare);
  const { workspace, database, dataDir, call, commitsBy } = harness;
  let files = 0;
  /** Receives a CSV as a load; a running worker processes it. */
  const takeIn = async (csv: string, how?: LoadHow): Promise<ReceivedLoad> => {
    const source = path.join(dataDir, `orders-${++files}.csv`);
    await writeFile(source, csv);
    return receiveFile(workspace, 'test', source, how);
  };
  return Object.assign(harness, {
    takeIn,
    /** Loads a CSV and waits until its run has stopped; approves a load that waits for it, and resumes one that has failed. */
    async load(csv: string, how?: LoadHow): Promise<Run> {
      const { begun } = await takeIn(csv, how);
      if (begun.status === 'unfinished') await reopenRun(database.pool, begun.run, { by: 'ann@office' }, String);
      const runner = await workspace.work();
      await runner.attend(await readRun(database.pool, begun.run.id));
      return ended(database, begun.run.id);
    },
    /** The rows of a load in the order of the file, without their cells. */
    async loaded(run: Run): Promise<readonly Omit<LoadedRow, 'lines' | 'label'>[]> {
      const rows: Omit<LoadedRow, 'lines' | 'label'>[] = [];
      for await (const { lines: _, label: _label, ...row } of loadedRows(database.pool, run.id)) rows.push(row);
      return rows;
    },
    /** Sorted by amount, then by id: loads create orders in parallel, so the order of their ids varies. */
    async orders(): Promise<readonly Record<string, unknown>[]> {
      // Safe: our own service answers a list of records here.
      const orders = (await call('orders.getall')) as Record<string, unknown>[];
      return orders.sort((a, b) => Number(a.amount) - Number(b.amount) || Number(a.id) - Number(b.id));
    },
    /** How often each order was created: by order_id. */
    orderCommits: () => commitsBy('orders.create'),
    /** Adds `count` customers; the ids are 1, 2, … and customer 2 has the e-mail customer2@example.com. */
    async addNumberedCustomers(count: number): Promise<void> {
      for (let n = 1; n <= count; n++)
        await call('customers.create', { full_name: `Customer ${n}`, email: `customer${n}@example.com` });
    },
  });
}

/** Receives a file as a load of an account, as the command line does. */
export async function receiveFile(
  { database, accounts }: Workspace,
  account: string,
  source: string,
  how: LoadHow = {},
): Promise<ReceivedLoad> {
  const { dryRun = false, salt = '', choices = {}, existing = 'skip', createCustomers = false, confirm = false } = how;
  return receiveLoad(database.pool, {
    account: await accounts.open(account),
    source,
    choices,
    options: { existing, createCustomers, confirm },
    lane: 'batch',
    dryRun,
    spoolDir: path.dirname(source),
    salt,
    signal: new AbortController().signal,
  });
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
