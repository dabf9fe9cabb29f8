/** Items that are read back by a run: polled, or reconciled. */
import { afterEach, expect, test } from 'vitest';
import { countRows } from '../../src/engine/ledger/rows.ts';
import { openReportsBed, type ReportsBed } from './reports-bed.ts';

let bed: ReportsBed;
afterEach(async () => {
  expect(bed.github.vendor.complaints).toEqual([]);
  await bed.close();
});

const states = () => bed.github.issues.map(({ state }) => state);
const deliveries = async () =>
  (
    await bed.database.pool.query(
      'select id, task_id, sequence, event, verdict from ledger.deliveries order by task_id, sequence',
    )
  ).rows;

/** Tasks that were completed and told; so GitHub was told once of each. */
async function told(count: number): Promise<void> {
  await bed.linkedTasks(count);
  for (let id = 1; id <= count; id++) await bed.complete(id);
  await bed.sync();
  expect(states()).toEqual(Array(count).fill('closed'));
}

test('a reconcile sends what has diverged once more, under the id it had, and says which it was', async () => {
  bed = await openReportsBed({ targets: '[issues]' });
  await told(3);
  const before = await deliveries();
  bed.changeIssue(2, 'open');
  const run = await bed.sync({ reconcile: true });
  expect(states()).toEqual(['closed', 'closed', 'closed']);
  expect(await deliveries()).toEqual(before);
  expect(bed.writes()).toBe(4);
  expect(run.notes).toEqual(
    expect.arrayContaining(['issues: 1 of 3 items had diverged: octo/shop#2 (task 2)', 'issues: 1 delivered']),
  );
  expect(await countRows(bed.database.pool, run.id)).toMatchObject({ in: 3, updated: 1, unchanged: 2 });
});

test('a reconcile of what agrees writes nothing', async () => {
  bed = await openReportsBed({ targets: '[issues, hook]', options: '{ reconcile: true }' });
  await told(3);
  const run = await bed.sync();
  expect(run.notes).toContain('issues: 0 of 3 items had diverged');
  expect([bed.writes(), await countRows(bed.database.pool, run.id)]).toMatchObject([3, { in: 3, unchanged: 3 }]);
});

test('a reconcile tells an item what no delivery has told it, and never an older state', async () => {
  bed = await openReportsBed({ targets: '[issues]' });
  await told(1);
  bed.changeIssue(1, 'open');
  await bed.hook(1);
  await bed.settle(); // the task was reopened by the issue: that version was never a delivery
  expect(await bed.isCompleted(1)).toBe(false);
  bed.changeIssue(1, 'closed');
  const run = await bed.sync({ reconcile: true });
  expect([await bed.isCompleted(1), states()]).toEqual([false, ['open']]);
  expect(await deliveries()).toMatchObject([{ sequence: 2 }, { sequence: 3, event: 'changed', verdict: 'delivered' }]);
  expect(run.status).toBe('done');
});

test('a reconcile leaves an item that is not found as it is, with its link, and says so', async () => {
  bed = await openReportsBed({ targets: '[issues]' });
  await told(2);
  await bed.database.pool.query(`update ledger.links set record_id = 'octo/shop#99' where source_id = 'task:2'`);
  const { notes } = await bed.sync({ reconcile: true });
  expect(notes).toContain('issues: 1 linked items were not found: octo/shop#99 (task 2); their links are kept');
  expect((await bed.database.pool.query('select from ledger.links')).rowCount).toBe(2);
});

test('where the target has the say, a reconcile takes what has changed there', async () => {
  bed = await openReportsBed({ targets: '[issues]', options: '{ onConflict: target }' });
  await told(2);
  bed.changeIssue(2, 'open');
  const { notes } = await bed.sync({ reconcile: true });
  expect([await bed.isCompleted(2), states(), bed.writes()]).toEqual([false, ['closed', 'open'], 2]);
  expect(notes).toEqual(
    expect.arrayContaining(['issues: 0 of 2 items had diverged', 'issues: 1 of 2 items have changed there']),
  );
});

test('a target that fails ends the reading of its items, and not the run', async () => {
  bed = await openReportsBed({ targets: '[issues]' });
  await told(2);
  bed.github.vendor.next({ status: 500 });
  const run = await bed.sync({ reconcile: true });
  expect([run.status, run.notes.some((note) => /^issues: 1 items could not be read: .*500/.test(note))]).toEqual([
    'done',
    true,
  ]);
});

test('a poll brings in what has changed there', async () => {
  bed = await openReportsBed({ options: '{ poll: [issues] }' });
  await bed.linkedTasks(3);
  await bed.sync(); // each was looked at once
  bed.changeIssue(3, 'closed');
  await bed.sync();
  expect([await bed.isCompleted(3), bed.writes(), bed.receiver.events.length]).toEqual([true, 0, 1]);
  await bed.sync();
  expect([bed.writes(), bed.receiver.events.length]).toEqual([0, 1]);
});

test('a poll of a share reads the items in turn', async () => {
  bed = await openReportsBed({ targets: '[issues]', options: '{ poll: [issues], pollShare: 0.5 }' });
  await bed.linkedTasks(4);
  const reads = () => bed.github.vendor.requests.map(({ path }) => path.split('/').at(-1));
  expect(reads().toSorted()).toEqual(['1', '2']);
  await bed.sync();
  expect(reads().toSorted()).toEqual(['1', '2', '3', '4']);
  await bed.sync();
  expect(reads().slice(4).toSorted()).toEqual(['1', '2']);
});

test.each([
  ['service', false, 'open', 'the item is made open (onConflict: service)'],
  ['target', true, 'closed', 'the task is made completed (onConflict: target)'],
])(
  'of two sides of which nobody knows who has moved, the %s has the say, and the run says so',
  async (who, isCompleted, state, words) => {
    bed = await openReportsBed({ targets: '[issues]', options: `{ poll: [issues], onConflict: ${who} }` });
    await bed.linkedTasks(1);
    await bed.database.pool.query('truncate ledger.item_reports'); // as if the link was new
    bed.changeIssue(1, 'closed');
    const { notes } = await bed.sync();
    await bed.settle();
    expect([await bed.isCompleted(1), states()]).toEqual([isCompleted, [state]]);
    const said = `both sides have changed: task 1 is open here, and octo/shop#1 is completed at issues; ${words}`;
    expect(notes).toContain(said);
  },
);

test('a dry run reads no item', async () => {
  bed = await openReportsBed({ targets: '[issues]', options: '{ poll: [issues] }' });
  await bed.linkedTasks(1);
  const reads = bed.github.vendor.requests.length;
  expect((await bed.sync({ dryRun: true, reconcile: true })).status).toBe('done');
  expect(bed.github.vendor.requests.length).toBe(reads);
});
