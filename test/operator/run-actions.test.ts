/** What people do with a run, also two of them: the slower one has read it before the faster one acted. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { approvalOf } from '../../src/engine/ledger/approval.ts';
import { endRun } from '../../src/engine/ledger/run-status.ts';
import { type Run, readRun, startRun } from '../../src/engine/ledger/runs.ts';
import { acknowledgeProblems, cancelRun, reopenRun, retryLoad } from '../../src/operator/run-actions.ts';
import { openOrdersHarness, ordersCsv } from '../support/harness/orders.ts';
import { anError } from '../support/matchers.ts';

const harness = await openOrdersHarness();
const { pool } = harness.database;
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

const awaiting = () => harness.load(ordersCsv(3), { confirm: true });
const refused = () => harness.load(`${ordersCsv(1)}O-9,99,Order 9,9.00,new\n`);
const resume = (run: Run, first?: number) => reopenRun(pool, run, { by: 'ann@office', first }, String);
const now = ({ id }: Run) => readRun(pool, id);

test('two who approve one plan both approve it', async () => {
  const run = await awaiting();
  await resume(run);
  await resume(run);
  expect(await now(run)).toMatchObject({ status: 'running' });
});

test('an approval of the first orders is refused once all are approved', async () => {
  const run = await awaiting();
  await resume(run);
  await expect(resume(run, 1)).rejects.toMatchObject(anError('NO_PLAN_OF_A_LOAD', /is running already/));
});

test('an approval that breaks off has approved nothing', async () => {
  const run = await awaiting();
  await pool.query(`alter table ledger.runs add constraint broken check (id <> '${run.id}' or status <> 'running')`);
  await expect(resume(run)).rejects.toMatchObject({ constraint: 'broken' });
  await pool.query('alter table ledger.runs drop constraint broken');
  expect([await approvalOf(pool, run.id), await now(run)]).toEqual([undefined, run]);
});

test('a run that was cancelled just now is not resumed, and the message says that it was', async () => {
  const run = await awaiting();
  await cancelRun(pool, run, 'ben@office');
  await expect(resume(run)).rejects.toMatchObject(anError('RUN_ENDED', 'was not approved'));
});

test('a plan that was approved just now is not declined', async () => {
  const run = await awaiting();
  await resume(run);
  await expect(cancelRun(pool, run, 'ben@office', true)).rejects.toMatchObject({ code: 'APPROVAL_OVER' });
  await cancelRun(pool, run, 'ben@office');
  expect((await now(run)).error).toBe('Cancelled by ben@office: nothing more is sent.');
});

test('a cancelled audit says that it is made again', async () => {
  const begun = await startRun(pool, {
    ...{ sync: 'audit:test:orders', type: 'audit', account: 'test', scope: 'test', resource: 'audit:orders' },
    ...{ lane: 'batch', dryRun: false, phase: 'audit-list', options: { resource: 'orders' } },
  });
  const { run } = begun;
  await cancelRun(pool, run, 'ben@office');
  const said = 'Cancelled by ben@office. The audit is still due: a worker makes it again after 10 minutes.';
  expect((await now(run)).error).toBe(said);
});

test('a run that ended just now is not cancelled, and the message says how it ended', async () => {
  const run = await awaiting();
  await resume(run);
  const running = await now(run);
  await endRun(pool, run.id, 'done');
  await expect(cancelRun(pool, running, 'ben@office')).rejects.toMatchObject(
    anError('RUN_ENDED', / is done\. There is nothing to cancel/),
  );
});

test('a load that was opened again just now is left unchanged by another retry', async () => {
  const run = await refused();
  expect(await retryLoad(pool, run, String)).toBe(1);
  await pool.query('update ledger.runs set is_bound = true where id = $1', [run.id]);
  await expect(retryLoad(pool, run, String)).rejects.toMatchObject({ code: 'RUN_UNFINISHED' });
  const bound = await pool.query('select is_bound from ledger.runs where id = $1', [run.id]);
  expect(bound.rows).toEqual([{ is_bound: true }]);
});

test('a load that was opened again just now is not acknowledged', async () => {
  const run = await refused();
  await retryLoad(pool, run, String);
  await expect(acknowledgeProblems(pool, run, 'ben@office', String)).rejects.toMatchObject({ code: 'RUN_UNFINISHED' });
});
