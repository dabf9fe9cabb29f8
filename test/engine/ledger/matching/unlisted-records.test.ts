/** Known records that a list did not show are found without comparing every row with every record. */
import { expect, onTestFinished, test } from 'vitest';
import { CONTACT_LINK } from '../../../../src/engine/ledger/matching/contact-links.ts';
import { unlistedCustomers, unlistedUpdates } from '../../../../src/engine/ledger/matching/unlisted-records.ts';
import type { Run } from '../../../../src/engine/ledger/runs.ts';
import { mostRows } from '../../../support/statement-work.ts';
import { aRun, freshLedger } from '../fresh-ledger.ts';

const ROWS = 2_000;
const no = () => false;
const SIGHTINGS = { unchanged: 0, lastN: 0, linked: 0, lost: 0, isInList: no, hasContact: no, isLost: no };

test('where Postgres has no statistics of the run', async () => {
  const database = await freshLedger();
  onTestFinished(() => database.close());
  const { pool } = database;
  /** Rows whose records, but for the first, are listed. */
  const fill = ({ id, scope }: Run) =>
    pool.query(
      `with numbers as (select n, $2 || ':' || n as key from generate_series(1, $3) n),
         rows as (insert into ledger.inputs (run_id, n, source_id) select $1, n, key from numbers),
         planned as (insert into ledger.plans (run_id, n, action, record_id) select $1, n, 'update', key from numbers),
         linked as (insert into ledger.links (scope, kind, source_id, record_id, run_id)
           select $2, $4, key, key, $1 from numbers)
       insert into ledger.records (run_id, kind, record_id, fields, first_pass, last_pass)
         select $1, kind, key, '{}', 0, 0 from numbers, unnest('{customer,order}'::text[]) kind where n > 1`,
      [id, scope, ROWS, CONTACT_LINK],
    );
  await fill(await aRun(database));
  await pool.query('analyze');
  const run = await aRun(database);
  await fill(run);
  const most = await mostRows(database, async (watched) => {
    expect(await unlistedCustomers(watched, run, SIGHTINGS)).toEqual([`${run.scope}:1`]);
    expect(await unlistedUpdates(watched, run.id, 0)).toEqual([`${run.scope}:1`]);
  });
  expect(most).toBeLessThan(10 * ROWS);
});
