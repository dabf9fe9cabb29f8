/** Fields and comments of items, from the scan to the vendor, with the ledger. */
import { once } from 'node:events';
import { expect, onTestFinished, test } from 'vitest';
import { removeLink } from '../../../src/mirror/links/list-links.ts';
import { queueDeliveries } from '../../../src/mirror/outbox/outbox.ts';
import { openReportsHarness, type ReportsHarness } from '../../support/harness/reports.ts';
import type { SeenRequest } from '../../support/http-server.ts';
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
  await leaveToOthers(harness);
  const first = harness.startProgram(PROGRAM);
  github.vendor.next('lose', (request) => github.isComment(request) && first.kill('SIGKILL'));
  await once(first, 'exit');
  expect(github.comments).toHaveLength(1);
  const second = harness.startProgram(PROGRAM);
  onTestFinished(() => void second.kill('SIGKILL'));
  const verdicts = async () => (await database.pool.query('select verdict from ledger.deliveries')).rows;
  await expect.poll(verdicts).toEqual([{ verdict: 'already' }]);
  expect(github.comments).toHaveLength(1);
});

test('a process that is killed while the target takes a new issue creates it once, though no list shows it yet', async () => {
  const harness = await openReportsHarness({ targets: '[issues]', issueKeys: 'create: true' });
  onTestFinished(() => harness.close());
  const { github, database } = harness;
  await harness.addTasks(1);
  await harness.sync();
  await leaveToOthers(harness);
  const isList = ({ method, path }: SeenRequest) => method === 'GET' && path.endsWith('/issues');
  const first = harness.startProgram(PROGRAM);
  github.vendor.next('lose', (request) => github.isCreation(request) && first.kill('SIGKILL'));
  await once(first, 'exit');
  expect(github.issues).toHaveLength(1);
  const searches = () => github.vendor.requests.filter(isList).length;
  const before = searches();
  github.vendor.next({ body: [] }, isList);
  const second = harness.startProgram(PROGRAM);
  onTestFinished(() => void second.kill('SIGKILL'));
  await expect.poll(searches).toBeGreaterThan(before);
  const reasons = async () => (await database.pool.query('select reason, state from ledger.deliveries')).rows;
  await expect.poll(reasons).toEqual([{ reason: 'NOT_SHOWN_YET', state: 'waiting' }]);
  await database.pool.query('update ledger.deliveries set due_at = clock_timestamp()');
  await expect.poll(reasons).toMatchObject([{ state: 'ended' }]);
  expect(github.issues).toHaveLength(1);
  expect(await linkedItems(harness)).toEqual(['octo/shop#1']);
});

test.each([
  ['not linked yet', true],
  ['linked', false],
])(
  'an issue that was created, is %s and is gone is created again only after a person says so',
  async (_, isUnlinked) => {
    const harness = await openReportsHarness({ targets: '[issues]', issueKeys: 'create: true' });
    onTestFinished(() => harness.close());
    const { github, database } = harness;
    const task = { target: 'issues', scope: 'test', source: 'task:1' };
    const changed = async (taskName: string) => {
      await harness.update(1, { taskName });
      await harness.sync();
      const { rows } = await database.pool.query(
        'select verdict, reason from ledger.deliveries order by sequence desc',
      );
      return rows[0];
    };
    await harness.addTasks(1);
    await harness.sync();
    expect(await changed('One')).toMatchObject({ verdict: 'delivered' });
    expect(await linkedItems(harness)).toEqual(['octo/shop#1']);
    // As after a process was killed between the creation and the record of its outcome, an hour ago.
    if (isUnlinked) await database.pool.query('delete from ledger.links');
    await database.pool.query(`update ledger.creations set at = at - interval '1 hour'`);
    github.issues.splice(0);
    for (const title of ['Two', 'Three']) {
      expect(await changed(title)).toEqual({ verdict: 'dead', reason: 'ITEM_MISSING' });
      expect(github.issues).toEqual([]);
    }
    expect(await removeLink(database.pool, task)).toEqual({ itemId: 'octo/shop#1', isForgotten: true });
    expect(await changed('Four')).toMatchObject({ verdict: 'delivered' });
    expect(github.issues).toHaveLength(1);
    expect(await removeLink(database.pool, task)).toMatchObject({ isForgotten: false });
    expect(await removeLink(database.pool, task)).toBeUndefined();
  },
);

test.each([
  ['a repository that vanished', 404, 'PLACE_MISSING', /no repository octo\/shop, or the token may not see it/],
  ['a token without a permission', 403, 'NOT_ALLOWED', /lacks the permission Issues: read and write/],
  ['a repository without issues', 410, 'PLACE_MISSING', /no longer has repository octo\/shop, or no longer offers/],
  ['a title that is refused', 422, 'REJECTED', /said by GitHub/],
])(
  '%s is a dead letter of one task, and stops neither the other task nor the other target',
  async (_, status, reason, detail) => {
    const harness = await openReportsHarness({ issueKeys: 'create: true', options: '{ backfill: true }' });
    onTestFinished(() => harness.close());
    const { github, receiver, database } = harness;
    await harness.addTasks(2);
    github.vendor.next({ status, body: { message: 'said by GitHub' } }, github.isCreation);
    await harness.sync();
    const ended = await database.pool.query('select verdict, reason, detail from ledger.deliveries order by verdict');
    expect(ended.rows).toMatchObject([
      { verdict: 'dead', reason, detail: expect.stringMatching(detail) },
      ...Array.from({ length: 3 }, () => ({ verdict: 'delivered' })),
    ]);
    expect([github.issues.length, receiver.events.length]).toEqual([1, 2]);
  },
);

/** Queues a delivery of task 1, which other processes make. */
async function leaveToOthers({ stopWorking, database }: ReportsHarness): Promise<void> {
  await stopWorking();
  await queueDeliveries(
    database.pool,
    [{ name: 'issues', filter: undefined }],
    [change(1, 2, { scope: 'test', runId: undefined })],
  );
}

async function linkedItems({ database }: ReportsHarness) {
  const found = await database.pool.query<{ id: string }>('select record_id as id from ledger.links');
  return found.rows.map(({ id }) => id);
}
