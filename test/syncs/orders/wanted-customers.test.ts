/** The filter passes every customer that a row of the load may mean. */
import { afterAll, expect, test } from 'vitest';
import { customerNames } from '../../../src/engine/ledger/matching/order-customers.ts';
import { openWantedCustomers } from '../../../src/syncs/orders/wanted-records.ts';
import { freshLedger } from '../../engine/ledger/fresh-ledger.ts';
import { aLoad, rowsWith } from '../../engine/ledger/matching/load-worlds.ts';

const database = await freshLedger();
afterAll(() => database.close());

const ROWS = 6_000;
const CUSTOMERS = 4_000;

test('the customers of many rows are read, each once', async () => {
  const rows = Array.from({ length: ROWS }, (_, i) => ({ order_id: `A${i}`, client_id: String(1 + (i % CUSTOMERS)) }));
  const run = await aLoad(database, rowsWith(rows));
  const ids: (string | null)[] = [];
  for await (const { id } of customerNames(database.pool, run)) ids.push(id);
  expect([ids.length, new Set(ids).size]).toEqual([CUSTOMERS, CUSTOMERS]);
  const isWanted = await openWantedCustomers(database.pool, run);
  const keys = {
    contactId: undefined,
    email: undefined,
    phone: undefined,
    name: undefined,
    org: undefined,
    fields: {},
  };
  const passes = (id: number) => isWanted({ recordId: String(id), ...keys });
  for (let example = 0; example < 10; example++) passes(0); // the first customers of a list always pass
  const wanted = Array.from({ length: CUSTOMERS }, (_, i) => i + 1);
  expect(wanted.filter((id) => !passes(id))).toEqual([]);
  const others = Array.from({ length: 1_000 }, (_, i) => CUSTOMERS + 1 + i);
  expect(others.filter(passes).length).toBeLessThan(10);
});
