/** Runs that stop midway, with or without their process. */
import { describe, expect, onTestFinished, test } from 'vitest';
import type { Workspace } from '../../src/cli/workspace/open-workspace.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import { openContactsHarness } from '../support/harness/contacts.ts';
import { ended } from '../support/harness/ended.ts';
import { people } from '../support/people.ts';
import { describeWithRedis } from '../support/redis.ts';

const CONTACTS = 80;
/** Slow enough for every process to take part. */
const SLOW = 'budget: { requests: 150, per: 1s, burst: 5, timeout: 1s, settle: 400ms, concurrency: 4 }';
const FAULTS: BehaviourOptions = { faults: { seed: 3, rate: 0.05, kinds: ['reset-after', '5xx-before'] } };

function processesSuite(redisUrl?: string): void {
  test('a process that stops hands its run over to the other: each contact once, and nothing the next night', async () => {
    const harness = await openContactsHarness({
      account: SLOW,
      behaviour: FAULTS,
      redisUrl,
    });
    onTestFinished(() => harness.close());
    await harness.addContacts(people(CONTACTS));
    const [first, second] = [harness.workspace, await harness.anotherWorkspace()];
    const { run } = await first.startSync('contacts', { lane: 'batch', dryRun: false });
    await first.work();
    await expect.poll(() => harness.service.traffic.total('customers.import')).toBeGreaterThan(20);
    await second.work();
    const callsOfFirst = await callsOf(first);
    await first.close();
    const done = await ended(harness.database, run.id);
    expect([done.status, done.error]).toEqual(['done', undefined]);
    expect(await harness.counts(done)).toMatchObject({ in: CONTACTS, created: CONTACTS });
    const commits = [...(await harness.commits()).values()];
    expect([commits.length, commits.every((n) => n === 1)]).toEqual([CONTACTS, true]);
    expect(Math.min(callsOfFirst, await callsOf(second))).toBeGreaterThan(0);
    const again = await second.startSync('contacts', { lane: 'batch', dryRun: false });
    expect(await harness.counts(await ended(harness.database, again.run.id))).toMatchObject({ unchanged: CONTACTS });
  });
}

test('the next run waits for the calls in flight of a cancelled run, and imports no contact twice', async () => {
  const harness = await openContactsHarness({
    account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 1s, settle: 400ms, concurrency: 8 }',
    behaviour: { latencyMs: 100 },
  });
  onTestFinished(() => harness.close());
  await harness.addContacts(people(16));
  const { run } = await harness.workspace.startSync('contacts', { lane: 'batch', dryRun: false });
  await (await harness.workspace.work()).attend(run);
  await expect.poll(() => harness.service.traffic.total('customers.import'), { interval: 1 }).toBeGreaterThan(0);
  await endRun(harness.database.pool, run.id, 'cancelled');
  const next = await harness.runSync();
  const { in: sum, existing, created } = await harness.counts(next);
  expect([sum, existing + created, existing > 0]).toEqual([16, 16, true]);
  expect(next.notes).toEqual(['waited for unsettled rows of an earlier run']);
  expect([...(await harness.commits()).values()]).toEqual(Array(16).fill(1));
});

describe('on Postgres', () => processesSuite());
describeWithRedis('on Redis', ({ url }) => processesSuite(url));

async function callsOf(workspace: Workspace): Promise<number> {
  const account = await workspace.accounts.open('test');
  return account.budgetStats().used;
}
