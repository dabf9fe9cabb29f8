/** A process that is killed between two pages of its scan, after it has handed over what it saw before. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { runningRuns } from '../../src/engine/ledger/runs.ts';
import { openTasksBed, type TasksBed } from '../tasks/tasks-bed.ts';

function startProcess({ connection, dataDir, settingsText }: TasksBed) {
  const launcher = path.join(import.meta.dirname, '../../src/cli/run-ts.mjs');
  const program = path.join(import.meta.dirname, '../tasks/scan-program.ts');
  const args = [program, JSON.stringify(connection), dataDir, settingsText];
  const env = { ...process.env, TEST_KEY: 'the-key-of-the-test-tenant', HOOK_SECRET: 'x'.repeat(32) };
  return fork(launcher, args, { env, stdio: 'inherit' });
}

test('what it has told stays told with the version it had, and the rest is told by who takes over', async () => {
  const bed = await openTasksBed({ behaviour: { defaultRowsPerPage: 10 }, options: '{ backfill: true }' });
  onTestFinished(() => bed.close());
  await bed.addTasks(60);
  let kill: (() => void) | undefined;
  bed.between(async (request, pass) => {
    if (request.query.get('page') === '3') kill?.();
    return pass();
  });
  const worker = startProcess(bed);
  kill = () => worker.kill('SIGKILL');
  await once(worker, 'exit');
  kill = undefined;
  const told = Object.keys(await bed.versions());
  expect([told.length, told.includes('30'), told.includes('31')]).toEqual([30, true, false]);
  await bed.update(5, { taskName: 'Renamed' });
  const [run] = await runningRuns(bed.database.pool);
  if (!run) throw new Error('the run is not there any more');
  await (await bed.workspace.work()).attend(run);
  const { changes, counts, run: ended } = await bed.scanned(run);
  const created = Array.from({ length: 60 }, (_, i) => `task ${i + 1} created v1`);
  expect(changes).toEqual(created.toSpliced(5, 0, 'task 5 changed v2'));
  expect([counts, ended.rowsSeen]).toEqual([{ in: 60, unknown: 60 }, 60]);
  expect((await bed.scan()).changes).toEqual([]);
});
