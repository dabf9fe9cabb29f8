/** A file's rows as rows of its load: their keys, their names, and whatever characters they hold. */
import { afterAll, expect, test } from 'vitest';
import { type LoadedRow, loadedRows } from '../../../src/engine/ledger/matching/staged-orders.ts';
import type { Run } from '../../../src/engine/ledger/runs.ts';
import { readRowStory } from '../../../src/engine/ledger/views/row-story.ts';
import { Batch, type StagedRow, stageRows } from '../../../src/syncs/orders/staging.ts';
import { freshLedger, rowsOf } from '../../engine/ledger/fresh-ledger.ts';
import { aSpec, beginNew, rowsWith } from '../../engine/ledger/matching/load-worlds.ts';

const database = await freshLedger();
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

test.each([
  [10, 1_000],
  [5_000, 100],
])('a batch of rows with cells of %d characters is full after %d rows', (characters, expected) => {
  const batch = new Batch();
  const [row] = rowsWith([{ order_id: 'x'.repeat(characters) }]);
  let added = 0;
  for (; row && !batch.isFull; added++) batch.add(row);
  expect([added, batch.take().length, batch.isFull]).toEqual([expected, expected, false]);
});

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
    { line: 9, cells: [ODD], values: {}, problem: { code: 'REJECTED', facts: { said: ODD } } },
  ]);
  expect((await loaded(run)).map(({ lines }) => lines[0]?.cells)).toEqual([[ODD, '', 'b'], [ODD]]);
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
  expect(String(Object(bad?.facts).said).trim()).toBe(clean);
});

test('rows with a problem are settled at once, and keep their order_id', async () => {
  const facts = { line: 2, columnNumber: 1, column: 'amount' };
  const problem = { code: 'AMOUNT_EMPTY', facts };
  const run = await staged([{ line: 2, cells: ['a'], values: { order_id: 'A' }, problem }]);
  expect(await loaded(run)).toMatchObject([
    {
      line: 2,
      label: 'A',
      lines: [{ line: 2, cells: ['a'] }],
      state: 'settled',
      verdict: 'invalid',
      reason: 'AMOUNT_EMPTY',
      facts,
    },
  ]);
  expect(await rowsOf(database, run)).toMatchObject([{ label: 'A', fields: null }]);
});

test('a file of more than a page is given back in its own order', async () => {
  const run = await beginNew(database);
  const rows = rowsWith(Array.from({ length: 2_500 }, (_, i) => ({ order_id: `A${i}`, client_id: '7' })));
  for (const at of [2_000, 0, 1_000]) await stageRows(database.pool, run, rows.slice(at, at + 1_000), 'LS-test');
  expect((await loaded(run)).map(({ line }) => line)).toEqual(rows.map(({ line }) => line));
});

test('the story of a row has its cells under the names of the header, whatever they hold', async () => {
  const run = await staged([
    { line: 2, cells: [ODD, 'x', '1', 'beyond'], values: { order_id: 'A-1', client_id: '7', amount: '1' } },
  ]);
  const story = await readRowStory(database.pool, run.id, '2');
  expect(story).toMatchObject({
    ...{ n: 2, sourceId: '2', state: 'staged', attempts: [], verdict: null, plan: null },
    input: {
      keys: { customer: '7' },
      fields: { order_id: 'A-1', amount: '1' },
      cells: [
        { column: 'order_id', cell: ODD },
        { column: 'client_id', cell: 'x' },
        { column: 'amount', cell: '1' },
        { column: null, cell: 'beyond' },
      ],
    },
  });
  expect(await readRowStory(database.pool, run.id, '3')).toBeUndefined();
});
