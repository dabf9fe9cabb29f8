/**
 * What a test of whole runs needs, put together as the command line does it: a database, the embedded service with the
 * tenant of account `test`, settings, and a workspace that works on them. README.md beside this file lists its extensions.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect } from 'vitest';
import type { Workspace } from '../../../src/cli/workspace/open-workspace.ts';
import type { StartHow } from '../../../src/cli/workspace/start-sync.ts';
import type { OperationName } from '../../../src/contract/operations.ts';
import { type Counts, countRows } from '../../../src/engine/ledger/rows.ts';
import type { Run } from '../../../src/engine/ledger/runs.ts';
import { type DeletableKind, deleteRecord } from '../../../src/service/administration.ts';
import { createKey, createTenant } from '../../../src/service/tenants.ts';
import type { BehaviourOptions } from '../../../src/service/testbed/behaviour.ts';
import { type FreshDatabase, freshDatabase } from '../database.ts';
import { programFile } from '../programs.ts';
import { type CountedService, startCountedService } from '../traffic.ts';
import { type WordedRow, wordedRows } from '../worded-rows.ts';
import { callService } from './call-service.ts';
import { emptyingOf } from './empty-tables.ts';
import { ended } from './ended.ts';
import { type FrontServer, startFrontServer } from './front-server.ts';
import { type Needs, settingsText } from './needs.ts';
import { testWorkspace } from './test-workspace.ts';

export const TEST_KEY = 'the-key-of-the-test-tenant';

/** How a sync is started; `sync` is its name, by default the first of the settings. */
export type SyncHow = Partial<Omit<StartHow, 'lane'>> & { readonly sync?: string };

export interface Harness {
  readonly database: FreshDatabase;
  readonly service: CountedService;
  readonly tenantId: number;
  readonly workspace: Workspace;
  /** Holds lockstep.yaml with the settings, and everything that a process keeps. */
  readonly dataDir: string;
  /** What a process needs to open the settings: its secrets. */
  readonly env: Readonly<Record<string, string>>;
  readonly front: FrontServer;
  /** Opens what another process would have, on the same database, service and queue; closed with the harness. */
  anotherWorkspace(): Promise<Workspace>;
  /** Starts another service over the same records; closed with the harness. */
  anotherService(behaviour: BehaviourOptions): Promise<CountedService>;
  /** Starts a bundled program, such as `test/support/sync-program`, on the settings. Ends with the harness. */
  startProgram(name: string): ChildProcess;
  /** Starts a sync and waits until its run has ended. */
  runSync(how?: SyncHow): Promise<Run>;
  /** The same without waiting for its end. */
  beginSync(how?: SyncHow): Promise<Run>;
  rows(run: Run): Promise<readonly WordedRow[]>;
  counts(run: Run): Promise<Counts>;
  /** The run's counts, without zeros. */
  tally(run: Run): Promise<Partial<Counts>>;
  /** Calls the service as another client would, without faults or odd answers; returns the content. */
  call(operation: OperationName, body?: unknown, pathId?: number): Promise<unknown>;
  /** Deletes a record, like a person on the web platform. */
  remove(kind: DeletableKind, id: number): Promise<void>;
  /** How often each record was written by these operations, by the service's own commit log: by natural key or id. */
  commitsBy(...operations: readonly OperationName[]): Promise<ReadonlyMap<string, number>>;
  /** Requests of the worker that wrote anything, since the service began to count. */
  writesSeen(): number;
  /** Makes ledger and service as empty as after opening. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export async function openHarness(needs: Needs = {}): Promise<Harness> {
  const { behaviour, serviceUrl, hasFront = false, env: secrets = {}, database = await freshDatabase() } = needs;
  const { pool } = database;
  const closers: (() => Promise<unknown>)[] = [];
  const keep = <T extends { close(): Promise<unknown> }>(part: T): T => {
    closers.push(() => part.close());
    return part;
  };
  keep(database);
  const anotherService = async (how: BehaviourOptions) => keep(await startCountedService({ pool, behaviour: how }));
  const service = await anotherService(behaviour ?? {});
  let plain: Promise<CountedService> | undefined; // not every test calls it, and a service takes long to start
  const { id: tenantId } = await createTenant(pool, 'test');
  await createKey(pool, tenantId, { key: TEST_KEY });
  const front = keep(await startFrontServer());
  front.passTo(serviceUrl ?? service.url);

  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-test-'));
  closers.push(() => rm(dataDir, { recursive: true, force: true }));
  const url = hasFront ? front.url : (serviceUrl ?? service.url);
  const text = settingsText({ ...needs, url, prefix: path.basename(dataDir) });
  await writeFile(path.join(dataDir, 'lockstep.yaml'), text);
  const env = { TEST_KEY, ...secrets };
  const anotherWorkspace = async () => keep(await testWorkspace({ text, dataDir, env, database }));
  const workspace = await anotherWorkspace();

  const beginSync: Harness['beginSync'] = async ({ sync, dryRun = false, ...how } = {}) => {
    const name = sync ?? Object.keys(workspace.settings.syncs)[0] ?? '';
    const begun = await workspace.startSync(name, { lane: 'batch', dryRun, ...how });
    expect(begun.status).toBe('started');
    await (await workspace.work()).attend(begun.run);
    return begun.run;
  };
  const empty = emptyingOf(pool);
  return {
    database,
    service,
    tenantId,
    workspace,
    dataDir,
    env,
    front,
    anotherWorkspace,
    anotherService,
    startProgram(name) {
      const args = [programFile(name), JSON.stringify(database.connection), dataDir, text];
      const stdio = ['ignore', 'inherit', 'inherit'] as const;
      const child = spawn(process.execPath, args, { env: { ...process.env, ...env }, stdio: [...stdio] });
      closers.push(async () => child.kill('SIGKILL'));
      return child;
    },
    beginSync,
    runSync: async (how) => ended(database, (await beginSync(how)).id),
    rows: (run) => wordedRows(pool, run),
    counts: ({ id }) => countRows(pool, id),
    async tally({ id }) {
      return Object.fromEntries(Object.entries(await countRows(pool, id)).filter(([, n]) => n !== 0));
    },
    async call(operation, body, pathId = 0) {
      plain ??= anotherService({});
      return callService({ url: (await plain).url, key: TEST_KEY }, operation, pathId, body);
    },
    async remove(kind, id) {
      expect(await deleteRecord(pool, tenantId, kind, id)).toEqual({ status: 'deleted' });
    },
    async commitsBy(...operations) {
      const found = await pool.query<{ key: string; n: number }>(
        `select coalesce(natural_key, record_id::text) as key, count(*)::int as n from service.commits
         where operation = any ($1) group by 1`,
        [operations],
      );
      return new Map(found.rows.map(({ key, n }) => [key, n]));
    },
    writesSeen() {
      const seen = [...service.traffic.counts().byOperation].filter(([name]) => !/\.get(all)?$/.test(name));
      return seen.reduce((sum, [, n]) => sum + n, 0);
    },
    async reset() {
      front.set();
      await empty();
      service.traffic.reset();
    },
    async close() {
      for (const close of closers.splice(0).reverse()) await close();
    },
  };
}
