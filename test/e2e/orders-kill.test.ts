/** A load whose process is killed while it reads its file, and repeatedly, creates every order once. */
import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { FAULT_KINDS } from '../../src/service/testbed/behaviour.ts';
import { csvOf, eachOnce, ordersCsv } from '../support/harness/orders.ts';
import { byLength } from '../support/property-runs.ts';
import { type CommandHarness, openCommandHarness } from './commands.ts';
import { writing } from './failpoints.ts';

const ACCOUNT = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 250ms, concurrency: 4 }';
const LOAD = ['orders', 'load', 'orders.csv', '--account', 'test'];

const harness = await openCommandHarness({ account: ACCOUNT });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

test('killed while its rows are staged: resuming is refused with a remedy, and the remedy loads the whole file', async () => {
  // Staged in two batches. Its rows name 100 customers, of whom three exist: sending all 1,200 orders would take long.
  await harness.file('orders.csv', ordersCsv(1_200, { customers: 100 }));
  const made = [...eachOnce(1_200)].filter(([label]) => Number(label.slice('O-'.length)) % 100 < 3);
  const { reached, release } = await writing('ledger.inputs', 'insert', 'new.n = 1100').arm(harness);
  const victim = harness.start(...LOAD);
  await reached;
  victim.signal('SIGKILL');
  await victim.ended;
  await release();
  const { runs } = (await harness.here('runs')).json;
  expect(runs[0]).toMatchObject({ state: 'paused', stateWords: 'paused (file not read to its end)' });
  const resumed = await harness.here('runs', 'resume', runs[0].run);
  expect([resumed.code, resumed.json.error.code, harness.writesSeen()]).toEqual([3, 'LOAD_NOT_RECEIVED', 0]);
  expect(resumed.stderr).toMatch(
    /The file \S*orders\.csv of run .* Load it again .*: lockstep orders load FILE --account test/,
  );
  const { code, json } = await harness.here(...LOAD);
  expect([code, json.counts]).toMatchObject([1, { in: 1_200, created: made.length, rejected: 1_200 - made.length }]);
  expect(await harness.orderCommits()).toEqual(new Map(made));
});

test('killed every few calls, with faults and missing customers: nothing is lost and nothing duplicated', async () => {
  const faults = { seed: 5, rate: 0.1, kinds: [...FAULT_KINDS], onlyWrites: false, lateMs: 200 };
  const faulty = await openCommandHarness({ account: ACCOUNT, behaviour: { faults } });
  onTestFinished(() => faulty.close());
  const rows = Array.from({ length: 80 }, (_, i) => `O-${i + 1},new${i % 15}@example.com,${i}`);
  await faulty.file('orders.csv', csvOf('order_id,customer_email,amount', rows));
  let kills = 0;
  for (let calls = 4; (await untilKilledOrDone(faulty, calls)) === 'killed'; calls *= GROWTH) kills++;
  expect(kills).toBeGreaterThanOrEqual(3);
  const { code, json } = await faulty.here(...LOAD, '--create-customers');
  expect([code, json.counts]).toMatchObject([0, { in: 80, created: 80 }]);
  expect(await faulty.orderCommits()).toEqual(eachOnce(80));
  expect(new Set((await faulty.customers()).map(({ email }) => email)).size).toBe(15);
  expect(await faulty.customers()).toHaveLength(15);
});

/** Each process makes more calls than the one before, so that the load ends. */
const GROWTH = byLength({ few: 3, all: 2 });

/** Lets a load make this many calls and kills it, unless it ends by itself before. */
async function untilKilledOrDone(at: CommandHarness, calls: number): Promise<'killed' | 'done'> {
  const before = at.service.traffic.total();
  const victim = at.start(...LOAD, '--create-customers');
  let isKilled = false;
  const watching = setInterval(() => {
    if (at.service.traffic.total() - before < calls) return;
    isKilled = true;
    victim.signal('SIGKILL');
  }, 1);
  const { code, stderr } = await victim.ended;
  clearInterval(watching);
  if (code === 0) return 'done';
  // Killed by the end of a test that took too long, it must not be started again.
  if (code !== null || !isKilled) throw new Error(`the load ended with ${code}: ${stderr}`);
  return 'killed';
}
