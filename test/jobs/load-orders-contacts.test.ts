/** Files that may be lists of contacts: a person decides whether each line is an order, even if the load asks no one. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { awaitsApproval } from '../../src/engine/ledger/approval.ts';
import { openOrdersHarness } from '../support/harness/orders.ts';

const harness = await openOrdersHarness();
beforeEach(async () => {
  await harness.reset();
  await harness.addNumberedCustomers(2);
});
afterAll(() => harness.close());

const CONTACTS =
  'Record ID,First Name,Last Name,Email\n101,Eva,Fox,customer2@example.com\n102,Gus,Hill,gus@example.com\n';

test.each([
  ['a number of its own in each line', CONTACTS, '"Record ID" may not have their numbers'],
  ['no numbers', CONTACTS.replace('Record ID', 'Age'), 'none has their numbers'],
])('a list of contacts with %s waits for approval, and says what is missing', async (_, file, missing) => {
  const run = await harness.load(file, { createCustomers: true });
  expect([awaitsApproval(run), run.error]).toEqual([
    true,
    `Nothing is written yet: no column has the amounts of orders, and ${missing}: the file may be a list of contacts. ` +
      'Approve the load only if each line is an order; otherwise decline it.',
  ]);
  expect([await harness.orders(), await harness.call('customers.getall')]).toEqual([
    [],
    [{}, {}].map(() => expect.anything()),
  ]);
});

test.each([
  ['no numbers', 'id_produit,nom,prix\n1,Lampe,79.97\n2,Chaise,128.58\n'],
  ['numbers that may be of anything', 'id,nom,prix\n41,Lampe,79.97\n57,Chaise,128.58\n'],
])('a list of products with %s waits for approval', async (_, file) => {
  const run = await harness.load(file, { createCustomers: true });
  expect([awaitsApproval(run), run.error]).toEqual([
    true,
    'Nothing is written yet: "nom" and "prix" may be names and prices of products: the file may be a list of products. ' +
      'Approve the load only if each line is an order; otherwise decline it.',
  ]);
});

test('a sheet with merged cells waits for approval: lines without an order may be items of the orders above', async () => {
  const file =
    'Order,Email,Item,Amount\nA,customer1@example.com,Chair,20\n,,Table,120\nB,customer2@example.com,Chair,9\n';
  const run = await harness.load(file);
  expect([awaitsApproval(run), run.error]).toEqual([
    true,
    'Nothing is written yet: line 3 has an amount, but names neither an order nor a customer: it may be an item of the order above it. ' +
      'Approve the load only if each line is an order; otherwise decline it.',
  ]);
});

test.each([
  ['the numbers of orders', CONTACTS.replace('Record ID', 'Order No'), undefined],
  ['amounts', CONTACTS.replace('Record ID', 'Amount'), undefined],
  ['columns that a person has chosen', CONTACTS, new Map([['order_id', 'Record ID']] as const)],
  ['no amounts, as a person said', CONTACTS, new Map([['amount', '']] as const)],
])('a file with %s needs no approval', async (_, file, map) => {
  const run = await harness.load(file, { choices: { map } });
  expect(await harness.tally(run)).toEqual({ in: 2, created: 1, rejected: 1 });
});
