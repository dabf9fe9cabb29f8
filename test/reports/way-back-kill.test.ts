/** A process that is killed after the service has completed the task, and before the ledger knows. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { ENV, openReportsBed, type ReportsBed } from './reports-bed.ts';

function startProcess({ connection, dataDir, settingsText }: ReportsBed) {
  const launcher = path.join(import.meta.dirname, '../../src/cli/run-ts.mjs');
  const program = path.join(import.meta.dirname, 'reporting-program.ts');
  const args = [program, JSON.stringify(connection), dataDir, settingsText];
  return fork(launcher, args, { env: { ...process.env, ...ENV }, stdio: 'inherit' });
}

test('what it was at is done by who comes after it, and nothing is told twice', async () => {
  const bed = await openReportsBed();
  onTestFinished(() => bed.close());
  await bed.linkedTasks(1);
  bed.changeIssue(1, 'closed');
  let kill: (() => void) | undefined;
  bed.between(async (request, pass) => {
    const reply = await pass();
    if (!request.path.endsWith('/saveCheckStatus') || kill === undefined) return reply;
    kill();
    return undefined;
  });
  await bed.stopWorking();
  await bed.hook(1);
  const first = startProcess(bed);
  kill = () => first.kill('SIGKILL');
  await once(first, 'exit');
  kill = undefined;
  expect(await bed.isCompleted(1)).toBe(true);
  expect(await bed.report(1)).toMatchObject({ state: 'waiting' });
  await bed.database.pool.query('update ledger.item_reports set held_until = now()'); // its hold runs out
  const second = startProcess(bed);
  onTestFinished(() => void second.kill('SIGKILL'));
  await expect.poll(async () => (await bed.report(1))?.verdict, { timeout: 20_000 }).toBe('taken');
  await expect.poll(() => bed.receiver.events.length, { timeout: 20_000 }).toBe(1);
  expect(bed.receiver.events).toMatchObject([{ type: 'task.completed', data: { sequence: 2 } }]);
  expect(bed.writes()).toBe(0);
});
