/** Which customer a row belongs to, case by case. General rules: order-customers-property.test.ts. */
import { afterAll, expect, test } from 'vitest';
import type { Facts } from '../../../../src/base/reasons/reason.ts';
import { remedyFor } from '../../../../src/base/reasons/reasons.ts';
import { resolveCustomers } from '../../../../src/engine/ledger/matching/order-customers.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { stageRows } from '../../../../src/syncs/orders/staging.ts';
import { aRun, freshLedger, putRows, rowsOf } from '../fresh-ledger.ts';
import { putRecords } from './contact-worlds.ts';
import { aLoad, beginNew, type Columns, fateOf, rowsWith } from './load-worlds.ts';

const database = await freshLedger();
afterAll(() => database.close());

const NO_KEYS = { email: null, phone: null, name: null, org: null };
const UNKNOWN = 'settled rejected CUSTOMER_UNKNOWN';
const AMBIGUOUS = 'settled review AMBIGUOUS_CUSTOMER';

interface Scene {
  readonly name: string;
  readonly row: Columns;
  /** Their ids are 1, 2, … */
  readonly customers: readonly Columns[];
  /** The customer's id, or what becomes of the row. */
  readonly becomes: string;
}

const [ann, ben] = [
  { email: 'ann@x.de', name: 'ann' },
  { email: 'ben@x.de', name: 'ben' },
];

const scenes: readonly Scene[] = [
  { name: 'an e-mail that one customer has', row: { email: 'ben@x.de' }, customers: [ann, ben], becomes: '2' },
  { name: 'an e-mail that no customer has', row: { email: 'c@x.de', name: 'ann' }, customers: [ann], becomes: UNKNOWN },
  {
    name: 'an e-mail that two have, one of them of the row’s name',
    row: ann,
    customers: [{ ...ann, name: 'a. lee' }, ann],
    becomes: '2',
  },
  {
    name: 'an e-mail that two have, neither of the row’s name',
    row: { ...ann, name: 'anna' },
    customers: [ann, { email: 'ann@x.de' }],
    becomes: AMBIGUOUS,
  },
  { name: 'an e-mail that two have', row: { email: 'ann@x.de' }, customers: [ann, ann], becomes: AMBIGUOUS },
  {
    name: 'the phone of a customer without e-mail, though another one with it has another e-mail',
    row: { ...ann, phone: '123456' },
    customers: [{ ...ben, phone: '123456' }, { phone: '123456' }],
    becomes: '2',
  },
  {
    name: 'a switchboard’s phone and another e-mail',
    row: { ...ann, phone: '123456' },
    customers: [{ ...ben, phone: '123456' }],
    becomes: UNKNOWN,
  },
  {
    name: 'a switchboard’s phone alone',
    row: { phone: '123456' },
    customers: [
      { ...ann, phone: '123456' },
      { ...ben, phone: '123456' },
    ],
    becomes: AMBIGUOUS,
  },
  {
    name: 'a name that one customer has',
    row: { name: 'ann' },
    customers: [{ ...ann, org: 'acme' }, ben],
    becomes: '1',
  },
  { name: 'a name that two have', row: { name: 'ann' }, customers: [ann, ann], becomes: AMBIGUOUS },
  {
    name: 'a name that two have, one of them in the row’s organization',
    row: { name: 'ann', org: 'acme' },
    customers: [ann, { name: 'ann', org: 'acme' }],
    becomes: '2',
  },
  {
    name: 'a name in another organization',
    row: { name: 'ann', org: 'acme' },
    customers: [{ name: 'ann', org: 'zeta' }],
    becomes: UNKNOWN,
  },
  {
    name: 'a name beside a phone that no customer has',
    row: { name: 'ann', phone: '123456' },
    customers: [ann],
    becomes: UNKNOWN,
  },
  { name: 'an organization alone', row: { org: 'acme' }, customers: [{ org: 'acme' }], becomes: UNKNOWN },
  { name: 'an id', row: { client_id: '2', customer: null }, customers: [ann, ben], becomes: '2' },
  {
    name: 'an id that no customer has',
    row: { client_id: '3', customer: null },
    customers: [ann, ben],
    becomes: UNKNOWN,
  },
];

test.each(scenes)('$name: $becomes', async ({ row, customers, becomes }) => {
  const run = await aRun(database, { type: 'orders' });
  await putRows(database, run, [{ ...NO_KEYS, customer: {}, state: 'staged', action: null, ...row, source_id: '1' }]);
  await putRecords(
    database,
    run,
    customers.map((customer, i) => ({ ...NO_KEYS, ...customer, record_id: String(i + 1) })),
  );
  await inTransaction(database.pool, (db) => resolveCustomers(db, run, { keepMissing: false, isWhole: true }));
  const [after] = await rowsOf(database, run);
  expect(after?.state === 'staged' ? after.client_id : fateOf(after ?? {})).toBe(becomes);
});

