/** Syncs that are due: processes of `lockstep start` begin them, foreground commands do not. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { listRuns } from '../../src/engine/ledger/run-list.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
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
    await expect.poll(() => Date.now() - keptAtMs, { timeout: 3_000 }).toBeGreaterThan(1_500); // it is due by now
    expect(await listRuns(pool, 10)).toEqual([]);
    const started = await harness.anotherWorkspace();
    started.startDueSyncs();
    await expect.poll(() => listRuns(pool, 10), { timeout: 10_000 }).not.toEqual([]);
    const first = (await listRuns(pool, 10))[0]?.run;
    expect(await ended(harness.database, first?.id ?? '')).toMatchObject({
      sync: 'contacts',
      status: 'done',
      lane: 'batch',
    });
  });
}

describe('on Postgres', () => schedulesSuite());
describeWithRedis('on Redis', ({ url }) => schedulesSuite(url));
