/** Syncs that are due: the processes of `lockstep start` begin them, and no command in the foreground does. */
import { describe, expect, onTestFinished, test } from 'vitest';
import { listRuns } from '../../src/engine/ledger/runs.ts';
import { describeWithRedis } from '../support/redis.ts';
import { ended, openSyncBed } from '../support/sync-bed.ts';

function schedulesSuite(redisUrl?: string): void {
  test('a sync that is due waits while a command runs another, and begins once a process of start is there', async () => {
    const bed = await openSyncBed({ schedule: '{ every: 1s }', ...(redisUrl !== undefined && { redisUrl }) });
    onTestFinished(() => bed.close());
    const { pool } = bed.database;
    await bed.workspace.keepSchedules();
    const keptAtMs = Date.now();
    await bed.workspace.work();
    await expect.poll(() => Date.now() - keptAtMs, { timeout: 3_000 }).toBeGreaterThan(1_500); // it has come due
    expect(await listRuns(pool, 10)).toEqual([]);
    const started = await bed.anotherWorkspace();
    started.startDueSyncs();
    await expect.poll(() => listRuns(pool, 10), { timeout: 10_000 }).not.toEqual([]);
    const [first] = await listRuns(pool, 10);
    expect(await ended(bed.database, first?.id ?? '')).toMatchObject({
      sync: 'contacts',
      status: 'done',
      lane: 'batch',
    });
  });
}

describe('on Postgres', () => schedulesSuite());
describeWithRedis('on Redis', ({ url }) => schedulesSuite(url));
