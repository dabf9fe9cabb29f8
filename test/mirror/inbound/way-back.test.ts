/** Changes that people make in an outside system come back: real calls, a real service, real issues. */
import { afterEach, expect, test } from 'vitest';
import { keepReports } from '../../../src/mirror/inbound/inbox.ts';
import { blockTarget } from '../../../src/mirror/outbox/target-states.ts';
import { shownComment } from '../../support/github-standin.ts';
import { openReportsHarness, type ReportsHarness } from '../../support/harness/reports.ts';

let harness: ReportsHarness;
afterEach(async () => {
  expect(harness.github.vendor.complaints).toEqual([]);
  await harness.close();
});

test('a closed issue completes its task and is delivered to the other targets, but not to itself', async () => {
  harness = await openReportsHarness();
  await harness.linkedTasks(2);
  harness.changeIssue(2, 'closed');
  expect((await harness.hook(2)).status).toBe(200);
  await harness.settle();
  expect([await harness.isCompleted(1), await harness.isCompleted(2)]).toEqual([false, true]);
  expect(harness.receiver.events).toMatchObject([
    { type: 'task.completed', data: { task: { id: '2', isCompleted: true } } },
  ]);
  expect(harness.receiver.problems).toEqual([]);
  expect(harness.writes()).toBe(0);
  expect(await harness.report(2)).toMatchObject({ state: 'ended', verdict: 'taken', seen_completed: true });
  const { notes } = await harness.sync();
  expect(notes).not.toContainEqual(expect.stringContaining('both sides'));
  await harness.settle();
  expect([harness.receiver.events.length, harness.writes()]).toEqual([1, 0]);
});

test('the call caused by our own delivery changes nothing and sends no request', async () => {
  harness = await openReportsHarness();
  await harness.linkedTasks(1);
  await harness.complete(1);
  await harness.sync();
  expect(harness.writes()).toBe(1);
  const [reads, calls] = [harness.github.vendor.requests.length, harness.service.traffic.counts().total];
  expect((await harness.hook(1)).status).toBe(200);
  await harness.settle();
  expect(await harness.report(1)).toMatchObject({ verdict: 'same' });
  expect([harness.github.vendor.requests.length, harness.service.traffic.counts().total]).toEqual([reads, calls]);
});

test('a call that does not say the state has the item read, whatever the ledger knows of it', async () => {
  harness = await openReportsHarness();
  await harness.linkedTasks(2);
  harness.changeIssue(2, 'closed');
  const items = [1, 2].map((number) => ({ itemId: `octo/shop#${number}`, isCompleted: undefined, status: 'changed' }));
  await keepReports(harness.database.pool, 'issues', items, 'hook');
  await harness.settle();
  expect([await harness.isCompleted(1), await harness.isCompleted(2)]).toEqual([false, true]);
  expect(await harness.report(1)).toMatchObject({ verdict: 'same', seen_completed: false });
  expect(await harness.report(2)).toMatchObject({ verdict: 'taken', seen_completed: true });
});

test('checks an old genuine call by a read, and it does no harm', async () => {
  harness = await openReportsHarness();
  await harness.linkedTasks(1);
  expect((await harness.hook(1, 'closed')).status).toBe(200);
  await harness.readAgain(1);
  await harness.settle();
  expect(await harness.isCompleted(1)).toBe(false);
  expect(await harness.report(1)).toMatchObject({ verdict: 'same', seen_completed: false });
});

test('a change that the target shows only after its call completes the task', async () => {
  harness = await openReportsHarness({ targets: '[issues]' });
  await harness.linkedTasks(1);
  await harness.hook(1, 'closed');
  await harness.readAgain(1);
  harness.changeIssue(1, 'closed');
  await harness.settle();
  expect([await harness.isCompleted(1), await harness.report(1)]).toMatchObject([true, { verdict: 'taken' }]);
});

test('ignores an issue that no task is linked with', async () => {
  harness = await openReportsHarness();
  harness.github.put(true);
  await harness.hook(1);
  await harness.settle();
  expect(await harness.report(1)).toMatchObject({ verdict: 'not-taken', reason: 'NOT_LINKED' });
});

