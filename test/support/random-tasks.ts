/** Scans of the tasks of a drawn service, and a check of what they report. */
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { isScanned } from './harness/tasks.ts';
import { attend, ended, type World } from './random-world.ts';

export async function checkTasks(world: World): Promise<void> {
  const { service, random, why } = world;
  const { tasks } = service.records;
  const addTask = (n: number) =>
    service.add('tasks', { taskName: `Task ${n}`, description: '', isCompleted: random.chance(0.3) });
  const count = world.drawn.sizes.tasks;
  for (let n = 0; n < count; n++) addTask(n);
  const compare = (step: string, told: readonly string[] | undefined, expected: readonly string[]) => {
    if (told === undefined) return;
    if (told.toSorted().join() !== expected.toSorted().join())
      why.wrong.push(`${step}: told [${told.join(', ')}] instead of [${expected.join(', ')}]`);
  };
  const baseline = await scan(world, 'baseline');
  compare('baseline', baseline, []);
  if (baseline === undefined) return;
  const expected: string[] = [];
  const changed = tasks.at(0);
  if (changed !== undefined) {
    const isCompleted = changed.fields.isCompleted !== true;
    changed.fields = { ...changed.fields, isCompleted };
    expected.push(`${changed.id} ${isCompleted ? 'completed' : 'reopened'}`);
  }
  const added = addTask(count);
  expected.push(`${added.id} ${added.fields.isCompleted ? 'completed' : 'created'}`);
  compare('second scan', await scan(world, 'second scan'), expected);
  compare('third scan', await scan(world, 'third scan'), []);
}

/** What the outbox received; undefined if the run did not get that far. */
async function scan(world: World, step: string): Promise<readonly string[] | undefined> {
  const { database, workspace, why } = world;
  const begun = await workspace.startSync(`tasks-${world.n}`, { lane: 'batch', dryRun: false });
  await attend(world, begun.run);
  const run = await ended(world, begun.run.id, isScanned);
  if (run.status === 'failed' || run.status === 'paused') {
    why.refused.push(`${step}: ${run.status}: ${run.errorCode}: ${run.error}`);
    await endRun(database.pool, run.id, 'done').catch(() => undefined);
    return undefined;
  }
  if (run.status === 'running') await endRun(database.pool, run.id, 'done');
  if (run.scan === 'unproven') {
    why.refused.push(`${step}: unproven: ${run.notes.join('; ')}`);
    return undefined;
  }
  const found = await database.pool.query<{ told: string }>(
    `select task_id || ' ' || event as told from ledger.deliveries where run_id = $1`,
    [run.id],
  );
  return found.rows.map(({ told }) => told);
}
