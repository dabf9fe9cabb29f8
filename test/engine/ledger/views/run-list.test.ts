/** Lists of runs: pages that fold runs, and the newest runs of several syncs. */
import { afterAll, expect, test } from 'vitest';
import { newestRuns, pageOfRuns } from '../../../../src/engine/ledger/views/run-list.ts';
import { freshLedger } from '../fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

/** Runs that changed nothing, one a minute; the highest number is the newest. */
const putRuns = (sync: string, count: number, { from = 1, counts = '{}' } = {}) =>
  database.pool.query(
    `insert into ledger.runs (id, sync, job, account, scope, resource, lane, dry_run, options, status, counts, created_at)
     select $1 || '-' || n, $1, 'tasks', 'acme', 'acme', 'tasks', 'batch', false, '{}', 'done', $4::jsonb, '2026-03-01'::timestamptz + n * interval '1 min'
     from generate_series($3::int, $3 + $2::int - 1) n`,
    [sync, count, from, counts],
  );

test('runs that found nothing are one entry, however many batches they are read in', async () => {
  await putRuns('poll', 2_000);
  const { entries, next } = await pageOfRuns(database.pool, { sync: 'poll' }, { limit: 20, fold: true });
  expect(entries.map(({ run, folded, since }) => [run.id, folded, since.toISOString()])).toEqual([
    ['poll-2000', 2_000, '2026-03-01T00:01:00.000Z'],
  ]);
  expect(next).toBeUndefined();
});

test('a run without rows is not folded with runs whose rows are unchanged', async () => {
  await putRuns('contacts', 2, { counts: '{"unchanged":12}' });
  await putRuns('contacts', 1, { from: 3 });
  await putRuns('contacts', 1, { from: 4, counts: '{"unchanged":11}' });
  const { entries } = await pageOfRuns(database.pool, { sync: 'contacts' }, { limit: 20, fold: true });
  expect(entries.map(({ run, folded }) => [run.id, folded])).toEqual([
    ['contacts-4', 1],
    ['contacts-3', 1],
    ['contacts-2', 2],
  ]);
});

test('the newest runs of each sync are found, the newest first', async () => {
  await putRuns('a', 3);
  await putRuns('b', 1);
  const runs = await newestRuns(database.pool, ['a', 'b', 'none'], 2);
  expect(runs.map(({ id }) => id)).toEqual(['a-3', 'a-2', 'b-1']);
});
