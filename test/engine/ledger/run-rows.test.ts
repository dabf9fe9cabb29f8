/** The rows of a run, counted and listed. */
import { afterAll, describe, expect, test } from 'vitest';
import { pruneRows } from '../../../src/engine/ledger/retention/forget.ts';
import { countRows, rowsLeft, VERDICTS } from '../../../src/engine/ledger/rows.ts';
import { type ReportedRow, reportRows } from '../../../src/engine/ledger/views/row-pages.ts';
import { aRun, asLoad, freshLedger, putRows, readyRows, rowsOf } from './fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

describe('rows', () => {
  test('are counted by verdict, and `in` is their sum in any state', async () => {
    const run = await aRun(database);
    const settled = VERDICTS.map((verdict, i) => ({ source_id: `s${i}`, n: i, state: 'settled', verdict }));
    const open = ['staged', 'ready', 'intent', 'acked', 'unknown'].map((state, i) => ({
      source_id: `o${i}`,
      n: 100 + i,
      state,
    }));
    await putRows(database, run, [...settled, ...open]);
    const { in: sum, unknown, ...others } = await countRows(database.pool, run.id);
    expect([sum, unknown]).toEqual([13, 6]);
    expect(Object.values(others)).toEqual(Array(7).fill(1));
  });

  test('of a received load are as many as it received, though some were deleted since', async () => {
    const run = await aRun(database, { type: 'orders' });
    await asLoad(database, run);
    await putRows(database, run, [...readyRows(3), { source_id: 'old', n: 100, verdict: 'rejected' }]);
    const counts = { in: 4, rejected: 1, unknown: 3 };
    expect(await countRows(database.pool, run.id)).toMatchObject(counts);
    expect(await rowsLeft(database.pool, run.id)).toEqual({ planned: 4, toSend: 3, toSettle: 0 });
    const sql = `select n, verdict from ledger.verdicts where run_id = $1`;
    await pruneRows(database.pool, run.id, { sql, values: [] });
    expect(await countRows(database.pool, run.id)).toMatchObject(counts);
    expect(await rowsLeft(database.pool, run.id)).toEqual({ planned: 3, toSend: 3, toSettle: 0 });
  });

  test('are listed in the order they were seen, all or those of one verdict', async () => {
    const run = await aRun(database);
    const verdicts = ['created', 'review', null];
    await putRows(
      database,
      run,
      readyRows(2_500).map((row, i) => ({ ...row, n: 3 * (2_500 - i), verdict: verdicts[i % 3] ?? null })),
    );
    const all = await collected(reportRows(database.pool, run.id));
    expect(all.map((row) => Number(row.sourceId))).toEqual(Array.from({ length: 2_500 }, (_, i) => 2_500 - i));
    expect(await collected(reportRows(database.pool, run.id, 'unknown'))).toHaveLength(833);
    expect(await collected(reportRows(database.pool, run.id, 'review'))).toHaveLength(833);
    expect((await rowsOf(database, run)).length).toBe(2_500);
  });
});

async function collected(rows: AsyncIterable<ReportedRow>): Promise<readonly ReportedRow[]> {
  const all: ReportedRow[] = [];
  for await (const row of rows) all.push(row);
  return all;
}
