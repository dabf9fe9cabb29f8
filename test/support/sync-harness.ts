/** A service, a ledger and a worker put together as the command line does it, for tests that run syncs. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, vi } from 'vitest';
import type { Workspace } from '../../src/cli/wire.ts';
import { type OperationName, operations } from '../../src/contract/operations.ts';
import { countRows } from '../../src/engine/ledger/rows.ts';
import { type Run, readRun } from '../../src/engine/ledger/runs.ts';
import { type DeletableKind, deleteRecord } from '../../src/service/administration.ts';
import { type Service, startService } from '../../src/service/server.ts';
import { createKey, createTenant } from '../../src/service/tenants.ts';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';
import { testWorkspace } from './test-workspace.ts';
import { type WordedRow, wordedRows } from './worded-rows.ts';

export const TEST_KEY = 'the-key-of-the-test-tenant';

export interface SyncHarness {
  readonly database: FreshDatabase;
  readonly service: Service;
  readonly tenantId: number;
  readonly workspace: Workspace;
  /** Opens what another process would have, on the same database, service and queue; closed with the harness. */
  anotherWorkspace(): Promise<Workspace>;
  /** The settings as YAML, and where a process of its own would keep its data. */
  readonly settingsText: string;
  readonly dataDir: string;
  /** Starts the sync and waits until its run has ended. */
  runSync(how?: { dryRun?: boolean }): Promise<Run>;
  /** The same without waiting for its end. */
  beginSync(how?: { dryRun?: boolean }): Promise<Run>;
  rows(run: Run): Promise<readonly WordedRow[]>;
  counts(run: Run): ReturnType<typeof countRows>;
  /** Calls the same service without faults or odd answers, as another client would; returns the content. */
  call(operation: OperationName, body?: unknown): Promise<unknown>;
  /** Adds contacts one after another, so that their ids ascend. */
  addContacts(contacts: readonly Record<string, unknown>[]): Promise<void>;
  addCustomers(customers: readonly Record<string, unknown>[]): Promise<void>;
  editContact(id: number, changes: Record<string, unknown>): Promise<void>;
  /** Like a person on the web platform. */
  remove(kind: DeletableKind, id: number): Promise<void>;
  /** By the contacts they came from, where they say so. */
  customers(): Promise<readonly Record<string, unknown>[]>;
  /** How often each contact was imported, by the service's own commit log: by contact id, or by what was created. */
  commits(): Promise<ReadonlyMap<string, number>>;
  /** Empties the ledger and the workspace and resets ids, as if the harness had just been opened. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export interface BedOptions {
  readonly behaviour?: BehaviourOptions;
  /** YAML of the account's settings beside url and apiKey, flow style. */
  readonly account?: string;
  readonly options?: string;
  /** Of the sync, flow style; default: none. */
  readonly schedule?: string;
  readonly redisUrl?: string;
  /** The account's service, if it is not the harness's own. */
  readonly serviceUrl?: string;
  /** Default: a fresh one. */
  readonly database?: FreshDatabase;
}

export async function openSyncHarness({
  behaviour,
  account = '',
  options = '{}',
  schedule,
  redisUrl = 'none',
  serviceUrl,
  database: given,
}: BedOptions = {}): Promise<SyncHarness> {
  const database = given ?? (await freshDatabase());
  const service = await startService({ pool: database.pool, ...(behaviour && { behaviour }) });
  const tenant = await createTenant(database.pool, 'test');
  await createKey(database.pool, tenant.id, { key: TEST_KEY });
  const plain = await startService({ pool: database.pool });
  const call = async (operation: OperationName, body?: unknown, pathId = 0): Promise<unknown> => {
    const { method, path: at } = operations[operation];
    const response = await fetch(`${plain.url}/api/v1${at.replace(/\{\w+\}/, String(pathId))}`, {
      method,
      headers: { API_KEY: TEST_KEY, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    expect(response.status).toBe(200);
    // Safe: every answer of our own service is in its envelope.
    return ((await response.json()) as { content: unknown }).content;
  };
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-test-'));
  const text = `
accounts:
  test: { url: "${serviceUrl ?? service.url}", apiKey: { env: TEST_KEY }, ${account || 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 2s }'} }
redis: { url: "${redisUrl}", prefix: ${path.basename(dataDir)} }
syncs:
  contacts: { job: contacts, account: test, options: ${options}${schedule === undefined ? '' : `, schedule: ${schedule}`} }
`;
  const workspaces: Workspace[] = [];
  const anotherWorkspace = async (): Promise<Workspace> => {
    const opened = await testWorkspace({ text, dataDir, env: { TEST_KEY }, database });
    workspaces.push(opened);
    return opened;
  };
  const workspace = await anotherWorkspace();
  const beginSync: SyncHarness['beginSync'] = async ({ dryRun = false } = {}) => {
    const begun = await workspace.startSync('contacts', { lane: 'batch', dryRun });
    expect(begun.status).toBe('started');
    const runner = await workspace.work();
    await runner.attend(begun.run);
    return begun.run;
  };
  return {
    database,
    service,
    tenantId: tenant.id,
    workspace,
    anotherWorkspace,
    settingsText: text,
    dataDir,
    beginSync,
    runSync: async (how) => ended(database, (await beginSync(how)).id),
    rows: (run) => wordedRows(database.pool, run),
    counts: (run) => countRows(database.pool, run.id),
    call,
    async addContacts(contacts) {
      for (const contact of contacts) await call('contacts.create', contact);
    },
    async addCustomers(customers) {
      for (const customer of customers) await call('customers.create', customer);
    },
    async editContact(id, changes) {
      await call('contacts.update', changes, id);
    },
    async remove(kind, id) {
      expect(await deleteRecord(database.pool, tenant.id, kind, id)).toEqual({ status: 'deleted' });
    },
    async customers() {
      // Safe: our own service answers a list of records here. Imports run side by side, so their ids give no order.
      const customers = (await call('customers.getall')) as Record<string, unknown>[];
      return customers.sort((a, b) => Number(a.contact_id) - Number(b.contact_id));
    },
    async commits() {
      const found = await database.pool.query<{ key: string; n: number }>(
        `select coalesce(natural_key, record_id::text) as key, count(*)::int as n from service.commits
         where operation in ('customers.import', 'customers.create') group by 1`,
      );
      return new Map(found.rows.map(({ key, n }) => [key, n]));
    },
    async reset() {
      await database.pool.query(`truncate ledger.runs, ledger.audit_debts, ledger.links, ledger.witnesses, ledger.inputs, ledger.matches, ledger.plans, ledger.again, ledger.chunks, ledger.attempts, ledger.verdicts, ledger.former_verdicts, ledger.records, ledger.learnt, ledger.suspensions,
        service.contacts, service.customers, service.commits restart identity cascade`);
      service.traffic.reset();
    },
    async close() {
      await Promise.all(workspaces.map((opened) => opened.close()));
      await service.close();
      await plain.close();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Waits until a run has ended. */
export async function ended(database: FreshDatabase, runId: string): Promise<Run> {
  return vi.waitFor(
    async () => {
      const run = await readRun(database.pool, runId);
      expect(run.status).not.toBe('running');
      return run;
    },
    { timeout: 60_000, interval: 20 },
  );
}
