/** A file's rows as rows of its load: their keys, their names, and whatever characters they hold. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Run } from '../../src/engine/ledger/runs.ts';
import { type LoadedRow, loadedRows, type StagedRow, stageRows } from '../../src/orders/staging.ts';
import { freshLedger, rowsOf } from '../engine/ledger/fresh-ledger.ts';
import type { FreshDatabase } from '../support/database.ts';
import { aSpec, beginNew, rowsWith } from './load-worlds.ts';

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshLedger();
});
afterAll(() => database.close());

async function staged(rows: readonly StagedRow[]): Promise<Run> {
  const run = await beginNew(database);
  await stageRows(database.pool, run, rows, 'LS-test');
  return run;
}

async function loaded(run: Run): Promise<readonly LoadedRow[]> {
  const rows: LoadedRow[] = [];
  for await (const row of loadedRows(database.pool, run.id)) rows.push(row);
  return rows;
}

test('a row that gives its customer’s id is known by it, and its e-mail is kept to be held against the customer’s', async () => {
  const run = await staged(
    rowsWith([{ order_id: ' A-1 ', client_id: '7', amount: '12.50', status: 'paid', customer_email: 'a@example.com' }]),
  );
  expect(await rowsOf(database, run)).toMatchObject([
    {
      ...{ source_id: '2', n: 2, state: 'staged', label: 'A-1', client_id: '7', verdict: null },
      ...{ email: 'a@example.com', phone: null, name: null, org: null, customer: null },
      fields: { order_id: 'A-1', amount: '12.50', status: 'paid' },
    },
  ]);
});

test('a row that names its customer keeps the keys it is found by and what it would be made from', async () => {
  const values = { amount: '1', customer_email: ' Ann@Example.COM ', customer_phone: '+49 (30) 123456' };
  const run = await staged(rowsWith([{ ...values, customer_name: 'Ann  Lee', organization: 'ACME' }]));
  expect(await rowsOf(database, run)).toMatchObject([
    {
      ...{ client_id: null, email: 'ann@example.com', phone: '4930123456', name: 'ann lee', org: 'acme' },
      customer: {
        ...{ email: 'Ann@Example.COM', phone_number: '+49 (30) 123456', full_name: 'Ann  Lee', organization: 'ACME' },
      },
    },
  ]);
});

test('a row without an order_id has a name of ours, by its line', async () => {
  const spec = aSpec();
  const labels = async (dryRun: boolean) => {
    const run = await beginNew(database, { ...spec, dryRun });
    await stageRows(
      database.pool,
      run,
      rowsWith([
        { amount: '1', client_id: '7' },
        { order_id: ' ', amount: '1', client_id: '7' },
      ]),
      'LS-01234567',
    );
    return (await rowsOf(database, run)).map(({ label, fields }) => [label, fields]);
  };
  const expected = ['LS-01234567-2', 'LS-01234567-3'].map((order_id) => [order_id, { order_id, amount: '1' }]);
  expect(await labels(true)).toEqual(expected);
  expect(await labels(false)).toEqual(expected);
});

const ODD = 'nul \0, half \ud83d, other half \ude00, whole 😀, quote " and \\, line\n';

test('cells keep any character, and what is sent has none that cannot be stored', async () => {
  const values = { order_id: `A${ODD}`, description: ODD, amount: '1', customer_email: `a\0@x.de`, customer_name: ODD };
  const run = await staged([
    { line: 2, cells: [ODD, '', 'b'], values },
    { line: 9, cells: [ODD], problem: { code: 'REJECTED', facts: { said: ODD } } },
  ]);
  expect((await loaded(run)).map(({ cells }) => cells)).toEqual([[ODD, '', 'b'], [ODD]]);
  const clean = ODD.replace('\0', '')
    .replace(/\ud83d,/, '\ufffd,')
    .replace(/ \ude00/, ' \ufffd')
    .trim();
  const [row, bad] = await rowsOf(database, run);
  expect(row).toMatchObject({
    label: `A${clean}`,
    email: 'a@x.de',
    fields: { order_id: `A${clean}`, description: clean },
    customer: { full_name: clean },
  });
  expect(String(bad?.detail).trim()).toBe(clean);
});

test('rows with a problem are settled at once, and an equal row is there already', async () => {
  const run = await staged([
    { line: 2, cells: ['a'], problem: { code: 'AMOUNT_EMPTY', facts: { line: 2, columnNumber: 1, column: 'amount' } } },
    { line: 3, cells: ['b'], problem: { code: 'DUP_IN_FILE', facts: { line: 3, other: 1 }, isDuplicate: true } },
    { line: 4, cells: ['c'] },
  ]);
  expect((await loaded(run)).map(({ cells: _, ...row }) => Object.values(row))).toEqual([
    [2, 'settled', 'invalid', 'AMOUNT_EMPTY', 'Line 2, column 1 (amount) is empty. Give an amount, or 0.', undefined],
    [3, 'settled', 'existing', 'DUP_IN_FILE', 'Line 3: The same order is on line 1 already.', undefined],
    [4, 'settled', 'invalid', 'INVALID', 'The row is not valid. Correct the row.', undefined],
  ]);
});

test('a line that is staged again replaces all that was said of it', async () => {
  const before = rowsWith([
    { order_id: 'A', amount: '1', customer_email: 'a@x.de' },
    { order_id: 'B', client_id: '7' },
  ]);
  const run = await staged(before);
  await stageRows(
    database.pool,
    run,
    [
      { line: 2, cells: ['now'], values: { order_id: 'C', amount: '2', client_id: '9' } },
      { line: 3, cells: ['bad'], problem: { code: 'RAGGED', facts: { line: 3, cells: 1, header: 2 } } },
    ],
    'LS-test',
  );
  expect(await rowsOf(database, run)).toMatchObject([
    {
      label: 'C',
      client_id: '9',
      email: null,
      customer: null,
      cells: ['now'],
      fields: { amount: '2' },
      state: 'staged',
    },
    { label: null, client_id: null, cells: ['bad'], fields: null, state: 'settled', verdict: 'invalid' },
  ]);
});

test('a file of more than a page is given back in its own order', async () => {
  const run = await beginNew(database);
  const rows = rowsWith(Array.from({ length: 2_500 }, (_, i) => ({ order_id: `A${i}`, client_id: '7' })));
  for (const at of [2_000, 0, 1_000]) await stageRows(database.pool, run, rows.slice(at, at + 1_000), 'LS-test');
  expect((await loaded(run)).map(({ line }) => line)).toEqual(rows.map(({ line }) => line));
});
