/** A worker that is killed repeatedly, with faults on, imports every contact once. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { test } from 'vitest';
import { FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { type ContactsHarness, openContactsHarness } from '../support/harness/contacts.ts';
import { listRuns } from '../support/newest-runs.ts';
import { people } from '../support/people.ts';
import { byLength } from '../support/property-runs.ts';

const CONTACTS = 80;

/** Each worker makes more calls than the one before, so that the run ends. */
const GROWTH = byLength({ few: 3, all: 2 });

const told = ['customers say which contact they came from', true] as const;
const untold = ['customers do not say it', false] as const;

// In parallel, because they wait more than they work.
test.concurrent.for(byLength({ few: [untold], all: [told, untold] }))(
  'killed every few calls, faults on, %s: nothing is lost and nothing doubled',
  async ([, customersCarryContactId], { expect, onTestFinished }) => {
    const harness = await openContactsHarness({
      behaviour: {
        customersCarryContactId,
        faults: { seed: 5, rate: 0.1, kinds: [...FAULT_KINDS], onlyWrites: false, lateMs: 200 },
      },
      account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 300ms, concurrency: 8 }',
    });
    onTestFinished(() => harness.close());
    await harness.addContacts(people(CONTACTS));
    let kills = 0;
    let worker: ChildProcess | undefined;
    onTestFinished(() => void worker?.kill('SIGKILL'));
    const start = () => {
      worker = harness.startProgram('test/support/sync-program');
      return worker;
    };
    for (let calls = 4; (await untilKilledOrDone(start(), harness, calls)) === 'killed'; calls *= GROWTH) kills++;
    expect(kills).toBeGreaterThanOrEqual(3);
    const run = (await listRuns(harness.database.pool, 5))[0]?.run;
    if (!run) throw new Error('there is no run');
    expect([run.status, run.error, run.callsMissed]).toEqual(['done', undefined, true]);
    expect(await harness.counts(run)).toMatchObject({ in: CONTACTS, created: CONTACTS });
    expect([...(await harness.commits()).values()].reduce((sum, n) => sum + n, 0)).toBe(CONTACTS);
    const again = await harness.runSync();
    expect(await harness.counts(again)).toMatchObject({ in: CONTACTS, unchanged: CONTACTS });
  },
);

/** Lets a worker process make this many calls and kills it, unless it ends by itself before. */
async function untilKilledOrDone(
  worker: ChildProcess,
  { service }: ContactsHarness,
  calls: number,
): Promise<'killed' | 'done'> {
  const exited = once(worker, 'exit');
  const before = service.traffic.total();
  let isKilled = false;
  const watching = setInterval(() => {
    if (service.traffic.total() - before < calls) return;
    isKilled = true;
    worker.kill('SIGKILL');
  }, 1);
  const [code] = await exited;
  clearInterval(watching);
  if (code === 0) return 'done';
  // Killed by the end of a test that took too long, it must not be started again.
  if (code !== null || !isKilled) throw new Error(`the worker ended with ${code}`);
  return 'killed';
}
