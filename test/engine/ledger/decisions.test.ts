/** How many rows of a run people have decided. */
import { afterAll, expect, test } from 'vitest';
import { decidedRows } from '../../../src/engine/ledger/decisions.ts';
import { aRun, asLoad, freshLedger } from './fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

const ROWS = 20_000;

test('counts the decided rows of a load of which all rows are decided, without comparing each row with each decision', async () => {
  const { pool } = database;
  const run = await aRun(database, { type: 'orders', resource: 'orders' });
  await asLoad(database, run);
  const all = 'from generate_series(1, $2::int) n';
  await pool.query(`insert into ledger.inputs (run_id, n, label) select $1, n, 'A-' || n ${all}`, [run.id, ROWS]);
  await pool.query(
    `insert into ledger.verdicts (run_id, n, verdict, reason) select $1, n, 'review', 'AMBIGUOUS_CUSTOMER' ${all}`,
    [run.id, ROWS],
  );
  await pool.query(
    `insert into ledger.decisions (scope, kind, subject, run_id, n, reason, choice, decided_by, decided_at)
     select $3, 'order', $1 || '/' || n, $1, n, 'AMBIGUOUS_CUSTOMER', case when n = 1 then 'later' else 'ignore' end, 'ann', now() + interval '1 s' ${all}`,
    [run.id, ROWS, run.scope],
  );
  await pool.query(`set statement_timeout = '20s'`); // such a comparison takes minutes
  expect(await decidedRows(pool, [run])).toEqual(new Map([[run.id, ROWS - 1]]));
});
