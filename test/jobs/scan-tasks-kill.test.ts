/** A process that is killed between two pages of its scan, after it has passed on earlier tasks. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { runningRuns } from '../../src/engine/ledger/runs.ts';
import { openTasksHarness } from '../support/harness/tasks.ts';

test('tasks it reported keep their version, and the process that takes over reports the rest', async () => {
  const harness = await openTasksHarness({ behaviour: { defaultRowsPerPage: 10 }, options: '{ backfill: true }' });
  onTestFinished(() => harness.close());
  await harness.addTasks(60);
  let kill: (() => void) | undefined;
  harness.front.set(async (request, pass) => {
    if (request.query.get('page') === '3') kill?.();
    return pass();
  });
  const worker = harness.startProgram('test/mirror/tasks/scan-program');
  kill = () => worker.kill('SIGKILL');
  await once(worker, 'exit');
  kill = undefined;
  const told = Object.keys(await harness.versions());
  expect([told.length, told.includes('30'), told.includes('31')]).toEqual([30, true, false]);
  await harness.update(5, { taskName: 'Renamed' });
  const [run] = await runningRuns(harness.database.pool);
  if (!run) throw new Error('the run is not there any more');
  await (await harness.workspace.work()).attend(run);
  const { changes, counts, run: ended } = await harness.scanned(run);
  const created = Array.from({ length: 60 }, (_, i) => `task ${i + 1} created v1`);
  expect(changes).toEqual(created.toSpliced(5, 0, 'task 5 changed v2'));
  expect([counts, ended.rowsSeen]).toEqual([{ in: 60, unknown: 60 }, 60]);
  expect((await harness.scan()).changes).toEqual([]);
});
