/** Pages of the rows of a run: a search is bounded, says how far it has looked, and continues there. */
import { afterAll, expect, test } from 'vitest';
import { endRun } from '../../../../src/engine/ledger/run-status.ts';
import type { Run } from '../../../../src/engine/ledger/runs.ts';
import { pageOfRows, type RowFilter } from '../../../../src/engine/ledger/views/row-pages.ts';
import { aRun, freshLedger } from '../fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

const ROWS = 9_000;

/** Rows 10, 20, …, created; every 3,000th is rejected, and the last one has no verdict. */
async function largeRun(): Promise<Run> {
  const run = await aRun(database);
  await database.pool.query(
    `with i as (insert into ledger.inputs (run_id, n, label, email)
       select $1, n * 10, 'Person ' || n, 'person' || n || '@example.org' from generate_series(1, ${ROWS}) n returning n)
     insert into ledger.verdicts (run_id, n, verdict, reason)
     select $1, n, case when n % 30000 = 0 then 'rejected' else 'created' end, case when n % 30000 = 0 then 'REFUSED' end
     from i where n < ${ROWS * 10}`,
    [run.id],
  );
  return run;
}

const large = await largeRun();

/** What each page found, and up to where each search that stopped had looked. */
async function search(run: Run, filter: RowFilter, searchMs = 0) {
  const pages: (readonly number[])[] = [];
  const stops: (number | undefined)[] = [];
  for (let after: number | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await pageOfRows(database.pool, run.id, filter, { limit: 2, after, searchMs });
    pages.push(page.rows.map(({ n }) => n));
    stops.push(page.searchedTo);
    after = page.next;
  }
  return { pages, stops };
}

test('a search that takes too long stops, says how far it has looked, and continues there', async () => {
  const { pages, stops } = await search(large, { text: 'son4500@' });
  expect(pages).toEqual([[], [], [45_000], [], []]);
  expect(stops).toEqual([20_000, 40_000, 60_000, 80_000, undefined]);
  expect(await search(large, { text: 'son4500@' }, 60_000)).toEqual({ pages: [[45_000]], stops: [undefined] });
});

test('a search finds as many rows for a page as there are, and misses none between pages', async () => {
  const { pages } = await search(large, { text: 'person 77' });
  const labels = Array.from({ length: ROWS }, (_, i) => i + 1).filter((n) => `Person ${n}`.startsWith('Person 77'));
  expect(pages.flat()).toEqual(labels.map((n) => n * 10));
});

test('a search reads the values of a row as people see them, and not the names of its fields', async () => {
  const run = await aRun(database);
  await database.pool.query(
    `insert into ledger.inputs (run_id, n, fields, cells) select $1::text, n, $2::jsonb, $3::json from generate_series(1, 2) n
     union all select $1, 3, $4::jsonb, $5::json`,
    [run.id, { amount: '7' }, '["A-1","7"]', { amount: '8' }, JSON.stringify(['A-2', '12" pipe\\', '50%'])],
  );
  const found = async (text: string) => (await search(run, { text })).pages.flat();
  expect([await found('amount'), await found('_'), await found('["')]).toEqual([[], [], []]);
  expect([await found('12" pipe\\'), await found('"'), await found('0%')]).toEqual([[3], [3], [3]]);
});

test('rows of a verdict in a run that has ended are found at once, wherever they are', async () => {
  const run = await largeRun();
  await endRun(database.pool, run.id, 'failed');
  expect((await search(run, { verdicts: ['rejected'] })).pages[0]).toEqual([30_000]);
  expect((await search(run, { verdicts: ['unknown'] })).pages).toEqual([[90_000]]);
  expect((await search(run, { reason: 'NEVER_SENT' })).pages).toEqual([[90_000]]);
  expect(await search(run, { verdicts: ['review'] })).toEqual({ pages: [[]], stops: [undefined] });
  expect(await search(run, { verdicts: ['rejected'], reason: 'OTHER' })).toEqual({ pages: [[]], stops: [undefined] });
});

test('without a filter, no page stops early', async () => {
  const page = await pageOfRows(database.pool, large.id, {}, { limit: 5_000, searchMs: 0 });
  expect(page).toMatchObject({ next: 50_000, searchedTo: undefined });
  expect(page.rows).toHaveLength(5_000);
});
