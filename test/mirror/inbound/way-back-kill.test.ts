/** A process that is killed after the service has completed the task, and before the ledger knows. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { openReportsHarness } from '../../support/harness/reports.ts';

const PROGRAM = 'test/mirror/inbound/reporting-program';

test('the process that takes over finishes the work, and nothing is delivered twice', async () => {
  const harness = await openReportsHarness();
  onTestFinished(() => harness.close());
  await harness.linkedTasks(1);
  harness.changeIssue(1, 'closed');
  let kill: (() => void) | undefined;
  harness.front.set(async (request, pass) => {
    const reply = await pass();
    if (!request.path.endsWith('/saveCheckStatus') || kill === undefined) return reply;
    kill();
    return undefined;
  });
  await harness.stopWorking();
  await harness.hook(1);
  const first = harness.startProgram(PROGRAM);
  kill = () => first.kill('SIGKILL');
  await once(first, 'exit');
  kill = undefined;
  expect(await harness.isCompleted(1)).toBe(true);
  expect(await harness.report(1)).toMatchObject({ state: 'waiting' });
  await harness.database.pool.query('update ledger.item_reports set held_until = now()'); // its hold expires
  const second = harness.startProgram(PROGRAM);
  onTestFinished(() => void second.kill('SIGKILL'));
  await expect.poll(async () => (await harness.report(1))?.verdict).toBe('taken');
  await expect.poll(() => harness.receiver.events.length).toBe(1);
  expect(harness.receiver.events).toMatchObject([{ type: 'task.completed', data: { sequence: 2 } }]);
  expect(harness.writes()).toBe(0);
});
