/** Retention: which rows and runs are deleted by age, and which are kept at any age. */
import fc from 'fast-check';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { keepPlanFile } from '../../../../src/engine/ledger/approval.ts';
import { addRows } from '../../../../src/engine/ledger/inputs.ts';
import { allRuns, history } from '../../../../src/engine/ledger/retention/archive.ts';
import { planPruning, pruneLedger } from '../../../../src/engine/ledger/retention/prune.ts';
import { countRows, VERDICTS } from '../../../../src/engine/ledger/rows.ts';
import { endRun, pauseRun, resumeRun } from '../../../../src/engine/ledger/run-status.ts';
import { type NewRun, type Run, readRun } from '../../../../src/engine/ledger/runs.ts';
import { emptyingOf } from '../../../support/harness/empty-tables.ts';
import { runs } from '../../../support/property-runs.ts';
import { mostRows } from '../../../support/statement-work.ts';
import { aRun, asLoad, freshLedger, putRows, type RowColumns, rowsOf } from '../fresh-ledger.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const ROWS_ONLY = { rowsMs: 90 * DAY_MS, runsMs: undefined };
const BOTH = { rowsMs: 90 * DAY_MS, runsMs: 400 * DAY_MS };

let empty: () => Promise<void>;
const database = await freshLedger();
empty = emptyingOf(database.pool);
beforeEach(() => empty());
afterAll(() => database.close());

/** A run that began and ended this many days ago, with these rows. */
async function oldRun(
  days: number,
  rows: readonly RowColumns[],
  { status = 'done', ...how }: Partial<NewRun> & { status?: 'done' | 'failed' | 'cancelled' } = {},
): Promise<Run> {
  const run = await aRun(database, how);
  await putRows(database, run, rows);
  await endRun(database.pool, run.id, status);
  await age(run, days);
  return run;
}

async function age({ id }: Run, days: number): Promise<void> {
  await database.pool.query(
    `update ledger.runs set created_at = created_at - $2 * interval '1 day', ended_at = ended_at - $2 * interval '1 day' where id = $1`,
    [id, days],
  );
}

const leftOf = async (run: Run) => (await rowsOf(database, run)).map((row) => row.source_id);
const settled = (source_id: string, verdict: string, more: object = {}) => ({ source_id, verdict, ...more });
const NIGHTLY = { sync: 'nightly', account: 'acme' };

