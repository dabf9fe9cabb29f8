/** Items that a run reads back: polled, or reconciled. */
import { afterEach, expect, test } from 'vitest';
import { countRows } from '../../../src/engine/ledger/rows.ts';
import { openReportsHarness, type ReportsHarness } from '../../support/harness/reports.ts';
import type { Reply } from '../../support/http-server.ts';

let harness: ReportsHarness;
afterEach(async () => {
  expect(harness.github.vendor.complaints).toEqual([]);
  await harness.close();
});

const states = () => harness.github.issues.map(({ state }) => state);
const deliveries = async () =>
  (
    await harness.database.pool.query(
      'select id, task_id, sequence, event, verdict from ledger.deliveries order by task_id, sequence',
    )
  ).rows;

/** Tasks that were completed and delivered, so GitHub received each once. */
async function told(count: number): Promise<void> {
  await harness.linkedTasks(count);
  for (let id = 1; id <= count; id++) await harness.complete(id);
  await harness.sync();
  expect(states()).toEqual(Array(count).fill('closed'));
}

test('a reconcile sends a diverged state again under its old id, and reports what diverged', async () => {
  harness = await openReportsHarness({ targets: '[issues]' });
  await told(3);
  const before = await deliveries();
  harness.changeIssue(2, 'open');
  const run = await harness.sync({ reconcile: true });
  expect(states()).toEqual(['closed', 'closed', 'closed']);
  expect(await deliveries()).toEqual(before);
  expect(harness.writes()).toBe(4);
  expect(run.notes).toEqual(
    expect.arrayContaining([
      'issues: 1 of 3 items differed from their tasks: octo/shop#2 (task 2)',
      'issues: 1 delivered',
    ]),
  );
  expect(await countRows(harness.database.pool, run.id)).toMatchObject({ in: 3, updated: 1, unchanged: 2 });
});

test('a reconcile of equal sides writes nothing', async () => {
  harness = await openReportsHarness({ targets: '[issues, hook]', options: '{ reconcile: true }' });
  await told(3);
  const run = await harness.sync();
  expect(run.notes).toContain('issues: 0 of 3 items differed from their tasks');
  expect([harness.writes(), await countRows(harness.database.pool, run.id)]).toMatchObject([
    3,
    { in: 3, unchanged: 3 },
  ]);
});

test('a reconcile sends an item a state that no delivery had sent, and never an older state', async () => {
  harness = await openReportsHarness({ targets: '[issues]' });
  await told(1);
  harness.changeIssue(1, 'open');
  await harness.hook(1);
  await harness.settle(); // the task was reopened by the issue: that version was never a delivery
  expect(await harness.isCompleted(1)).toBe(false);
  harness.changeIssue(1, 'closed');
  const run = await harness.sync({ reconcile: true });
  expect([await harness.isCompleted(1), states()]).toEqual([false, ['open']]);
  expect(await deliveries()).toMatchObject([{ sequence: 2 }, { sequence: 3, event: 'changed', verdict: 'delivered' }]);
  expect(run.status).toBe('done');
});

test('a reconcile leaves a missing item and its link unchanged, and reports it', async () => {
  harness = await openReportsHarness({ targets: '[issues]' });
  await told(2);
  await harness.database.pool.query(`update ledger.links set record_id = 'octo/shop#99' where source_id = 'task:2'`);
  const { notes } = await harness.sync({ reconcile: true });
  expect(notes).toContain('issues: 1 of 2 items could not be found: octo/shop#99 (task 2); their links are kept');
  expect((await harness.database.pool.query('select from ledger.links')).rowCount).toBe(2);
});

test('where the target has priority, a reconcile takes over its changes', async () => {
  harness = await openReportsHarness({ targets: '[issues]', options: '{ onConflict: target }' });
  await told(2);
  harness.changeIssue(2, 'open');
  const { notes } = await harness.sync({ reconcile: true });
  expect([await harness.isCompleted(2), states(), harness.writes()]).toEqual([false, ['closed', 'open'], 2]);
  expect(notes).toEqual(
    expect.arrayContaining([
      'issues: 0 of 2 items differed from their tasks',
      'issues: 1 of 2 items had changed at the target',
    ]),
  );
});

/** The next reads of items are answered so. */
function answerReads(count: number, reply: Reply, isMeant: (path: string) => boolean = () => true): void {
  for (let left = count; left > 0; left--)
    harness.github.vendor.next(reply, ({ method, path }) => method === 'GET' && isMeant(path));
}

