import { afterAll, expect, test } from 'vitest';
import { openContactsHarness } from './contacts.ts';

const harness = await openContactsHarness();
afterAll(() => harness.close());

test('a reset empties every table, also a table added later, and ids start again', async () => {
  const { pool } = harness.database;
  await pool.query('create table ledger.added_later (id bigint generated always as identity, run_id text)');
  const insert = async () =>
    (await pool.query('insert into ledger.added_later default values returning id')).rows[0].id;
  await harness.addContacts([{ first_name: 'Ann' }, { first_name: 'Ben' }]);
  const first = await harness.runSync();
  expect([await harness.tally(first), await insert()]).toEqual([{ in: 2, created: 2 }, 1]);

  await harness.reset();
  const left = await pool.query('select id from ledger.runs union all select run_id from ledger.added_later');
  expect([left.rows, await harness.customers(), harness.service.traffic.total()]).toEqual([[], [], 0]);
  await harness.addContacts([{ first_name: 'Cho' }]);
  const second = await harness.runSync();
  expect([await harness.tally(second), await insert()]).toEqual([{ in: 1, created: 1 }, 1]);
  expect(await harness.customers()).toMatchObject([{ id: 1, contact_id: 1, full_name: 'Cho' }]);
});
