/** Fields and comments of items, from the scan to the vendor, with the ledger. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { queueDeliveries } from '../../../src/mirror/outbox/outbox.ts';
import { openReportsHarness, type ReportsHarness } from '../../support/harness/reports.ts';
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
  await queueDeliveries(
    database.pool,
    [{ name: 'issues', filter: undefined }],
    [change(1, 2, { scope: 'test', runId: undefined })],
  );
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

test('an issue that a person creates becomes a task, once, and no second issue', async () => {
  const harness = await openReportsHarness({
    targets: '[issues, hook]',
    issueKeys: 'createTasks: true, create: true',
    options: '{ poll: [issues] }',
  });
  onTestFinished(() => harness.close());
  const { github, receiver, call } = harness;
  github.put(false); // older than the first poll
  await harness.sync();
  const issue = newIssue(harness, 'Fix <b>it</b>');
  await harness.sync();
  const [task, ...others] = await tasksOf(harness);
  expect(others).toEqual([]);
  expect(await linkedItems(harness)).toEqual(['octo/shop#2']);
  expect(task).toMatchObject({ taskName: 'Old' });
  expect(task?.description).toMatch(/^Fix &lt;b&gt;it&lt;\/b&gt;\n\nGH: octo\/shop#2\n\nlockstep-[\da-f]{12}$/);
  for (let times = 0; times < 3; times++) await harness.sync();
  expect([(await tasksOf(harness)).length, github.issues.length]).toEqual([1, 2]);
  expect(receiver.events).toMatchObject([{ type: 'task.created' }]);
  await call('tasks.complete', { isCompleted: true }, task?.id);
  await harness.sync();
  expect([github.issues[0]?.state, issue?.state]).toEqual(['open', 'closed']);
});

test('a process that is killed after it created a task for an issue creates it once', async () => {
  const harness = await openReportsHarness({
    targets: '[issues]',
    issueKeys: 'createTasks: true, create: true',
    options: '{ poll: [issues] }',
  });
  onTestFinished(() => harness.close());
  await harness.sync();
  newIssue(harness, '');
  let kill: (() => void) | undefined;
  harness.front.set(async (request, pass) => {
    const reply = await pass();
    if (!request.path.endsWith('/tasks/create') || kill === undefined) return reply;
    kill();
    return undefined;
  });
  await harness.workspace.startSync('mirror', { lane: 'batch', dryRun: false });
  const first = harness.startProgram('test/support/sync-program');
  kill = () => first.kill('SIGKILL');
  await once(first, 'exit');
  kill = undefined;
  expect(await tasksOf(harness)).toHaveLength(1);
  await once(harness.startProgram('test/support/sync-program'), 'exit');
  await harness.sync();
  expect([(await tasksOf(harness)).length, harness.github.issues.length]).toEqual([1, 1]);
  expect(await linkedItems(harness)).toEqual(['octo/shop#1']);
});

/** An issue that a person has just created. */
function newIssue({ github }: ReportsHarness, body: string) {
  github.put(false);
  const issue = github.issues.at(-1);
  return issue && Object.assign(issue, { body, created_at: new Date().toISOString() });
}

async function tasksOf({ database }: ReportsHarness) {
  const found = await database.pool.query<{ id: number; taskName: string; description: string }>(
    `select id, fields->>'taskName' as "taskName", fields->>'description' as description from service.tasks order by id`,
  );
  return found.rows;
}

async function linkedItems({ database }: ReportsHarness) {
  const found = await database.pool.query<{ id: string }>('select record_id as id from ledger.links');
  return found.rows.map(({ id }) => id);
}