describe('old rows', () => {
  test('take saved plans with them', async () => {
    for (const days of [91, 89]) {
      const run = await oldRun(days, [settled('1', 'created')], { dryRun: true });
      await database.pool.query(`insert into ledger.shown values ($1, 1, '1', '', '', '{"phone_number": "1"}')`, [
        run.id,
      ]);
      await keepPlanFile(database.pool, run.id, { sha256: String(days), savedBy: 'ann@office' });
    }
    await pruneLedger(database.pool, ROWS_ONLY);
    const left = await database.pool.query('select sha256 from ledger.plan_files join ledger.shown using (run_id)');
    expect(left.rows).toEqual([{ sha256: '89' }]);
    expect((await database.pool.query('select from ledger.shown')).rowCount).toBe(1);
  });

  test('are deleted with their attempts, and their counts stay with the run', async () => {
    const run = await oldRun(91, [settled('1', 'created'), settled('2', 'updated'), settled('3', 'rejected')]);
    const young = await oldRun(89, [settled('1', 'created')]);
    const before = await countRows(database.pool, run.id);
    expect(await planPruning(database.pool, ROWS_ONLY)).toEqual({ rows: 3, runs: 0 });
    expect(await pruneLedger(database.pool, ROWS_ONLY)).toEqual({ rows: 3, runs: 0 });
    expect([await leftOf(run), await leftOf(young)]).toEqual([[], ['1']]);
    expect(await countRows(database.pool, run.id)).toEqual(before);
    expect((await readRun(database.pool, run.id)).rowsPruned).toBe(3);
    expect(await pruneLedger(database.pool, ROWS_ONLY)).toEqual({ rows: 0, runs: 0 });
  });

  test('of a run that is opened again after that still count when it ends', async () => {
    const run = await oldRun(91, [settled('1', 'created'), settled('2', 'review')]);
    await pruneLedger(database.pool, ROWS_ONLY);
    await database.pool.query(`update ledger.runs set status = 'failed', phase = 'work' where id = $1`, [run.id]);
    expect(await resumeRun(database.pool, run.id)).toBe(true);
    await endRun(database.pool, run.id, 'done');
    const kept = await database.pool.query('select counts from ledger.runs where id = $1', [run.id]);
    expect(kept.rows[0].counts).toEqual({ created: 1, review: 1 });
  });

  test('are deleted in batches', async () => {
    const run = await aRun(database);
    const rows = Array.from({ length: 10_001 }, (_, n) => ({ n, label: '', verdict: 'created' as const }));
    await addRows(database.pool, run.id, rows);
    await endRun(database.pool, run.id, 'done');
    await age(run, 91);
    expect(await pruneLedger(database.pool, ROWS_ONLY)).toEqual({ rows: 10_001, runs: 0 });
    expect(await countRows(database.pool, run.id)).toMatchObject({ in: 10_001, created: 10_001 });
  });

  test('of many runs are looked at once, not once for each run', async () => {
    const [count, many] = [12, 600];
    await Promise.all(
      Array.from({ length: count }, async () => {
        const run = await aRun(database);
        await database.pool.query(
          `with rows as (insert into ledger.inputs (run_id, n, label) select $1, n, n from generate_series(1, $2) n returning n)
           insert into ledger.verdicts (run_id, n, verdict, reason) select $1, n, 'review', 'NOT_IN_LIST' from rows`,
          [run.id, many],
        );
        await endRun(database.pool, run.id, 'done');
        await age(run, 91);
      }),
    );
    await database.pool.query(`analyze; alter database ${database.connection.database} set work_mem = '64kB'`);
    const most = await mostRows(database, async (watched) => {
      expect(await planPruning(watched, ROWS_ONLY)).toEqual({ rows: 0, runs: 0 });
      expect(await pruneLedger(watched, ROWS_ONLY)).toEqual({ rows: 0, runs: 0 });
    });
    expect(most).toBeLessThan(2 * count * many);
  });

  test.each(['running', 'paused', 'failed'] as const)('of a run that is %s are kept', async (status) => {
    const run = await aRun(database);
    await putRows(database, run, [settled('1', 'created')]);
    if (status === 'failed') await endRun(database.pool, run.id, 'failed');
    if (status === 'paused') await pauseRun(database.pool, run.id, { code: 'X', message: '' });
    await age(run, 500);
    expect(await pruneLedger(database.pool, BOTH)).toEqual({ rows: 0, runs: 0 });
    expect(await leftOf(run)).toEqual(['1']);
  });

  test('of a part are kept while the run that it works for can be resumed', async () => {
    const whole = await oldRun(91, [], { status: 'failed' });
    const part = await oldRun(91, [settled('1', 'created')], { partOf: whole.id });
    expect(await pruneLedger(database.pool, ROWS_ONLY)).toEqual({ rows: 0, runs: 0 });
    await database.pool.query('update ledger.runs set phase = null where id = $1', [whole.id]);
    expect(await pruneLedger(database.pool, ROWS_ONLY)).toEqual({ rows: 1, runs: 0 });
    expect(await leftOf(part)).toEqual([]);
  });

  test('that wait for a person are kept until a later run of the sync has decided the record again', async () => {
    const waiting = ['AMBIGUOUS', 'NOT_IN_LIST', 'NOT_RECOGNISED', 'DUPLICATE', 'LOST'];
    const rows = waiting.map((reason, n) => settled(`c${n}`, 'review', { reason, hash: 'h' }));
    const first = await oldRun(100, rows, NIGHTLY);
    expect(await pruneLedger(database.pool, ROWS_ONLY)).toEqual({ rows: 0, runs: 0 });
    await oldRun(
      99,
      [settled('c0', 'updated'), settled('c1', 'review', { reason: 'NOT_IN_LIST', hash: 'h' })],
      NIGHTLY,
    );
    await pruneLedger(database.pool, ROWS_ONLY);
    expect(await leftOf(first)).toEqual(['c2', 'c3', 'c4']);
  });

  test('that must not be sent again are kept until a later run keeps the same record, whatever its content is now', async () => {
    const first = await oldRun(100, [settled('1', 'review', { reason: 'NOT_IN_LIST', hash: 'a' })], NIGHTLY);
    const second = await oldRun(99, [settled('1', 'review', { reason: 'NOT_IN_LIST', hash: 'b' })], NIGHTLY);
    await pruneLedger(database.pool, ROWS_ONLY);
    expect([await leftOf(first), await leftOf(second)]).toEqual([[], ['1']]);
  });

  test('that wait for a person are kept if only a dry run has decided the record again', async () => {
    const first = await oldRun(100, [settled('1', 'review')], NIGHTLY);
    await oldRun(99, [settled('1', 'created')], { ...NIGHTLY, dryRun: true });
    await pruneLedger(database.pool, ROWS_ONLY);
    expect(await leftOf(first)).toEqual(['1']);
  });

  test('with an unknown outcome are kept, and rows that were never sent are deleted', async () => {
    const run = await oldRun(
      100,
      [
        { source_id: 'a', state: 'unknown' },
        { source_id: 'b', state: 'acked' },
        { source_id: 'c', state: 'ready' },
        { source_id: 'd', state: 'staged' },
      ],
      { status: 'cancelled' },
    );
    expect(await pruneLedger(database.pool, ROWS_ONLY)).toEqual({ rows: 2, runs: 0 });
    expect(await leftOf(run)).toEqual(['a', 'b']);
    expect(await countRows(database.pool, run.id)).toMatchObject({ in: 4, unknown: 4 });
  });

  test('of a dry run are deleted, whatever they say', async () => {
    const run = await oldRun(91, [settled('1', 'review', { reason: 'NOT_IN_LIST' })], { dryRun: true });
    await pruneLedger(database.pool, ROWS_ONLY);
    expect(await leftOf(run)).toEqual([]);
  });
});

