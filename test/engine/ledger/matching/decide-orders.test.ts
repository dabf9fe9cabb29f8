/** What is decided about a row whose order is there, and about one whose order is not. */
import { afterAll, expect, test } from 'vitest';
import { decideOrders, planOnly } from '../../../../src/engine/ledger/matching/decide-orders.ts';
import { oweForEarlierOrders, takeKeys } from '../../../../src/engine/ledger/matching/order-keys.ts';
import type { Run } from '../../../../src/engine/ledger/runs.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import type { OrdersOptions } from '../../../../src/syncs/orders/options.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { putRecords } from './contact-worlds.ts';
import { type Columns, fateOf } from './load-worlds.ts';

const database = await freshLedger();
afterAll(() => database.close());

const SAID = { order_id: 'A', amount: '12', status: 'Payé', description: 'two  chaises à  bascule' };

/** A load of rows of customer 7 and the orders its baseline saw. */
async function aLoadOf(rows: readonly Columns[], orders: readonly Columns[] = []): Promise<Run> {
  const run = await aRun(database, { type: 'orders' });
  await putRows(
    database,
    run,
    rows.map((row, i) => ({
      ...{ source_id: String(i), state: 'staged', action: null, label: 'ABC'[i], client_id: '7', fields: SAID },
      ...row,
    })),
  );
  await putRecords(
    database,
    run,
    orders.map((order, i) => ({ record_id: String(9 + i), label: 'A', client_id: '7', fields: {}, ...order })),
  );
  await inTransaction(database.pool, (db) => takeKeys(db, run, 0));
  return run;
}

function decide(run: Run, existing: OrdersOptions['existing'] = 'skip') {
  return inTransaction(database.pool, (db) => decideOrders(db, run, { existing, isWhole: true }));
}

const there = {
  same: [{ fields: { amount: '12', status: 'PAYE\u0301', description: ' \n two\nchaises a\u0300 bascule\n' } }],
  'same as far as it says': [{ fields: { status: 'payé' } }],
  different: [{ fields: { amount: '13', status: 'payé', description: 'a chair' } }],
  doubled: [{ fields: SAID }, { fields: SAID }],
} as const;

const EXISTS = 'settled existing EXISTS';
const FAILS = 'settled rejected ORDER_EXISTS';
const DOUBLED = 'settled review DUPLICATE';

test.each([
  ['skip', 'same', EXISTS],
  ['skip', 'same as far as it says', EXISTS],
  ['skip', 'different', 'settled review DIFFERS'],
  ['skip', 'doubled', DOUBLED],
  ['update', 'same', EXISTS],
  ['update', 'same as far as it says', 'ready'],
  ['update', 'different', 'ready'],
  ['update', 'doubled', DOUBLED],
  ['fail', 'same', FAILS],
  ['fail', 'same as far as it says', FAILS],
  ['fail', 'different', FAILS],
  ['fail', 'doubled', DOUBLED],
] as const)('existing: %s, and the order is there, %s: %s', async (existing, how, becomes) => {
  const run = await aLoadOf([{}], there[how]);
  const isUpdate = becomes === 'ready';
  expect(await decide(run, existing)).toMatchObject({ create: 0, update: isUpdate ? 1 : 0 });
  const [row] = await rowsOf(database, run);
  expect([fateOf(row ?? {}), row?.action, row?.record_id]).toEqual([
    becomes,
    isUpdate ? 'update' : null,
    how === 'doubled' ? null : '9',
  ]);
});

test('reports differences, and both ids of an order that exists twice', async () => {
  const factsOf = async (how: keyof typeof there) => {
    const run = await aLoadOf([{}], there[how]);
    await decide(run);
    return (await rowsOf(database, run))[0]?.facts;
  };
  expect(await factsOf('different')).toEqual({
    order: '9',
    differences: [{ field: 'amount', is: '13', expected: '12' }, { field: 'description' }],
  });
  expect(await factsOf('same')).toEqual({ order: '9' });
  expect(await factsOf('doubled')).toEqual({ before: true, what: 'order', ids: ['9', '10'] });
});

test.each([
  ['has not sent', {}, 'settled review OTHER_LETTERS'],
  ['has sent', { sends: 1, action: 'create' }, EXISTS],
])('an order in another spelling, of a row that the load %s: %s', async (_, row, fate) => {
  const run = await aLoadOf([row], [{ fields: SAID, name: 'a' }]);
  await decide(run);
  expect(fateOf((await rowsOf(database, run))[0] ?? {})).toBe(fate);
});

