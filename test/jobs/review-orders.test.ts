/** What people decide about orders in review, and what a retry of their load makes of it. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { openCommandHarness } from '../e2e/commands.ts';
import { csvOf, ordersCsv } from '../support/harness/orders.ts';

const ACCOUNT = 'budget: { requests: 5000, per: 1s, burst: 500, timeout: 400ms, settle: 400ms }';

const harness = await openCommandHarness({ account: ACCOUNT });
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(3);
});
afterAll(() => harness.close());

async function loadTo(csv: string, counts: Record<string, number>): Promise<Run> {
  const run = await harness.load(csv);
  expect([run.status, await harness.tally(run)]).toEqual(['done', counts]);
  return run;
}

async function done(...args: readonly string[]) {
  const { code, json, stderr } = await harness.here(...args);
  expect([code, stderr]).toEqual([0, '']);
  return json;
}

const ids = async () => (await done('review')).items.map(({ id }: { id: string }) => id);

test('an order goes to the customer that a person chose, and the retried run ends with 0', async () => {
  await harness.addCustomers([{ full_name: 'Twin' }, { full_name: 'Twin' }]);
  const run = await loadTo(csvOf('order_id,customer_name', ['A,Twin', 'B,Customer 1']), {
    in: 2,
    created: 1,
    review: 1,
  });
  const [item] = (await done('review')).items;
  expect(item).toMatchObject({
    id: `${run.id}/2`,
    reason: 'AMBIGUOUS_CUSTOMER',
    customers: { 4: { name: 'twin' }, 5: { name: 'twin' } },
  });
  await done('review', 'decide', item.id, '--use', '5');
  expect(await ids()).toEqual([]);
  expect((await done('runs', 'retry', run.id)).counts).toMatchObject({ in: 2, created: 2, review: 0 });
  const owners = (await harness.orders()).map(({ order_id, client_id }) => `${order_id} ${client_id}`).sort();
  expect(owners).toEqual(['A 5', 'B 1']);
  const [decision] = (await done('review', '--decided')).decisions;
  expect(decision).toMatchObject({ choice: 'use', record: '5', state: `applied by ${run.id}` });
  expect((await harness.here('review', 'undo', item.id)).code).toBe(2);
});

test('one decision is about all orders of a load that name the same customer, and one undo too', async () => {
  await harness.addCustomers([
    { full_name: 'Twin' },
    { full_name: 'Twin' },
    { full_name: 'Pair' },
    { full_name: 'Pair' },
  ]);
  const run = await loadTo(csvOf('order_id,customer_name', ['A,Twin', 'B,Pair', 'C,twin', 'D,Twin']), {
    in: 4,
    review: 4,
  });
  const at = (line: number) => `${run.id}/${line}`;
  const { decided } = await done('review', 'decide', at(2), '--use', '5', '--same-customer');
  expect(decided).toEqual([`Order ${at(2)} (A)`, `Order ${at(4)} (C)`, `Order ${at(5)} (D)`]);
  expect(await ids()).toEqual([at(3)]);
  expect(await done('review', 'undo', at(4), '--same-customer')).toMatchObject({ undone: at(4), others: 2 });
  expect(await ids()).toEqual([at(2), at(3), at(4), at(5)]);
  await done('review', 'decide', at(4), '--use', '5', '--same-customer');
  await done('review', 'decide', at(3), '--ignore', '--same-customer');
  expect((await done('runs', 'retry', run.id)).counts).toMatchObject({ in: 4, created: 3, existing: 1, review: 0 });
  const owners = (await harness.orders()).map(({ order_id, client_id }) => `${order_id} ${client_id}`).sort();
  expect(owners).toEqual(['A 5', 'C 5', 'D 5']);
  const wrong = await harness.here('review', 'decide', at(2), '--ignore', '--same-customer');
  expect(wrong.code).toBe(2);
});

test('an order of a chosen customer that is gone is rejected, and nothing is written', async () => {
  await harness.addCustomers([{ full_name: 'Twin' }, { full_name: 'Twin' }]);
  const run = await loadTo(csvOf('order_id,customer_name', ['A,Twin']), { in: 1, review: 1 });
  const wrong = await harness.here('review', 'decide', `${run.id}/2`, '--use', '999');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('has no customer 999.')]);
  await done('review', 'decide', `${run.id}/2`, '--use', '5');
  await harness.remove('customer', 5);
  const { code, json } = await harness.here('runs', 'retry', run.id, '--json');
  expect([code, json?.counts]).toMatchObject([1, { in: 1, created: 0, rejected: 1 }]);
  expect(await harness.orders()).toEqual([]);
});

test('of orders that differ, a retry overwrites those that a person chose, and leaves the others', async () => {
  await loadTo(ordersCsv(2), { in: 2, created: 2 });
  const changed = ordersCsv(2).replace('1.25', '98.5').replace('2.25', '99.5');
  const run = await loadTo(changed, { in: 2, review: 2 });
  const [first] = await harness.loaded(run);
  const order = String(first?.facts?.order);
  const wrong = await harness.here('review', 'decide', `${run.id}/2`, '--use', '999');
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining(`differs from order ${order}`)]);
  await done('review', 'decide', `${run.id}/2`, '--use', order);
  const { code, json } = await harness.here('runs', 'retry', run.id);
  expect([code, json.counts]).toEqual([1, expect.objectContaining({ in: 2, updated: 1, review: 1 })]);
  const amounts = (await harness.orders()).map(({ amount }) => Number(amount)); // both orders are sent at once
  expect(amounts.sort((a, b) => a - b)).toEqual([2.25, 98.5]);
  expect(await ids()).toEqual([`${run.id}/3`]);
});

test('an ignored order is settled at once, is not retried, and can be reviewed again', async () => {
  await loadTo(ordersCsv(1), { in: 1, created: 1 });
  const run = await loadTo(ordersCsv(1).replace('1.25', '99.5'), { in: 1, review: 1 });
  const id = `${run.id}/2`;
  await done('review', 'decide', id, '--ignore');
  expect((await harness.loaded(run))[0]).toMatchObject({ verdict: 'existing', reason: 'DECIDED_IGNORE' });
  expect((await done('runs', 'show', run.id)).counts).toMatchObject({ in: 1, existing: 1, review: 0 });
  expect((await harness.here('runs', 'retry', run.id)).stderr).toContain('has no rows to retry');
  await done('review', 'undo', id);
  expect((await harness.loaded(run))[0]).toMatchObject({ verdict: 'review', reason: 'DIFFERS' });
  expect((await done('runs', 'show', run.id)).counts).toMatchObject({ in: 1, existing: 0, review: 1 });
  expect(await ids()).toEqual([id]);
});

test('an order that the list never showed is sent again only if a person decides so, and once', async () => {
  let creates = 0;
  harness.front.set(async (request, pass) => {
    if (!request.path.endsWith('/orders/create')) return pass();
    return ++creates === 1 ? { body: { status: 'ok', content: null, message: '' } } : pass();
  });
  const run = await loadTo(ordersCsv(1), { in: 1, review: 1 });
  expect((await harness.loaded(run))[0]).toMatchObject({ reason: 'NOT_IN_LIST' });
  expect((await harness.here('runs', 'retry', run.id)).stderr).toMatch(
    /has no rows to retry\. .*rows in review need a decision: lockstep review/,
  );
  await done('review', 'decide', `${run.id}/2`, '--create');
  expect((await done('runs', 'retry', run.id)).counts).toMatchObject({ in: 1, created: 1 });
  expect([...(await harness.orderCommits()).values()]).toEqual([1]);
});

test('an order that an incomplete list does not show is sent only if a person decides so, and once', async () => {
  await loadTo(ordersCsv(1), { in: 1, created: 1 });
  harness.front.set(async (request, pass) => {
    const reply = await pass();
    if (!request.path.includes('/orders/getall')) return reply;
    const answer = JSON.parse(String(reply.body));
    const content = answer.content.filter(({ order_id }: { order_id: string }) => order_id !== 'O-1');
    return { ...reply, body: { ...answer, content } };
  });
  const run = await loadTo(ordersCsv(2), { in: 2, existing: 1, review: 1 });
  expect((await harness.loaded(run))[1]).toMatchObject({ reason: 'LIST_PARTIAL' });
  await done('review', 'decide', `${run.id}/3`, '--create');
  const { json } = await harness.here('runs', 'retry', run.id);
  expect(json.counts).toMatchObject({ in: 2, existing: 1, created: 1 });
  expect([...(await harness.orderCommits()).values()]).toEqual([1, 1]);
});

test('an order that a later load has too waits as a row of that load only', async () => {
  await loadTo(ordersCsv(2), { in: 2, created: 2 });
  const changed = ordersCsv(2).replace('1.25', '98.5').replace('2.25', '99.5');
  const first = await loadTo(changed, { in: 2, review: 2 });
  const second = await loadTo(changed.split('\n').slice(0, 2).join('\n'), { in: 1, review: 1 });
  expect((await ids()).sort()).toEqual([`${first.id}/3`, `${second.id}/2`].sort());
  const needs = async () => (await done('status')).needs.map(({ what }: { what: string }) => what.split(' ')[1]).sort();
  expect(await needs()).toEqual([first.id, second.id].sort());
  const third = await loadTo(changed.replace('99.5', '100.5'), { in: 2, review: 2 });
  expect([await needs(), (await ids()).length]).toEqual([[third.id], 2]);
});
