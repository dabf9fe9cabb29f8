/** For tests of scans: tasks of the service, and the changes that a scan passes to the outbox. Nothing is delivered. */
import type { Counts } from '../../../src/engine/ledger/rows.ts';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import { type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import { createPipeline, type MadePipeline, type NewPipeline } from '../../../src/service/administration.ts';
import { ended, type Progress } from './ended.ts';
import { type Harness, openHarness, type SyncHow } from './harness.ts';
import type { Needs } from './needs.ts';

export type TasksHarness = ReturnType<typeof withTasks>;

export interface Scanned {
  readonly run: Run;
  /** The changes passed to the outbox, such as `task 7 completed v2`. */
  readonly changes: readonly string[];
  /** The counts that are not 0. */
  readonly counts: Partial<Counts>;
  readonly calls: Readonly<Record<string, number>>;
}

/** With a sync of tasks that has these options, and one target. `filter`: the changes that it receives. */
export async function openTasksHarness({
  options = '{}',
  filter = 'fields: {}',
  ...needs
}: Pick<Needs, 'behaviour' | 'serviceUrl'> & {
  readonly options?: string;
  readonly filter?: string;
} = {}): Promise<TasksHarness> {
  const harness = await openHarness({
    ...needs,
    hasFront: true,
    syncs: { mirror: `job: tasks, targets: [hook], options: ${options}` },
    targets: { hook: `type: webhook, url: "https://hook.invalid/", secret: { env: HOOK_SECRET }, ${filter}` },
    env: { HOOK_SECRET: 'x'.repeat(32) },
  });
  return withTasks(harness);
}

/** Whether the scan of a run is over; its deliveries may not be. */
export const isScanned = ({ status, phase }: Progress) => status !== 'running' || phase !== 'scan-tasks';

export function withTasks(harness: Harness) {
  const { service, tenantId, call } = harness;
  const { pool } = harness.database;
  /** Waits until the scan of a run is over, and ends the run. */
  const scanned = async (begun: Run): Promise<Scanned> => {
    await ended(harness.database, begun.id, { hasStopped: isScanned });
    const counts = await harness.tally(begun);
    await endRun(pool, begun.id, 'done');
    const found = await pool.query<{ change: string }>(
      `select kind || ' ' || task_id || ' ' || event || ' v' || sequence as change from ledger.deliveries
       where run_id = $1 order by kind, length(task_id), task_id, sequence`,
      [begun.id],
    );
    return {
      run: await readRun(pool, begun.id),
      changes: found.rows.map(({ change }) => change),
      counts,
      calls: Object.fromEntries(service.traffic.counts().byOperation),
    };
  };
  return Object.assign(harness, {
    scanned,
    /** Starts the sync and waits until its scan is over, and ends the run. */
    async scan(how?: SyncHow): Promise<Scanned> {
      service.traffic.reset();
      return scanned(await harness.beginSync(how));
    },
    /** Adds tasks in one go: Task 1, Task 2, … */
    async addTasks(count: number): Promise<void> {
      await pool.query(
        `insert into service.tasks (tenant_id, fields)
         select $1, jsonb_build_object('taskName', 'Task ' || n, 'isCompleted', false) from generate_series(1, $2::int) n order by n`,
        [tenantId, count],
      );
    },
    async update(id: number, changes: Record<string, unknown>): Promise<void> {
      await call('tasks.update', changes, id);
    },
    async complete(id: number, isCompleted = true): Promise<void> {
      await call('tasks.complete', { isCompleted }, id);
    },
    pipeline: (pipeline: NewPipeline): Promise<MadePipeline> => createPipeline(pool, tenantId, pipeline),
    /** Versions by id of all known tasks of one kind. */
    async versions(kind = 'task'): Promise<Readonly<Record<string, number>>> {
      const found = await pool.query<{ id: string; version: number }>(
        `select task_id as id, version from ledger.tasks where kind = $1 order by length(task_id), task_id`,
        [kind],
      );
      return Object.fromEntries(found.rows.map(({ id, version }) => [id, version]));
    },
  });
}
