/** A worker that is killed over and over, with faults on, ends with every contact imported once. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { listRuns } from '../../src/engine/ledger/runs.ts';
import { FAULT_KINDS } from '../../src/service/behaviour.ts';
import { people } from '../support/people.ts';
import { openSyncBed, type SyncBed, TEST_KEY } from '../support/sync-bed.ts';

const CONTACTS = 150;

let bed: SyncBed | undefined;
let child: ChildProcess | undefined;
afterEach(async () => {
  child?.kill('SIGKILL');
  await bed?.close();
  bed = undefined;
});

test.each([
  ['customers say which contact they came from', true],
  ['customers do not say it', false],
])(
  'killed every few calls, faults on, %s: nothing is lost and nothing doubled',
  async (_name, customersCarryContactId) => {
    bed = await openSyncBed({
      behaviour: {
        customersCarryContactId,
        faults: { seed: 5, rate: 0.1, kinds: [...FAULT_KINDS], onlyWrites: false, lateMs: 200 },
      },
      account: 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 300ms, concurrency: 8 }',
    });
    await bed.addContacts(people(CONTACTS));
    let kills = 0;
    for (let callsBefore = 3; (await untilKilledOrDone(bed, callsBefore)) === 'killed'; callsBefore += 5) kills++;
    expect(kills).toBeGreaterThanOrEqual(5);
    const [run] = await listRuns(bed.database.pool, 5);
    if (!run) throw new Error('there is no run');
    expect([run.status, run.error]).toEqual(['done', undefined]);
    expect(await bed.counts(run)).toMatchObject({ in: CONTACTS, created: CONTACTS });
    expect([...(await bed.commits()).values()].reduce((sum, n) => sum + n, 0)).toBe(CONTACTS);
    const again = await bed.runSync();
    expect(await bed.counts(again)).toMatchObject({ in: CONTACTS, unchanged: CONTACTS });
  },
);

/** Lets a worker process make so many calls, then kills it; or sees it end by itself. */
async function untilKilledOrDone(bed: SyncBed, calls: number): Promise<'killed' | 'done'> {
  const { service, database, dataDir, settingsText } = bed;
  const root = path.join(import.meta.dirname, '../..');
  const args = [path.join(root, 'src/cli/run-ts.mjs'), path.join(root, 'test/support/sync-program.ts')];
  const worker = spawn(process.execPath, [...args, JSON.stringify(database.connection), dataDir, settingsText], {
    env: { ...process.env, TEST_KEY },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  child = worker;
  const exited = once(worker, 'exit');
  const before = service.traffic.total();
  const watching = setInterval(() => {
    if (service.traffic.total() - before >= calls) worker.kill('SIGKILL');
  }, 1);
  const [code] = await exited;
  clearInterval(watching);
  if (code !== null && code !== 0) throw new Error(`the worker ended with ${code}`);
  return code === 0 ? 'done' : 'killed';
}
