/** Runs that stop in their midst, with their process or without it. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Workspace } from '../../src/cli/wire.ts';
import { endRun } from '../../src/engine/ledger/runs.ts';
import type { BehaviourOptions } from '../../src/service/behaviour.ts';
import { people } from '../support/people.ts';
import { describeWithRedis } from '../support/redis.ts';
import { ended, openSyncBed } from '../support/sync-bed.ts';

const CONTACTS = 80;
/** Slow enough for every process to have a hand in it. */
const SLOW = 'budget: { requests: 150, per: 1s, burst: 5, timeout: 1s, settle: 400ms, concurrency: 4 }';
const FAULTS: BehaviourOptions = { faults: { seed: 3, rate: 0.05, kinds: ['reset-after', '5xx-before'] } };

function processesSuite(redisUrl?: string): void {
  test('a process that stops hands its run over to the other: each contact once, and nothing the next night', async () => {
    const bed = await openSyncBed({ account: SLOW, behaviour: FAULTS, ...(redisUrl !== undefined && { redisUrl }) });
    onTestFinished(() => bed.close());
    await bed.addContacts(people(CONTACTS));
    const [first, second] = [bed.workspace, await bed.anotherWorkspace()];
    const { run } = await first.startSync('contacts', { lane: 'batch', dryRun: false });
    await first.work();
    await expect.poll(() => bed.service.traffic.total('customers.import'), { timeout: 5_000 }).toBeGreaterThan(20);
    await second.work();
    const callsOfFirst = await callsOf(first);
    await first.close();
    const done = await ended(bed.database, run.id);
    expect([done.status, done.error]).toEqual(['done', undefined]);
    expect(await bed.counts(done)).toMatchObject({ in: CONTACTS, created: CONTACTS });
    const commits = [...(await bed.commits()).values()];
    expect([commits.length, commits.every((n) => n === 1)]).toEqual([CONTACTS, true]);
    expect(Math.min(callsOfFirst, await callsOf(second))).toBeGreaterThan(0);
    const again = await second.startSync('contacts', { lane: 'batch', dryRun: false });
    expect(await bed.counts(await ended(bed.database, again.run.id))).toMatchObject({ unchanged: CONTACTS });
  });
}

test('a run that is cancelled with calls on their way: the next one waits for them, and nobody is imported twice', async () => {
  const bed = await openSyncBed({
    account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 400ms, concurrency: 8 }',
    behaviour: { latencyMs: 100 },
  });
  onTestFinished(() => bed.close());
  await bed.addContacts(people(16));
  const { run } = await bed.workspace.startSync('contacts', { lane: 'batch', dryRun: false });
  await (await bed.workspace.work()).attend(run);
  await expect
    .poll(() => bed.service.traffic.total('customers.import'), { timeout: 5_000, interval: 1 })
    .toBeGreaterThan(0);
  await endRun(bed.database.pool, run.id, 'cancelled');
  const next = await bed.runSync();
  const { in: sum, existing, created } = await bed.counts(next);
  expect([sum, existing + created, existing > 0]).toEqual([16, 16, true]);
  expect(next.notes).toEqual(['waited for what an earlier run left unsettled']);
  expect([...(await bed.commits()).values()]).toEqual(Array(16).fill(1));
});

describe('on Postgres', () => processesSuite());
describeWithRedis('on Redis', ({ url }) => processesSuite(url));

async function callsOf(workspace: Workspace): Promise<number> {
  const account = await workspace.accounts.open('test');
  return account.client.stats().calls;
}