describe('old runs', () => {
  test('without rows are deleted except the newest of each sync, and their counts are added up', async () => {
    for (const days of [430, 429, 401]) await oldRun(days, [settled('1', 'created'), settled('2', 'updated')], NIGHTLY);
    expect(await planPruning(database.pool, BOTH)).toEqual({ rows: 6, runs: 2 });
    expect(await pruneLedger(database.pool, BOTH)).toEqual({ rows: 6, runs: 2 });
    const sums: Record<string, number> = {};
    for (const { what, count } of await history(database.pool)) sums[what] = (sums[what] ?? 0) + count;
    expect(sums).toEqual({ 'run: done': 2, created: 2, updated: 2 });
    const left = [];
    for await (const { counts } of allRuns(database.pool)) left.push(counts);
    expect(left).toEqual([{ created: 1, updated: 1 }]);
  });

  test('are kept while a row of them is', async () => {
    await oldRun(500, [settled('1', 'review')], NIGHTLY);
    await oldRun(401, [], NIGHTLY);
    expect(await planPruning(database.pool, BOTH)).toEqual({ rows: 0, runs: 0 });
    expect(await pruneLedger(database.pool, BOTH)).toEqual({ rows: 0, runs: 0 });
  });

  test('are kept if they are loads that are done, so that the same file stays known', async () => {
    const aLoad = async (more: Parameters<typeof oldRun>[2]) => {
      const run = await oldRun(500, [settled('2', 'created')], { ...more, type: 'orders' });
      await asLoad(database, run);
      return run.id;
    };
    const done = await aLoad({});
    await aLoad({ status: 'cancelled' });
    await aLoad({ dryRun: true });
    expect(await pruneLedger(database.pool, BOTH)).toEqual({ rows: 3, runs: 2 });
    const left = await database.pool.query('select run_id from ledger.loads');
    expect(left.rows).toEqual([{ run_id: done }]);
  });
});

test('keeps every count, every row that may matter, and nothing else, in any history', async () => {
  const row = fc.record({
    source: fc.integer({ min: 1, max: 4 }),
    // Unchanged rows of older runs are deleted without regard to their age.
    verdict: fc.constantFrom(...VERDICTS.filter((verdict) => verdict !== 'unchanged')),
    reason: fc.constantFrom(undefined, 'NOT_IN_LIST', 'GAVE_UP', 'DIFFERS'),
    owed: fc.constantFrom('nothing', 'open', 'paid', 'violated'),
  });
  const night = fc.uniqueArray(row, { selector: ({ source }) => source, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(fc.array(night, { minLength: 1, maxLength: 4 }), async (nights) => {
      await empty();
      const made = [];
      for (const [at, rows] of nights.entries()) {
        const columns = rows.map(({ source, verdict, reason }) =>
          settled(`c${source}`, verdict, { reason, hash: 'h' }),
        );
        const run = await oldRun(100 - at, columns, NIGHTLY);
        for (const { source, owed } of rows) if (owed !== 'nothing') await owe(run, `c${source}`, owed);
        made.push({ run, rows, counts: await countRows(database.pool, run.id) });
      }
      const planned = await planPruning(database.pool, ROWS_ONLY);
      expect(await pruneLedger(database.pool, ROWS_ONLY)).toEqual(planned);
      for (const [at, { run, rows, counts }] of made.entries()) {
        expect(await countRows(database.pool, run.id)).toEqual(counts);
        const next = made[at + 1]?.rows ?? [];
        const kept = rows.filter(({ source, verdict, reason, owed }) => {
          const later = next.find((one) => one.source === source);
          if (owed === 'open' || owed === 'violated') return true;
          const mayExist = ['NOT_IN_LIST', 'GAVE_UP'];
          if (mayExist.includes(reason ?? '')) return !mayExist.includes(later?.reason ?? '');
          return (verdict === 'review' || verdict === 'unknown') && later === undefined;
        });
        expect(await leftOf(run)).toEqual(kept.map(({ source }) => `c${source}`));
      }
    }),
    runs(8),
  );
});

async function owe({ id, scope }: Run, source: string, owed: 'open' | 'paid' | 'violated'): Promise<void> {
  await database.pool.query(
    `insert into ledger.audit_debts (run_id, source_id, scope, resource, settle_ms, paid_at, violation)
     values ($1, $2, $3, 'customers', 1000, case when $4 <> 'open' then now() end, case when $4 = 'violated' then 'LOST' end)`,
    [id, source, scope, owed],
  );
}
