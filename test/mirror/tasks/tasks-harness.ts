/** A service with tasks, a ledger and a worker, for tests of scans. Nothing is delivered here. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import type pg from 'pg';
import { expect, vi } from 'vitest';
import type { Workspace } from '../../../src/cli/wire.ts';
import type { OperationName } from '../../../src/contract/operations.ts';
import { type Counts, countRows } from '../../../src/engine/ledger/rows.ts';
import { endRun, type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import {
  createPipeline,
  deleteRecord,
  type MadePipeline,
  type NewPipeline,
} from '../../../src/service/administration.ts';
import { type Service, startService } from '../../../src/service/server.ts';
import { createKey, createTenant } from '../../../src/service/tenants.ts';
import type { BehaviourOptions } from '../../../src/service/testbed/behaviour.ts';
import { callService } from '../../support/call-service.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { type Between, startFrontServer } from '../../support/front-server.ts';
import { testWorkspace } from '../../support/test-workspace.ts';
import { type WordedRow, wordedRows } from '../../support/worded-rows.ts';

const KEY = 'the-key-of-the-test-tenant';

export interface Scanned {
  readonly run: Run;
  /** The changes passed to the outbox, such as `task 7 completed v2`. */
  readonly changes: readonly string[];
  /** The counts that are not 0. */
  readonly counts: Partial<Counts>;
  readonly calls: Readonly<Record<string, number>>;
}

export interface TasksHarness {
  readonly database: FreshDatabase;
  readonly service: Service;
  readonly workspace: Workspace;
  readonly connection: pg.PoolConfig;
  readonly settingsText: string;
  readonly dataDir: string;
  /** Runs the sync until its scan is over, and ends the run. */
  scan(how?: { dryRun?: boolean }): Promise<Scanned>;
  begin(how?: { dryRun?: boolean }): Promise<Run>;
  /** Waits until the scan of a run is over, and ends the run. */
  scanned(run: Run): Promise<Scanned>;
  rows(run: Run): Promise<readonly WordedRow[]>;
  /** Calls the function with every request of the worker from now on. */
  between(look?: Between): void;
  /** Adds tasks in one go: Task 1, Task 2, … */
  addTasks(count: number): Promise<void>;
  update(id: number, changes: Record<string, unknown>): Promise<void>;
  complete(id: number, isCompleted?: boolean): Promise<void>;
  remove(id: number): Promise<void>;
  call(operation: OperationName, body?: unknown, pathId?: number): Promise<unknown>;
  pipeline(pipeline: NewPipeline): Promise<MadePipeline>;
  /** Versions by id of all known tasks of one kind. */
  versions(kind?: string): Promise<Readonly<Record<string, number>>>;
  /** Empties service and ledger and resets their ids. */
  reset(): Promise<void>;
  close(): Promise<void>;
}

export async function openTasksHarness({
  behaviour,
  options = '{}',
  account = '',
  serviceUrl,
}: {
  behaviour?: BehaviourOptions;
  options?: string;
  account?: string;
  serviceUrl?: string;
} = {}): Promise<TasksHarness> {
  const database = await freshDatabase();
  const { pool, connection } = database;
  const service = await startService({ pool, ...(behaviour && { behaviour }) });
  const plain = await startService({ pool });
  const front = await startFrontServer();
  front.passTo(service.url);
  const tenant = await createTenant(pool, 'test');
  await createKey(pool, tenant.id, { key: KEY });
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-test-'));
  const settingsText = `
accounts:
  test: { url: "${serviceUrl ?? front.url}", apiKey: { env: TEST_KEY }, budget: { requests: 5000, per: 1s, burst: 500, timeout: 5s, settle: 2s }, ${account} }
redis: { url: none }
syncs:
  mirror: { job: tasks, account: test, targets: [hook], options: ${options} }
targets:
  hook: { type: webhook, url: "https://hook.invalid/", secret: { env: HOOK_SECRET } }
`;
  const env = { TEST_KEY: KEY, HOOK_SECRET: 'x'.repeat(32) };
  const workspace = await testWorkspace({ text: settingsText, dataDir, env, database });

  const call: TasksHarness['call'] = (operation, body, pathId = 0) =>
    callService({ url: plain.url, key: KEY }, operation, pathId, body);
  const begin: TasksHarness['begin'] = async ({ dryRun = false } = {}) => {
    service.traffic.reset();
    const begun = await workspace.startSync('mirror', { lane: 'batch', dryRun });
    expect(begun.status).toBe('started');
    await (await workspace.work()).attend(begun.run);
    return begun.run;
  };
  const scanned: TasksHarness['scanned'] = async ({ id }) => {
    const isOver = async () => {
      const { status, phase } = await readRun(pool, id);
      expect(status === 'running' && phase === 'scan-tasks').toBe(false);
    };
    await vi.waitFor(isOver, { timeout: 60_000, interval: 10 });
    const counts = await countRows(pool, id);
    await endRun(pool, id, 'done');
    const found = await pool.query<{ change: string }>(
      `select kind || ' ' || task_id || ' ' || event || ' v' || sequence as change from ledger.deliveries
       where run_id = $1 order by kind, length(task_id), task_id, sequence`,
      [id],
    );
    return {
      run: await readRun(pool, id),
      changes: found.rows.map(({ change }) => change),
      counts: Object.fromEntries(Object.entries(counts).filter(([, n]) => n !== 0)),
      calls: Object.fromEntries(service.traffic.counts().byOperation),
    };
  };
  return {
    database,
    service,
    workspace,
    connection,
    settingsText,
    dataDir,
    begin,
    scanned,
    scan: async (how) => scanned(await begin(how)),
    rows: (run) => wordedRows(pool, run),
    between: (look) => front.set(look),
    async addTasks(count) {
      await pool.query(
        `insert into service.tasks (tenant_id, fields)
         select $1, jsonb_build_object('taskName', 'Task ' || n, 'isCompleted', false) from generate_series(1, $2::int) n order by n`,
        [tenant.id, count],
      );
    },
    async update(id, changes) {
      await call('tasks.update', changes, id);
    },
    async complete(id, isCompleted = true) {
      await call('tasks.complete', { isCompleted }, id);
    },
    async remove(id) {
      expect(await deleteRecord(pool, tenant.id, 'task', id)).toEqual({ status: 'deleted' });
    },
    call,
    pipeline: (pipeline) => createPipeline(pool, tenant.id, pipeline),
    async versions(kind = 'task') {
      const found = await pool.query<{ id: string; version: number }>(
        `select task_id as id, version from ledger.tasks where kind = $1 order by length(task_id), task_id`,
        [kind],
      );
      return Object.fromEntries(found.rows.map(({ id, version }) => [id, version]));
    },
    async reset() {
      front.set();
      await pool.query(`truncate ledger.runs, ledger.tasks, ledger.task_lists, ledger.deliveries, ledger.learnt, ledger.suspensions,
        service.tasks, service.pipelines, service.commits restart identity cascade`);
    },
    async close() {
      await workspace.close();
      await front.close();
      await service.close();
      await plain.close();
      await database.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}
