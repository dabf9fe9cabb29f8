/** Rows whose order_id a file has twice. */
import { afterAll, expect, test } from 'vitest';
import { settleCopies, settleRepeats, sharedOrderIds } from '../../../../src/engine/ledger/matching/repeated-orders.ts';
import { settleRows } from '../../../../src/engine/ledger/transitions.ts';
import { type StagedRow, stageRows } from '../../../../src/syncs/orders/staging.ts';
import { freshLedger, rowsOf } from '../fresh-ledger.ts';
import { beginNew, rowsWith } from './load-worlds.ts';

const LABELS = 'LS-test';
const [SAME, OTHER] = ['settled existing DUP_IN_FILE', 'settled invalid ORDER_ID_REPEATED'];

const database = await freshLedger();
afterAll(() => database.close());

/** The state of rows from line 2 on: `staged`, or the reason with the other line. */
async function repeatsOf(
  values: readonly StagedRow['values'][],
  problems: Readonly<Record<number, string>> = {},
  isCombining = false,
) {
  const run = await beginNew(database);
  const rows = rowsWith(values).map((row) => {
    const code = problems[row.line];
    return code === undefined ? row : { ...row, problem: { code } };
  });
  await stageRows(database.pool, run, rows, LABELS);
  await settleRepeats(database.pool, run.id, { labels: LABELS, isCombining });
  const fates = (await rowsOf(database, run)).map(({ state, verdict, reason, facts }) =>
    [state, verdict, reason, Object(facts).other].filter(Boolean).join(' '),
  );
  const told = (await rowsOf(database, run)).flatMap(({ reason, facts }) =>
    reason === 'ORDER_ID_REPEATED' ? [facts] : [],
  );
  return { run, told, fates };
}

test('identical rows repeat the first, whatever they say of a customer that an id names', async () => {
  const a = { order_id: 'A', client_id: '7', amount: '1.5' };
  const { fates, told } = await repeatsOf([a, { ...a, order_id: 'B' }, a, { ...a, customer_name: 'Ann' }]);
  expect([fates, told]).toEqual([['staged', 'staged', `${SAME} 2`, `${SAME} 2`], []]);
});

test('reports all rows of one order_id that differ, each naming another', async () => {
  const a = { order_id: 'A', client_id: '7' };
  const { fates, told } = await repeatsOf([
    a,
    { ...a, order_id: 'B' },
    { ...a, amount: '8' },
    { ...a, amount: '9' },
    a,
  ]);
  expect(fates).toEqual([`${OTHER} 4`, 'staged', `${OTHER} 2`, `${OTHER} 2`, `${SAME} 2`]);
  expect(told).toEqual([
    { line: 2, other: 4 },
    { line: 4, other: 2 },
    { line: 5, other: 2 },
  ]);
});

test('orders of different customers with the same order_id are orders of their own, and are counted', async () => {
  const values = [
    { order_id: 'A', customer_email: 'ann@x.de' },
    { order_id: 'A', customer_email: 'ben@x.de', amount: '1' },
    { order_id: 'A', customer_email: 'ben@x.de', amount: '2' },
    { order_id: 'A', client_id: '7' },
    { order_id: 'B', customer_name: 'Ann Lee' },
    { order_id: 'B', customer_name: 'ann lee' },
  ];
  const { run, fates } = await repeatsOf(values);
  expect(fates).toEqual(['staged', `${OTHER} 4`, `${OTHER} 3`, 'staged', `${OTHER} 7`, `${OTHER} 6`]);
  expect(await sharedOrderIds(database.pool, run.id, LABELS)).toEqual({ first: ['A'], count: 1 });
});

test('a row without a customer may be a line of each order with its order_id, so none of them is sent', async () => {
  const values = ['ann@x.de', 'ben@x.de', ''].map((customer_email) => ({ order_id: 'A', customer_email }));
  const { fates, run } = await repeatsOf(values, { 4: 'NO_CUSTOMER' });
  expect(fates).toEqual([`${OTHER} 3`, `${OTHER} 2`, 'settled invalid NO_CUSTOMER']);
  expect((await sharedOrderIds(database.pool, run.id, LABELS)).count).toBe(0);
});

test('an invalid row counts too, and keeps its own reason: either of the two may be meant', async () => {
  const a = { order_id: 'A', client_id: '7', amount: '1' };
  const { fates } = await repeatsOf([a, a], { 2: 'AMOUNT_EMPTY' });
  expect(fates).toEqual(['settled invalid AMOUNT_EMPTY', `${OTHER} 2`]);
});

test('where lines are combined, an equal row further down is another line of the order, not a copy', async () => {
  const a = { order_id: 'A', client_id: '7', amount: '1' };
  const { fates, told } = await repeatsOf([a, { ...a, order_id: 'B' }, a], {}, true);
  expect(fates).toEqual([`${OTHER} 4`, 'staged', `${OTHER} 2`]);
  expect(told).toEqual([
    { line: 2, other: 4, combining: true },
    { line: 4, other: 2, combining: true },
  ]);
});

test('rows without an order_id repeat nothing, not even a row with the name that is made for one', async () => {
  const made = { client_id: '7' };
  const { fates } = await repeatsOf([{ ...made, order_id: `${LABELS}-3` }, made, made]);
  expect(fates).toEqual(['staged', 'staged', 'staged']);
});

test('a copy shares the fate of its row, and follows it when that changes', async () => {
  const a = { order_id: 'A', client_id: '7' };
  const { run } = await repeatsOf([a, a]);
  const fate = async () => Object.values((await rowsOf(database, run))[1] ?? {}).filter((one) => one === 'rejected');
  await settleRows(database.pool, run.id, {
    sql: `select 2 as n, 'rejected' as verdict, 'ORDER_EXISTS' as reason, '{"order": "9"}'::jsonb as facts, null as record_id`,
  });
  expect(await fate()).toEqual([]);
  await settleCopies(database.pool, run.id);
  expect(await fate()).toEqual(['rejected']);
  const because = { code: 'ORDER_EXISTS', facts: { order: '9' } };
  expect((await rowsOf(database, run))[1]).toMatchObject({
    reason: 'DUP_IN_FILE',
    facts: { line: 3, other: 2, because },
  });
});