test('does not call an amount equal that the list does not show', async () => {
  const run = await aLoadOf([{ fields: { order_id: 'A', amount: '5' } }], [{ fields: { status: 'open' } }]);
  await decide(run);
  const [row] = await rowsOf(database, run);
  expect(row?.facts).toEqual({ order: '9', hidesAmount: true });
});

test('an update sends what the row says, and stores what the order held', async () => {
  const fields = { order_id: 'A', amount: '5' };
  const run = await aLoadOf([{ fields }], [{ fields: { amount: '4', status: 'open', description: 'kept' } }]);
  await decide(run, 'update');
  expect((await rowsOf(database, run))[0]).toMatchObject({
    ...{ state: 'ready', action: 'update', record_id: '9', sends: 0 },
    fields,
  });
  const plans = await database.pool.query('select was from ledger.plans where run_id = $1', [run.id]);
  expect(plans.rows).toEqual([{ was: { amount: '4', status: 'open', description: 'kept' } }]);
});

test('an order that is not there is created; the same order_id of another customer is another order', async () => {
  const run = await aLoadOf([{ sends: 3 }, {}], [{ client_id: '8' }]);
  expect(await decide(run, 'fail')).toMatchObject({ create: 2, update: 0 });
  await oweForEarlierOrders(database.pool, run, 60_000);
  const rows = await rowsOf(database, run);
  expect(rows.map(({ state, action, sends }) => [state, action, sends])).toEqual([
    ['ready', 'create', 0],
    ['ready', 'create', 0],
  ]);
  const owed = await database.pool.query('select label from ledger.audit_debts where run_id = $1', [run.id]);
  expect(owed.rows).toEqual([{ label: 'A' }]); // it was sent before the load was opened again
});

test('what was decided before stays, what has no customer waits, and deciding twice changes nothing', async () => {
  const settled = { state: 'settled', verdict: 'invalid', reason: 'RAGGED' };
  const run = await aLoadOf([settled, { client_id: null }, { label: 'C' }], [{ label: 'A' }]);
  expect(await decide(run)).toMatchObject({ create: 1, update: 0 });
  const after = await rowsOf(database, run);
  expect(after.map(fateOf)).toEqual(['settled invalid RAGGED', 'staged', 'ready']);
  expect(await decide(run)).toMatchObject({ create: 1, update: 0 });
  expect(await rowsOf(database, run)).toEqual(after);
});

test('a dry run settles all rows with what they would have become', async () => {
  const run = await aLoadOf(
    [{}, { label: 'B' }, { client_id: null }, { state: 'settled', verdict: 'invalid', reason: 'RAGGED' }],
    [{ fields: { amount: '1' } }],
  );
  await decide(run, 'update');
  await planOnly(database.pool, run);
  const rows = await rowsOf(database, run);
  expect(rows.map(fateOf)).toEqual([
    'settled updated PLANNED',
    'settled created PLANNED',
    'settled created PLANNED',
    'settled invalid RAGGED',
  ]);
  expect(rows[2]?.facts).toEqual({ createsCustomer: true });
});

test('leaves an order that another load is sending to that load', async () => {
  const first = await aLoadOf([{ label: 'Z' }]);
  const second = await aRun(database, { type: 'orders', account: first.account, resource: 'orders:2' });
  await putRows(database, second, [
    { source_id: '1', state: 'staged', action: null, label: 'Z', client_id: '7', fields: SAID },
    { source_id: '2', state: 'staged', action: null, label: 'Y', client_id: '7', fields: SAID },
  ]);
  await inTransaction(database.pool, (db) => takeKeys(db, second, 0));
  expect(await decide(second)).toMatchObject({ create: 1, update: 0 });
  expect((await rowsOf(database, second)).map(fateOf)).toEqual(['staged', 'ready']);
});

test('never sends again what an earlier load may have sent and no list shows', async () => {
  const first = await aLoadOf([{ label: 'Z', state: 'settled', verdict: 'review', reason: 'NOT_IN_LIST' }]);
  const second = await aRun(database, { type: 'orders', account: first.account, resource: 'orders:2' });
  await putRows(database, second, [
    { source_id: '1', state: 'staged', action: null, label: 'Z', client_id: '7', fields: SAID },
  ]);
  await inTransaction(database.pool, (db) => takeKeys(db, second, 0));
  expect(await decide(second)).toMatchObject({ create: 0, update: 0 });
  expect((await rowsOf(database, second)).map(fateOf)).toEqual(['settled review NOT_IN_LIST']);
});