test('an issue that is closed between its creation and its link completes its task', async () => {
  const issueKeys = 'create: true, comment: true';
  harness = await openReportsHarness({ options: '{ backfill: true }', targets: '[issues]', issueKeys });
  await harness.addTasks(1);
  harness.github.vendor.next(async ({ body }) => {
    harness.changeIssue(1, 'closed');
    await harness.hook(1);
    await expect.poll(async () => (await harness.report(1))?.reason).toBe('NOT_LINKED');
    return { status: 201, body: shownComment({ id: '1', itemId: 'octo/shop#1', text: JSON.parse(body).body }) };
  }, harness.github.isComment);
  await harness.sync();
  await harness.settle();
  expect(await harness.report(1)).toMatchObject({ verdict: 'taken' });
  expect([await harness.isCompleted(1), harness.github.issues]).toMatchObject([true, [{ state: 'closed' }]]);
});

test('an issue that is closed right after its creation is not reopened, and its task is completed', async () => {
  harness = await openReportsHarness({ options: '{ backfill: true }', targets: '[issues]', issueKeys: 'create: true' });
  await harness.addTasks(1);
  harness.github.vendor.before = ({ path }) => path.endsWith('/issues/1') && harness.changeIssue(1, 'closed');
  await harness.sync();
  await harness.settle();
  expect([await harness.isCompleted(1), harness.github.issues]).toMatchObject([true, [{ state: 'closed' }]]);
  expect(harness.github.vendor.requests.filter(({ method }) => method === 'PATCH')).toEqual([]);
});

test('an issue whose creation got no answer is not reopened if a person closes it before it is found', async () => {
  harness = await openReportsHarness({ options: '{ backfill: true }', targets: '[issues]', issueKeys: 'create: true' });
  const { pool } = harness.database;
  await harness.addTasks(1);
  harness.github.vendor.next('lose', harness.github.isCreation);
  await harness.work();
  await harness.beginSync();
  const delivery = async () => (await pool.query('select state, reason from ledger.deliveries')).rows[0];
  await expect.poll(delivery).toEqual({ state: 'waiting', reason: 'BROKEN_OFF' });
  harness.changeIssue(1, 'closed');
  await harness.hook(1);
  await pool.query(`update ledger.creations set at = at - interval '10 minutes'`);
  await pool.query('update ledger.deliveries set due_at = now()');
  await harness.settle();
  expect([await harness.isCompleted(1), harness.github.issues]).toMatchObject([true, [{ state: 'closed' }]]);
  expect(harness.writes()).toBe(0);
});

test.each(['mirror', 'others'])(
  'tasks of two accounts follow the item that both are linked with, if %s is polled first',
  async (first) => {
    const options = '{ poll: [issues] }';
    harness = await openReportsHarness({ targets: '[issues]', options, isHooked: false, hasOther: true });
    await harness.linkedTasks(1);
    const theirs = await harness.otherTask();
    const poll = async () => {
      for (const sync of first === 'mirror' ? ['mirror', 'others'] : ['others', 'mirror']) await harness.sync({ sync });
      await harness.settle();
      return [await harness.isCompleted(1), await harness.isCompleted(theirs)];
    };
    await harness.complete(1);
    await harness.sync({ sync: 'mirror' }); // its delivery closes the issue
    expect(await poll()).toEqual([true, true]);
    harness.changeIssue(1, 'open');
    expect([await poll(), harness.writes()]).toEqual([[false, false], 1]);
  },
);

test('a task that no longer exists ends the report, and the next run says so', async () => {
  harness = await openReportsHarness();
  await harness.linkedTasks(1);
  await harness.database.pool.query('delete from service.tasks');
  harness.changeIssue(1, 'closed');
  await harness.hook(1);
  await harness.settle();
  expect(await harness.report(1)).toMatchObject({ verdict: 'not-taken', reason: 'TASK_MISSING' });
  const { notes } = await harness.sync();
  expect(notes).toContain('issues: the service does not find task 1, which should be completed like octo/shop#1');
});

