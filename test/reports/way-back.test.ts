/** What people do at an outside system comes back: real calls in, a real service, real issues. */
import { afterEach, expect, test } from 'vitest';
import { blockTarget } from '../../src/deliveries/target-states.ts';
import { openReportsBed, type ReportsBed } from './reports-bed.ts';

let bed: ReportsBed;
afterEach(async () => {
  expect(bed.github.vendor.complaints).toEqual([]);
  await bed.close();
});

test('an issue that is closed completes its task, tells the other targets, and is not told itself', async () => {
  bed = await openReportsBed();
  await bed.linkedTasks(2);
  bed.changeIssue(2, 'closed');
  expect((await bed.hook(2)).status).toBe(200);
  await bed.settle();
  expect([await bed.isCompleted(1), await bed.isCompleted(2)]).toEqual([false, true]);
  expect(bed.receiver.events).toMatchObject([
    { type: 'task.completed', data: { task: { id: '2', isCompleted: true } } },
  ]);
  expect(bed.receiver.problems).toEqual([]);
  expect(bed.writes()).toBe(0);
  expect(await bed.report(2)).toMatchObject({ state: 'ended', verdict: 'taken', seen_completed: true });
  const { notes } = await bed.sync();
  expect(notes).not.toContainEqual(expect.stringContaining('both sides'));
  await bed.settle();
  expect([bed.receiver.events.length, bed.writes()]).toEqual([1, 0]);
});

test('the call that our own delivery causes changes nothing, and asks nobody', async () => {
  bed = await openReportsBed();
  await bed.linkedTasks(1);
  await bed.complete(1);
  await bed.sync();
  expect(bed.writes()).toBe(1);
  const [reads, calls] = [bed.github.vendor.requests.length, bed.service.traffic.counts().total];
  expect((await bed.hook(1)).status).toBe(200);
  await bed.settle();
  expect(await bed.report(1)).toMatchObject({ verdict: 'same' });
  expect([bed.github.vendor.requests.length, bed.service.traffic.counts().total]).toEqual([reads, calls]);
});

test('an old call that is genuine is looked into, and does no harm', async () => {
  bed = await openReportsBed();
  await bed.linkedTasks(1);
  expect((await bed.hook(1, 'closed')).status).toBe(200);
  await bed.settle();
  expect(await bed.isCompleted(1)).toBe(false);
  expect(await bed.report(1)).toMatchObject({ verdict: 'same', seen_completed: false });
});

test('an issue that no task is linked with is none of our business', async () => {
  bed = await openReportsBed();
  bed.github.put(true);
  await bed.hook(1);
  await bed.settle();
  expect(await bed.report(1)).toMatchObject({ verdict: 'not-taken', reason: 'NOT_LINKED' });
});

test('a task that the service does not have any more ends the report, and the next run says so', async () => {
  bed = await openReportsBed();
  await bed.linkedTasks(1);
  await bed.database.pool.query('delete from service.tasks');
  bed.changeIssue(1, 'closed');
  await bed.hook(1);
  await bed.settle();
  expect(await bed.report(1)).toMatchObject({ verdict: 'not-taken', reason: 'TASK_MISSING' });
  const { notes } = await bed.sync();
  expect(notes).toContain('issues: the service does not find task 1, which octo/shop#1 wants completed');
});

test('while the service is away a report waits, and says why', async () => {
  bed = await openReportsBed();
  await bed.linkedTasks(1);
  bed.between(async (request, pass) => (request.path.endsWith('/saveCheckStatus') ? { status: 503 } : pass()));
  bed.changeIssue(1, 'closed');
  await bed.hook(1);
  await expect.poll(async () => (await bed.report(1))?.attempts, { timeout: 20_000 }).toBe(1);
  expect(await bed.report(1)).toMatchObject({ state: 'waiting', reason: 'SERVICE_AWAY', held_until: null });
  bed.between();
  await bed.database.pool.query('update ledger.item_reports set due_at = now()');
  await bed.settle();
  expect(await bed.isCompleted(1)).toBe(true);
});

test('what is reported while the task has its own change on the way is decided by who has moved', async () => {
  bed = await openReportsBed();
  await bed.linkedTasks(1);
  await bed.complete(1); // and no scan has seen it
  await bed.hook(1, 'open');
  await bed.settle();
  expect([await bed.isCompleted(1), bed.writes()]).toEqual([true, 0]);
  await bed.sync();
  expect([await bed.isCompleted(1), bed.github.issues[0]?.state]).toEqual([true, 'closed']);
});

test('the call that a delivery without an answer has caused undoes nothing that people have done since', async () => {
  bed = await openReportsBed({ options: '{ onConflict: target }', targets: '[issues]' });
  await bed.linkedTasks(1);
  await bed.complete(1);
  bed.github.vendor.next('lose', bed.github.isWrite);
  await bed.sync();
  expect(bed.github.issues[0]?.state).toBe('closed'); // by us, though nobody has told us
  await blockTarget(bed.database.pool, 'issues', { forMs: 60_000, now: undefined });
  await bed.complete(1, false);
  await bed.sync();
  await bed.hook(1);
  await expect.poll(async () => (await bed.report(1))?.verdict, { timeout: 10_000 }).toBe('kept');
  expect(await bed.isCompleted(1)).toBe(false);
});
