/** Files of a watched folder that would write more than the settings allow. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { readRun } from '../../src/engine/ledger/runs.ts';
import { command } from '../cli/command.ts';
import { ordersCsv } from '../support/harness/orders.ts';
import { openFolderHarness, WATCH } from './folder.ts';

const harness = await openFolderHarness(
  'budget: { requests: 5000, per: 1s, burst: 500, timeout: 300ms, settle: 250ms }',
  'createCustomers: true, approveAbove: 3, approveAboveShare: 0.9',
);
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

/** Drops a file of four orders, of which one needs a customer, and runs the sync; returns the load that waits for approval. */
async function paused(): Promise<string> {
  await harness.drop(
    'big.csv',
    `${'order_id,customer_email,amount'}\n${[1, 2, 3, 4].map((n) => `O-${n},customer${n}@example.com,${n}.25`).join('\n')}\n`,
  );
  const { code, json } = await harness.here(...WATCH);
  expect([code, json.counts]).toMatchObject([1, { in: 1, review: 1 }]);
  expect([await harness.orders(), (await harness.customers()).length]).toEqual([[], 3]);
  const row = (await harness.verdicts(json.run)).get('big.csv');
  expect(row?.reason).toBe('LOAD_AWAITS_APPROVAL');
  expect(row?.detail).toContain('The run would write 4 of 4 rows (100%)');
  expect((await harness.here('review')).json.items).toEqual([]); // about a file, nothing can be decided
  const { needs } = (await harness.here('status')).json;
  expect(needs.map(({ command }: { command: string }) => command).join()).not.toContain('review');
  const waiting = needs.find(({ why }: { why: string }) => why.startsWith('waits for approval'));
  return waiting.what.split(' ')[1];
}

test('awaits approval before it sends anything, is approved, and the next run files it under done', async () => {
  const load = await paused();
  const again = await harness.here(...WATCH);
  const { notes } = await readRun(harness.database.pool, again.json.run);
  const note = `big.csv is not moved yet: its load ${load} waits for approval`;
  expect([again.code, again.json.counts.in, notes]).toEqual([0, 0, [note]]); // so the list of runs folds it
  const { code, json } = await harness.here('runs', 'resume', load);
  expect([code, json.counts]).toMatchObject([0, { in: 4, created: 4 }]);
  expect((await harness.here('runs', 'show', load)).json.approval.by).toContain('@');
  expect((await harness.here(...WATCH)).code).toBe(0);
  expect(await harness.names('done')).toEqual(['big.csv', 'big.created.csv', 'big.results.csv'].sort());
  expect((await harness.customers()).length).toBe(4);
});

test('files that need the same new customer are approved one after the other', async () => {
  for (const name of ['one', 'two']) {
    const rows = [1, 2, 3, 4].map((n) => `${name}-${n},new@example.com,${n}.25\n`);
    await harness.drop(`${name}.csv`, `order_id,customer_email,amount\n${rows.join('')}`);
  }
  expect((await harness.here(...WATCH)).json.counts).toMatchObject({ in: 2, review: 2 });
  const { needs } = (await harness.here('status')).json;
  const waiting = needs.filter(({ why }: { why: string }) => why.startsWith('waits for approval'));
  for (const { what } of waiting) {
    const { json } = await harness.here('runs', 'resume', what.split(' ')[1]);
    expect(json.counts).toMatchObject({ in: 4, created: 4 });
  }
  expect([waiting.length, (await harness.customers()).length]).toEqual([2, 4]);
});

test('is dropped by runs cancel, and the next run files it under failed; put there again, it is loaded again', async () => {
  const load = await paused();
  const { code, json } = await harness.here('runs', 'cancel', load);
  expect([code, json.state, json.error.code]).toEqual([0, 'not-approved', 'NOT_APPROVED']);
  const dropped = await harness.here(...WATCH);
  expect([dropped.code, (await harness.verdicts(dropped.json.run)).get('big.csv')?.reason]).toEqual([
    1,
    'NOT_APPROVED',
  ]);
  expect(await harness.names('failed')).toEqual(expect.arrayContaining(['big.csv', 'big.csv.problem.txt']));
  expect([await harness.orders(), (await harness.here(...WATCH)).json.counts]).toMatchObject([[], { in: 0 }]);
  await paused();
});

test('files below the limits are loaded at once', async () => {
  const [header, ...rows] = ordersCsv(3).trimEnd().split('\n');
  await harness.drop('small.csv', [header, ...rows, 'O-4,1,none,not a number,new', ''].join('\n'));
  const { code, json } = await harness.here(...WATCH);
  expect([code, json.counts]).toMatchObject([1, { in: 1, review: 1 }]);
  expect((await harness.verdicts(json.run)).get('small.csv')?.reason).toBe('ROWS_LEFT');
  expect((await harness.orders()).length).toBe(3);
});

test('orders load asks too with --approve-above, even with --yes, and a script leaves it waiting', async () => {
  await harness.file('orders.csv', ordersCsv(4));
  const load = ['orders', 'load', 'orders.csv', '--account', 'test', '--yes', '--approve-above', '3'];
  for (const _ of [1, 2]) {
    const { code, json } = await harness.here(...load);
    expect([code, json.state, await harness.orders()]).toEqual([3, 'awaiting-approval', []]);
  }
  const terminal = { ...harness.around, isTTY: true, answers: 'y\n' };
  expect((await command([...load, '--config', 'lockstep.yaml'], terminal)).code).toBe(0);
  expect((await harness.orders()).length).toBe(4);
});