test('reports the candidates, and the values that no customer has', async () => {
  const run = await beginNew(database);
  const named = [
    { customer_email: 'Ann@x.de' },
    { customer_email: 'No@x.de' },
    { client_id: '99' },
    { customer_phone: '12' },
  ];
  await stageRows(database.pool, run, rowsWith(named.map((who) => ({ amount: '1', ...who }))), 'LS-test');
  await putRecords(
    database,
    run,
    ['10', '9', '8'].map((record_id) => ({ ...NO_KEYS, record_id, email: 'ann@x.de' })),
  );
  await inTransaction(database.pool, (db) => resolveCustomers(db, run, { keepMissing: false, isWhole: true }));
  const facts = (await rowsOf(database, run)).map((row) => row.facts);
  expect(facts).toEqual([
    { by: 'e-mail', customers: ['8', '9', '10'] },
    { customer: 'No@x.de' },
    { customer: '99', id: '99' },
    {},
  ]);
  const remedies = facts.map((one) => remedyFor('CUSTOMER_UNKNOWN', one as Facts));
  expect(remedies[1]).toMatch(/--create-customers/);
  expect(remedies[2]).toMatch(/^Correct the id\. .*--map client_id=/); // a customer with a given id cannot be created
});

test('names the keys that decided, also those that broke a tie', async () => {
  const run = await beginNew(database);
  const named = [
    { customer_email: 'ben@x.de', customer_name: 'Ben' },
    { customer_email: 'ann@x.de', customer_name: 'Ann' },
  ];
  await stageRows(database.pool, run, rowsWith(named.map((who) => ({ amount: '1', ...who }))), 'LS-test');
  const customers = [ben, ann, { ...ann, name: 'a. lee' }];
  await putRecords(
    database,
    run,
    customers.map((customer, i) => ({ ...NO_KEYS, ...customer, record_id: String(i + 1) })),
  );
  await inTransaction(database.pool, (db) => resolveCustomers(db, run, { keepMissing: false, isWhole: true }));
  const found = await database.pool.query('select record_id, by from ledger.matches where run_id = $1 order by n', [
    run.id,
  ]);
  expect(found.rows).toEqual([
    { record_id: '1', by: 'e-mail' },
    { record_id: '2', by: 'e-mail and name' },
  ]);
});

test('keeps and counts missing customers that are to be created, but not unknown ids', async () => {
  const values = [
    { customer_email: 'a@x.de' },
    { customer_name: 'Ben' },
    { client_id: '99' },
    { organization: 'Acme' },
  ];
  const run = await aLoad(database, rowsWith(values.map((who) => ({ amount: '1', ...who }))));
  const missing = await inTransaction(database.pool, (db) =>
    resolveCustomers(db, run, { keepMissing: true, isWhole: true }),
  );
  expect(missing).toBe(2);
  expect((await rowsOf(database, run)).map(fateOf)).toEqual(['staged', 'staged', UNKNOWN, UNKNOWN]);
});

test('ids are compared as they are written, however large', async () => {
  const large = '9007199254740993';
  const values = [{ client_id: large }, { client_id: '7' }];
  const run = await aLoad(database, rowsWith(values.map((who) => ({ amount: '1', ...who }))));
  await putRecords(database, run, [
    { ...NO_KEYS, record_id: '1', email: 'ann@x.de' },
    { ...NO_KEYS, record_id: large, email: 'ben@x.de' },
    { ...NO_KEYS, record_id: '007', email: null },
  ]);
  await inTransaction(database.pool, (db) => resolveCustomers(db, run, { keepMissing: true, isWhole: true }));
  const rows = await rowsOf(database, run);
  expect(rows.map((row) => [row.client_id, fateOf(row)])).toEqual([
    [String(large), 'staged'],
    ['7', UNKNOWN],
  ]);
});

test('recognises an id of another system by the e-mail beside it, and gives no order to a stranger', async () => {
  const values = [
    { client_id: '1', customer_email: 'Zoe@bc.example' },
    { client_id: '1', customer_email: 'ANN@x.de', customer_name: 'Someone' },
    { client_id: '2', customer_email: 'zoe@bc.example' },
  ];
  const run = await aLoad(database, rowsWith(values.map((who) => ({ amount: '1', ...who }))));
  await putRecords(database, run, [
    { ...NO_KEYS, record_id: '1', email: 'ann@x.de' },
    { ...NO_KEYS, record_id: '2', email: null },
  ]);
  await inTransaction(database.pool, (db) => resolveCustomers(db, run, { keepMissing: true, isWhole: true }));
  const rows = await rowsOf(database, run);
  expect(rows.map(fateOf)).toEqual(['settled rejected CUSTOMER_CONTRADICTS', 'staged', 'staged']);
  expect(rows[0]?.facts).toEqual({ customer: '1', is: 'ann@x.de', expected: 'zoe@bc.example' });
});
