/** Syncs that are due: processes of `lockstep start` begin them, foreground commands do not. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { scheduledIn } from '../../src/cli/workspace/due-syncs.ts';
import { keepSchedules, savedSchedules } from '../../src/engine/ledger/schedules.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import { listRuns } from '../support/newest-runs.ts';
import { describeWithRedis } from '../support/redis.ts';

const SYNCS = { contacts: 'job: contacts, schedule: { every: 1s }' };

function schedulesSuite(redisUrl?: string): void {
  test('a sync that is due waits while a command runs another sync, and begins once a process of start is running', async () => {
    const harness = await openContactsHarness({ syncs: SYNCS, redisUrl });
    onTestFinished(() => harness.close());
    const { pool } = harness.database;
    await harness.workspace.keepSchedules();
    const keptAtMs = Date.now();
    await harness.workspace.work();
    await expect.poll(() => Date.now() - keptAtMs).toBeGreaterThan(1_500); // it is due by now
    expect(await listRuns(pool, 10)).toEqual([]);
    const started = await harness.anotherWorkspace();
    started.startDueSyncs();
    await expect.poll(() => listRuns(pool, 10)).not.toEqual([]);
    const first = (await listRuns(pool, 10))[0]?.run;
    expect(await ended(harness.database, first?.id ?? '')).toMatchObject({
      sync: 'contacts',
      status: 'done',
      lane: 'batch',
    });
  });
}

test('a sync is not started again while its run is unfinished', async () => {
  const harness = await openContactsHarness({ syncs: SYNCS });
  onTestFinished(() => harness.close());
  const { pool } = harness.database;
  const dueAt = async () => (await savedSchedules(pool)).get('contacts')?.dueAt.getTime();
  await harness.workspace.keepSchedules();
  const plannedAt = (await dueAt()) ?? 0;
  for (const workspace of [harness.workspace, await harness.anotherWorkspace()]) workspace.startDueSyncs();
  await expect.poll(dueAt).toBeGreaterThan(plannedAt + 3_000);
  expect(await listRuns(pool, 10)).toHaveLength(1);
});

test('syncs that are due at the same time and write the same records start one after the other', async () => {
  const daily = 'job: contacts, schedule: { every: 24h }';
  const harness = await openContactsHarness({ syncs: { contacts: daily, more: daily } });
  onTestFinished(() => harness.close());
  const { pool } = harness.database;
  const twoDaysAgo = new Date(Date.now() - 48 * 60 * 60 * 1000);
  await keepSchedules(pool, scheduledIn(harness.workspace.settings), twoDaysAgo);
  harness.workspace.startDueSyncs();
  const waiting = async () => [...(await savedSchedules(pool)).values()].flatMap(({ waitsFor }) => waitsFor ?? []);
  await expect.poll(waiting).toHaveLength(1);
  await harness.workspace.work();
  await expect
    .poll(async () => (await listRuns(pool, 10)).map(({ run }) => run.sync).sort())
    .toEqual(['contacts', 'more']);
  expect(await waiting()).toEqual([]);
});

describe('on Postgres', () => schedulesSuite());
describeWithRedis('on Redis', ({ url }) => schedulesSuite(url));
