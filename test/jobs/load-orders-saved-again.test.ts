/** Files without an order_id that a spreadsheet saves again: a person decides whether their rows are new orders. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { awaitsApproval } from '../../src/engine/ledger/approval.ts';
import { cancelRun } from '../../src/operator/run-actions.ts';
import { openOrdersHarness } from '../support/harness/orders.ts';

const harness = await openOrdersHarness();
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(2);
});
afterAll(() => harness.close());

const FILE = 'client_id,amount,description,day\n1,1234.50,a,2026-11-23\n2,20,b,2026-11-24\n';
const OTHER_FORMS: readonly (readonly [form: string, file: string])[] = [
  [
    'delimiter, decimal sign and dates',
    'client_id;amount;description;day\r\n1;1.234,50;a;23.11.26\r\n2;20,00;b;24.11.26\r\n',
  ],
  ['quotes', '"client_id","amount","description","day"\n"1","1234.50","a","2026-11-23"\n"2","20","b","2026-11-24"\n'],
  ['order of columns', 'day,description,amount,client_id\n2026-11-23,a,1234.5,1\n2026-11-24,b,20,2\n'],
  ['blank lines', 'client_id,amount,description,day\n\n1,1234.50,a,2026-11-23\n\n2,20,b,2026-11-24\n'],
];

test.each(OTHER_FORMS)(
  'are not created again after a change of the %s, unless a person approves it',
  async (_, other) => {
    const first = await harness.load(FILE);
    expect(await harness.tally(first)).toEqual({ in: 2, created: 2 });
    const again = await harness.load(other, { salt: 'again' });
    expect([awaitsApproval(again), again.error]).toEqual([
      true,
      expect.stringContaining(`rows that run ${first.id} loaded`),
    ]);
    expect(again.notes.join()).toContain('2 of 2 rows without an order_id have the same content');
    expect(await harness.orders()).toHaveLength(2);
    const approved = await harness.load(other, { salt: 'again' });
    expect(await harness.tally(approved)).toEqual({ in: 2, created: 2 });
  },
);

test('are loaded if what they say is new, or if the first load was dropped', async () => {
  const dropped = await harness.load(FILE, { confirm: true });
  await cancelRun(harness.database.pool, dropped, 'ann@office');
  const quoted = await harness.load(OTHER_FORMS[1]?.[1] ?? '');
  expect(await harness.tally(quoted)).toEqual({ in: 2, created: 2 });
  expect(await harness.tally(await harness.load(FILE.replace(',20,', ',21,').replace('1234.50', '1235')))).toEqual({
    in: 2,
    created: 2,
  });
});

test('create no customers before a person has approved them', async () => {
  const file = 'customer_name,amount\nNew One,5\n';
  await harness.load(file);
  const again = await harness.load(file.replaceAll(',', ';'), { createCustomers: true });
  expect(await harness.tally(again)).toEqual({ in: 1, unknown: 1 });
  expect(again.error).toContain('1 of 1 row without an order_id has the same content as a row that run');
  expect(await harness.call('customers.getall')).toHaveLength(2);
});

test('are found by their order_ids if each row has one', async () => {
  const file = 'order_id,client_id,amount\nA,1,5\n';
  await harness.load(file);
  expect(await harness.tally(await harness.load(file.replaceAll(',', ';')))).toEqual({ in: 1, existing: 1 });
});
