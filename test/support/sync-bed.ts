/** A service, a ledger and a worker put together as the command line does it, for tests that run syncs. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pino from 'pino';
import { expect } from 'vitest';
import { openWorkspace, type Workspace } from '../../src/cli/wire.ts';
import { countRows, type ReportedRow, reportRows } from '../../src/ledger/rows.ts';
import { type Run, readRun } from '../../src/ledger/runs.ts';
import type { BehaviourOptions } from '../../src/service/behaviour.ts';
import { type Service, startService } from '../../src/service/server.ts';
import { createKey, createTenant } from '../../src/service/tenants.ts';
import { parseSettings } from '../../src/settings/parse.ts';
import { type FreshDatabase, freshDatabase } from './database.ts';

export const TEST_KEY = 'the-key-of-the-test-tenant';

export interface SyncBed {
  readonly database: FreshDatabase;
  readonly service: Service;
  readonly tenantId: number;
  readonly workspace: Workspace;
  /** Starts the sync and waits until its run has ended. */
  runSync(how?: { dryRun?: boolean }): Promise<Run>;
  rows(run: Run): Promise<readonly ReportedRow[]>;
  counts(run: Run): ReturnType<typeof countRows>;
  /** Adds contacts straight to the service, past its API; answers their ids. */
  addContacts(contacts: readonly Record<string, unknown>[]): Promise<readonly number[]>;
  customers(): Promise<readonly Record<string, unknown>[]>;
  close(): Promise<void>;
}

export interface BedOptions {
  readonly behaviour?: BehaviourOptions;
  /** YAML of the account's settings beside url and apiKey, flow style. */
  readonly account?: string;
  readonly options?: string;
  readonly redisUrl?: string;
}

export async function openSyncBed({
  behaviour,
  account = '',
  options = '{}',
  redisUrl = 'none',
}: BedOptions = {}): Promise<SyncBed> {
  const database = await freshDatabase();
  const service = await startService({ pool: database.pool, ...(behaviour && { behaviour }) });
  const tenant = await createTenant(database.pool, 'test');
  await createKey(database.pool, tenant.id, { key: TEST_KEY });
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-bed-'));
  const text = `
accounts:
  test: { url: "${service.url}", apiKey: { env: TEST_KEY }, ${account || 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 2s, settle: 2s }'} }
redis: { url: "${redisUrl}", prefix: ${path.basename(dataDir)} }
syncs:
  contacts: { job: contacts, account: test, options: ${options} }
`;
  const parsed = parseSettings({ text, file: 'test.yaml', env: {} });
  if (parsed.status !== 'valid') throw new Error(JSON.stringify(parsed.problems));
  const log = pino({ level: 'silent' });
  const workspace = await openWorkspace({
    settings: parsed.settings,
    dataDir,
    env: { TEST_KEY },
    log,
    database: {
      pool: database.pool,
      connection: database.connection,
      describe: 'the test database',
      close: async () => {},
    },
  });
  return {
    database,
    service,
    tenantId: tenant.id,
    workspace,
    async runSync({ dryRun = false } = {}) {
      const begun = await workspace.startSync('contacts', { lane: 'batch', dryRun });
      expect(begun.status).toBe('started');
      const runner = await workspace.work();
      await runner.attend(begun.run);
      return ended(database, begun.run.id);
    },
    rows: async (run) => {
      const rows: ReportedRow[] = [];
      for await (const row of reportRows(database.pool, run.id)) rows.push(row);
      return rows;
    },
    counts: (run) => countRows(database.pool, run.id),
    async addContacts(contacts) {
      const ids: number[] = [];
      for (const contact of contacts) {
        const response = await fetch(`${service.url}/api/v1/contacts/create`, {
          method: 'POST',
          headers: { API_KEY: TEST_KEY, 'content-type': 'application/json' },
          body: JSON.stringify(contact),
        });
        expect(response.status).toBe(200);
        const made = await database.pool.query<{ id: string }>(
          `select max(record_id)::text as id from service.commits where operation = 'contacts.create'`,
        );
        ids.push(Number(made.rows[0]?.id));
      }
      return ids;
    },
    async customers() {
      const response = await fetch(`${service.url}/api/v1/customers/getall`, { headers: { API_KEY: TEST_KEY } });
      const body = (await response.json()) as { content: Record<string, unknown>[] };
      return body.content;
    },
    async close() {
      await workspace.close();
      await service.close();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** Waits until a run has ended. */
export async function ended(database: FreshDatabase, runId: string): Promise<Run> {
  return expect
    .poll(() => readRun(database.pool, runId), { timeout: 60_000, interval: 20 })
    .toSatisfy((run: Run) => run.status !== 'running')
    .then(() => readRun(database.pool, runId));
}