test('a failing target ends the reading of its items, and not the run', async () => {
  harness = await openReportsHarness({ targets: '[issues]', options: '{ poll: [issues] }' });
  await harness.linkedTasks(6);
  answerReads(5, { status: 500 }); // of all items together, and then of each
  const run = await harness.sync();
  expect(run.status).toBe('done');
  expect(run.notes).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/^issues: 4 of \d items could not be read: octo\/shop#1 \(task 1\): .*500; .* and 1 more$/),
      expect.stringMatching(/^issues: the next run begins with the items that were not read \(2\): .*500/),
    ]),
  );
});

test('an item that cannot be read is named, the others are read, and the next poll begins with the others', async () => {
  harness = await openReportsHarness({ targets: '[issues]', options: '{ poll: [issues], pollShare: 0.5 }' });
  await harness.linkedTasks(4);
  answerReads(1, { status: 500 }, (path) => path.endsWith('/3'));
  const { notes } = await harness.sync();
  expect(notes).toContainEqual(
    expect.stringMatching(/^issues: 1 of \d items could not be read: octo\/shop#3 \(task 3\): /),
  );
  expect(notes).toContain('issues: 0 of 1 items differed from their tasks');
  await harness.sync();
  const reads = harness.github.vendor.requests.map(({ path }) => path.split('/').at(-1));
  expect(reads.slice(-2).toSorted()).toEqual(['1', '2']);
});

test('a target that limits its calls for an hour ends the reading, and the other targets receive the changes', async () => {
  harness = await openReportsHarness({ options: '{ poll: [issues] }' });
  await harness.linkedTasks(6);
  const reset = String(Math.floor(Date.now() / 1000) + 3600);
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': reset };
  answerReads(6, { status: 403, headers, body: { message: 'API rate limit exceeded' } });
  await harness.complete(2);
  const run = await harness.sync();
  expect([run.status, harness.receiver.events.length]).toEqual(['done', 1]);
  // A read that waits for the budget meanwhile may be the last one that fails.
  const why =
    /^issues: the next run begins with the items that were not read \(6\): .*(rate limit exceeded|the budget of target issues allows no call for another \d+ s: .*)$/;
  expect(run.notes).toContainEqual(expect.stringMatching(why));
});

test('a poll takes over changes of the target', async () => {
  harness = await openReportsHarness({ options: '{ poll: [issues] }' });
  await harness.linkedTasks(3);
  await harness.sync(); // each was looked at once
  harness.changeIssue(3, 'closed');
  await harness.sync();
  expect([await harness.isCompleted(3), harness.writes(), harness.receiver.events.length]).toEqual([true, 0, 1]);
  await harness.sync();
  expect([harness.writes(), harness.receiver.events.length]).toEqual([0, 1]);
});

test('a poll names items that differ from their tasks although nothing has moved, and leaves them', async () => {
  harness = await openReportsHarness({ targets: '[issues]', options: '{ poll: [issues] }' });
  await told(1);
  harness.github.vendor.next({ status: 422, body: { message: 'Validation Failed' } }, harness.github.isWrite);
  await harness.complete(1, false);
  await harness.sync();
  const { notes } = await harness.sync();
  const said =
    'issues: 1 of 1 items differed from their tasks: octo/shop#1 (task 1); a run with --reconcile repairs them';
  expect([notes, states()]).toEqual([expect.arrayContaining([said]), ['closed']]);
});

test('a poll reads many items in one call, and the changed one again before it is applied', async () => {
  harness = await openReportsHarness({ targets: '[issues]', options: '{ poll: [issues] }' });
  await harness.linkedTasks(12);
  const before = harness.github.vendor.requests.length;
  harness.changeIssue(7, 'closed');
  await harness.sync();
  expect(await harness.isCompleted(7)).toBe(true);
  const calls = harness.github.vendor.requests.slice(before).map(({ path }) => path);
  expect(calls).toEqual(['/repos/octo/shop/issues', '/repos/octo/shop/issues/7']);
});

test('items are read one by one where the call for all of them fails', async () => {
  harness = await openReportsHarness({ targets: '[issues]', options: '{ poll: [issues] }' });
  await harness.linkedTasks(6);
  answerReads(1, { body: 'x'.repeat(17 * 1024 * 1024) });
  const { notes } = await harness.sync();
  expect(notes).toContain('issues: 0 of 6 items differed from their tasks');
  expect(notes).not.toContainEqual(expect.stringContaining('read'));
});

test('a poll moves the link of an issue that was transferred, and takes over its changes', async () => {
  harness = await openReportsHarness({ targets: '[issues]', options: '{ poll: [issues] }' });
  await harness.linkedTasks(1);
  const [issue] = harness.github.issues;
  if (issue) issue.movedTo = { repo: 'octo/till', number: 8 };
  harness.changeIssue(1, 'closed');
  await harness.sync();
  expect(await harness.isCompleted(1)).toBe(true);
  const links = await harness.database.pool.query('select record_id from ledger.links');
  expect(links.rows).toEqual([{ record_id: 'octo/till#8' }]);
});

test('a poll of a share reads the items in turn', async () => {
  harness = await openReportsHarness({ targets: '[issues]', options: '{ poll: [issues], pollShare: 0.5 }' });
  await harness.linkedTasks(4);
  const reads = () => harness.github.vendor.requests.map(({ path }) => path.split('/').at(-1));
  expect(reads().toSorted()).toEqual(['1', '2']);
  await harness.sync();
  expect(reads().toSorted()).toEqual(['1', '2', '3', '4']);
  await harness.sync();
  expect(reads().slice(4).toSorted()).toEqual(['1', '2']);
});

test.each([
  ['service', false, 'open', 'the item is set to open (onConflict: service)'],
  ['target', true, 'closed', 'the task is set to completed (onConflict: target)'],
])(
  'where it is unknown which side changed, the %s has priority, and the run says so',
  async (who, isCompleted, state, words) => {
    harness = await openReportsHarness({ targets: '[issues]', options: `{ poll: [issues], onConflict: ${who} }` });
    await harness.linkedTasks(1);
    await harness.database.pool.query('truncate ledger.item_reports'); // as if the link was new
    harness.changeIssue(1, 'closed');
    const { notes } = await harness.sync();
    await harness.settle();
    expect([await harness.isCompleted(1), states()]).toEqual([isCompleted, [state]]);
    const said = `both sides have changed: task 1 is open here, and octo/shop#1 is completed at issues; ${words}`;
    expect(notes).toContain(said);
  },
);

test('a dry run reads no item', async () => {
  harness = await openReportsHarness({ targets: '[issues]', options: '{ poll: [issues] }' });
  await harness.linkedTasks(1);
  const reads = harness.github.vendor.requests.length;
  expect((await harness.sync({ dryRun: true, reconcile: true })).status).toBe('done');
  expect(harness.github.vendor.requests.length).toBe(reads);
});

test.each([
  ['has calls', { isHooked: true, options: '{}' }],
  ['is polled', { isHooked: false, options: '{ poll: [issues] }' }],
  ['has priority', { isHooked: false, options: '{ onConflict: target }' }],
])(
  'a delivery of a new title leaves what people changed at a target that %s, and the task follows it',
  async (_, how) => {
    harness = await openReportsHarness(how);
    await told(1);
    harness.changeIssue(1, 'open'); // its call is late, or is lost
    await harness.update(1, { taskName: 'Renamed' });
    await harness.sync();
    expect([states(), await harness.isCompleted(1), harness.writes()]).toEqual([['open'], false, 1]);
    const last = { type: 'task.reopened', data: { task: { title: 'Renamed' } } };
    expect(harness.receiver.events.at(-1)).toMatchObject(last);
  },
);

test('a delivery writes the state of the task where changes at the target are not applied to tasks', async () => {
  harness = await openReportsHarness({ isHooked: false });
  await told(1);
  harness.changeIssue(1, 'open');
  await harness.update(1, { taskName: 'Renamed' });
  await harness.sync();
  expect([states(), await harness.isCompleted(1)]).toEqual([['closed'], true]);
});

test.each(['leave', 'close', 'comment'])(
  'an item whose task comes back is opened again, and does not complete it: whenGone: %s',
  async (whenGone) => {
    const issueKeys = `whenGone: ${whenGone}`;
    harness = await openReportsHarness({
      targets: '[issues]',
      options: '{ poll: [issues] }',
      isHooked: false,
      issueKeys,
    });
    await harness.linkedTasks(2);
    await harness.sync();
    const { pool } = harness.database;
    const { rows } = await pool.query('delete from service.tasks where id = 1 returning tenant_id, fields');
    for (const _ of [1, 2, 3]) await harness.sync();
    if (whenGone !== 'close') harness.changeIssue(1, 'closed'); // by a person who was told that the task is gone
    expect(states()).toEqual(['closed', 'open']);
    const again = 'insert into service.tasks (tenant_id, id, fields) overriding system value values ($1, 1, $2)';
    await pool.query(again, [rows[0].tenant_id, rows[0].fields]);
    for (const _ of [1, 2]) await harness.sync();
    expect([states(), await harness.isCompleted(1)]).toEqual([['open', 'open'], false]);
  },
);
