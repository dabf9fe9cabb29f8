/** Fields and comments of items, from the scan to the vendor, with the ledger. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { queueDeliveries } from '../../../src/mirror/outbox/outbox.ts';
import { openReportsHarness } from '../../support/harness/reports.ts';
import { change } from './delivery-worlds.ts';

const PROGRAM = 'test/mirror/inbound/reporting-program';

test('a changed title is written, one that a person changed is kept, and the issue of a gone task is closed', async () => {
  const issueKeys = 'onChange: [title], comment: true, whenGone: close';
  const harness = await openReportsHarness({ targets: '[issues]', issueKeys });
  onTestFinished(() => harness.close());
  const { github } = harness;
  await harness.linkedTasks(1);
  await harness.update(1, { description: 'the first delivery' });
  await harness.sync();
  expect([github.issues[0]?.title, github.comments.length]).toEqual(['Old', 1]);
  await harness.update(1, { taskName: 'Call Lee' });
  await harness.sync();
  expect(github.issues[0]?.title).toBe('Call Lee');
  if (github.issues[0]) github.issues[0].title = 'By a person';
  await harness.complete(1);
  await harness.sync();
  expect(github.issues[0]).toMatchObject({ title: 'By a person', state: 'closed' });
  await harness.complete(1, false);
  await harness.sync();
  await harness.addTasks(1);
  await harness.remove('task', 1);
  await harness.sync();
  expect(github.issues[0]?.state).toBe('open'); // one scan without the task is no proof
  await harness.sync();
  expect(github.issues[0]).toMatchObject({ state: 'closed', state_reason: 'not_planned' });
  expect(github.comments).toHaveLength(1);
});

test('a process that is killed while the target takes its comment writes it once', async () => {
  const harness = await openReportsHarness({ targets: '[issues]', issueKeys: 'comment: true' });
  onTestFinished(() => harness.close());
  const { github, database } = harness;
  await harness.linkedTasks(1);
  await harness.stopWorking();
  await queueDeliveries(database.pool, ['issues'], [change(1, 2, { scope: 'test', runId: undefined })]);
  const first = harness.startProgram(PROGRAM);
  github.vendor.next('lose', (request) => github.isComment(request) && first.kill('SIGKILL'));
  await once(first, 'exit');
  expect(github.comments).toHaveLength(1);
  const second = harness.startProgram(PROGRAM);
  onTestFinished(() => void second.kill('SIGKILL'));
  const verdicts = async () => (await database.pool.query('select verdict from ledger.deliveries')).rows;
  await expect.poll(verdicts, { timeout: 20_000 }).toEqual([{ verdict: 'already' }]);
  expect(github.comments).toHaveLength(1);
});