test('while the service is away a report waits, and says why', async () => {
  harness = await openReportsHarness();
  await harness.linkedTasks(1);
  harness.front.set(async (request, pass) => (request.path.endsWith('/saveCheckStatus') ? { status: 503 } : pass()));
  harness.changeIssue(1, 'closed');
  await harness.hook(1);
  await expect.poll(async () => (await harness.report(1))?.attempts).toBe(1);
  expect(await harness.report(1)).toMatchObject({ state: 'waiting', reason: 'NO_ANSWER', held_until: null });
  harness.front.set();
  await harness.database.pool.query('update ledger.item_reports set due_at = now()');
  await harness.settle();
  expect(await harness.isCompleted(1)).toBe(true);
});

test('a report about a task with a pending change of its own is decided by which side changed', async () => {
  harness = await openReportsHarness();
  await harness.linkedTasks(1);
  await harness.complete(1); // and no scan has seen it
  await harness.hook(1, 'open');
  await harness.settle();
  expect([await harness.isCompleted(1), harness.writes()]).toEqual([true, 0]);
  await harness.sync();
  expect([await harness.isCompleted(1), harness.github.issues[0]?.state]).toEqual([true, 'closed']);
});

test('a call caused by a delivery without an answer undoes no later change of people', async () => {
  harness = await openReportsHarness({ options: '{ onConflict: target }', targets: '[issues]' });
  await harness.linkedTasks(1);
  await harness.complete(1);
  harness.github.vendor.next('lose', harness.github.isWrite);
  await harness.sync();
  expect(harness.github.issues[0]?.state).toBe('closed'); // by us, though the answer was lost
  await blockTarget(harness.database.pool, 'issues', { forMs: 60_000, now: undefined });
  await harness.complete(1, false);
  await harness.sync();
  await harness.hook(1);
  await expect.poll(async () => (await harness.report(1))?.verdict).toBe('kept');
  expect(await harness.isCompleted(1)).toBe(false);
});

test.each([{ isReported: false }, { isReported: true }])(
  'a delivery says that a person may have set the state that it overwrites, where an earlier one had no answer (reported: $isReported)',
  async ({ isReported }) => {
    harness = await openReportsHarness({ options: '{ onConflict: target }', targets: '[issues]' });
    const { pool } = harness.database;
    await harness.linkedTasks(1);
    await harness.complete(1);
    harness.github.vendor.next('lose', harness.github.isWrite);
    await harness.sync();
    await harness.complete(1, false);
    await harness.sync();
    if (isReported) {
      await harness.hook(1);
      await expect.poll(async () => (await harness.report(1))?.verdict).toBe('kept');
    }
    await pool.query(`update ledger.item_reports set seen_at = seen_at - interval '1 minute'`);
    await pool.query(`update ledger.deliveries set unclear_at = unclear_at - interval '1 minute', due_at = now()`);
    await harness.settle();
    const { rows } = await pool.query(`select detail from ledger.deliveries where verdict = 'delivered'`);
    expect(rows.at(-1)?.detail).toMatch(/→ open; an earlier delivery or a person had set it to closed \(completed\)$/);
  },
);

test('a change that a target makes late does not count as a change of people, and is undone', async () => {
  harness = await openReportsHarness({ options: '{ poll: [issues] }', targets: '[issues]' });
  const { pool } = harness.database;
  await harness.linkedTasks(1);
  await harness.complete(1);
  harness.github.vendor.next({ status: 502, body: {} }, harness.github.isWrite);
  await harness.sync();
  await harness.complete(1, false);
  await harness.sync(); // and its poll finds the issue open
  expect((await harness.report(1))?.seen_completed).toBe(false);
  harness.changeIssue(1, 'closed'); // the first attempt
  await harness.hook(1);
  await expect.poll(async () => (await harness.report(1))?.verdict).toBe('kept');
  expect(await harness.isCompleted(1)).toBe(false);
  await pool.query(`update ledger.deliveries set unclear_at = unclear_at - interval '1 minute', due_at = now()`);
  await harness.settle();
  expect([await harness.isCompleted(1), harness.github.issues[0]?.state]).toEqual([false, 'open']);
});
