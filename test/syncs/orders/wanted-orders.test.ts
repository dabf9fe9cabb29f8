/** The filter passes every order that the load may know under any key. */
import { afterAll, expect, test } from 'vitest';
import { takeKeys } from '../../../src/engine/ledger/matching/order-keys.ts';
import { inTransaction } from '../../../src/storage/transaction.ts';
import { openWantedOrders } from '../../../src/syncs/orders/wanted-records.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { aLoad, rowsWith } from '../../engine/ledger/matching/load-worlds.ts';

const database = await freshLedger();
afterAll(() => database.close());

const seen = { recordId: '1', clientId: '7', isNumber: false, fields: {} };

test('orders in another spelling or without zeros pass, orders of others do not', async () => {
  const labels = ['Ord-1', '0012', 'İ-5', '#77', 'e\u0301 9'];
  const run = await aLoad(database, rowsWith(labels.map((order_id) => ({ order_id, client_id: '7' }))));
  await inTransaction(database.pool, (db) => takeKeys(db, run, 0));
  const { wants, isNear } = await openWantedOrders(database.pool, { run, isAudit: false });
  const passes = (label: string, clientId: string | undefined = '7') => wants({ ...seen, clientId, label });
  for (const label of ['Ord-1', 'oRD-1', 'ord_1', '12', '0012', 'i-5', '77', '\u00e9-9'])
    expect([label, passes(label)]).toEqual([label, true]);
  expect([passes('Ord-2'), passes('Ord-1', '8'), passes('')]).toEqual([false, false, false]);
  expect(['7', '8', undefined].map((clientId) => isNear({ clientId }))).toEqual([true, false, true]);
});

test('orders of more keys than one page pass', async () => {
  const rows = Array.from({ length: 11_000 }, (_, i) => ({ order_id: `A${i}`, client_id: '7' }));
  const run = await aLoad(database, rowsWith(rows));
  await inTransaction(database.pool, (db) => takeKeys(db, run, 0));
  const { wants } = await openWantedOrders(database.pool, { run, isAudit: false });
  expect(rows.filter(({ order_id }) => !wants({ ...seen, label: order_id }))).toEqual([]);
});
