/** What pages show of a whole run: recorded when it ends, and right after its rows have changed. */
import { afterAll, expect, test } from 'vitest';
import { decide, listDecisions, undoDecision } from '../../../../src/engine/ledger/decisions.ts';
import { pruneLedger } from '../../../../src/engine/ledger/retention/prune.ts';
import { claimRows, recordAttempts, VERDICTS } from '../../../../src/engine/ledger/rows.ts';
import { endRun, resumeRun } from '../../../../src/engine/ledger/run-status.ts';
import { type NewRun, type Run, readRun } from '../../../../src/engine/ledger/runs.ts';
import { reopenRows, settleRows } from '../../../../src/engine/ledger/transitions.ts';
import { reviewItems } from '../../../../src/engine/ledger/views/review-items.ts';
import { groupRows, reasonsOf, splitUnsettled } from '../../../../src/engine/ledger/views/row-groups.ts';
import { throughputOf } from '../../../../src/engine/ledger/views/run-figures.ts';
import { aRun, asLoad, claimOn, freshLedger, putRows, type RowColumns, readyRows } from '../fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

const REJECTED = { verdict: 'rejected', reason: 'REFUSED', facts: { said: 'no' } };
const REVIEW = { verdict: 'review', reason: 'AMBIGUOUS_CUSTOMER', facts: { customers: ['7', '8'] } };

async function runWith(rows: readonly Omit<RowColumns, 'source_id'>[], how: Partial<NewRun> = {}): Promise<Run> {
  const run = await aRun(database, how);
  await putRows(
    database,
    run,
    rows.map((row, i) => ({ source_id: `row ${i}`, ...row })),
  );
  return run;
}

/** `rejected REFUSED 2: row 0, row 1` for each group. */
async function groupsOf(run: Run): Promise<readonly string[]> {
  const groups = await groupRows(database.pool, run.id, VERDICTS);
  return groups.map(({ verdict, reason, column, count, examples }) => {
    const names = examples.map(({ sourceId }) => sourceId).join(', ');
    return `${verdict} ${reason}${column === null ? '' : ` in ${column}`} ${count}: ${names}`;
  });
}

const recorded = async (run: Run) =>
  (await database.pool.query('select groups from ledger.run_figures where run_id = $1', [run.id])).rows[0]?.groups;

test('the groups and reasons of an ended run are recorded when it ends', async () => {
  const unreadable = (column: string) => ({ verdict: 'invalid', reason: 'AMOUNT_UNREADABLE', facts: { column } });
  const existing = { verdict: 'existing', reason: 'SAME' };
  const run = await runWith([REJECTED, unreadable('Total'), REJECTED, existing, unreadable('Net'), {}]);
  expect(await recorded(run)).toBeUndefined();
  const expected = [
    'rejected REFUSED 2: row 0, row 2',
    'existing SAME 1: row 3',
    'invalid AMOUNT_UNREADABLE in Net 1: row 4',
    'invalid AMOUNT_UNREADABLE in Total 1: row 1',
    'unknown NEVER_SENT 1: row 5',
  ];
  expect(await groupsOf(run)).toEqual(expected);
  await endRun(database.pool, run.id, 'failed');
  expect(await recorded(run)).toHaveLength(5);
  expect(await groupsOf(run)).toEqual(expected);
  expect(await reasonsOf(database.pool, run.id)).toEqual([
    { verdict: 'rejected', reason: 'REFUSED', count: 2 },
    { verdict: 'invalid', reason: 'AMOUNT_UNREADABLE', count: 2 },
    { verdict: 'existing', reason: 'SAME', count: 1 },
  ]);
});

test('a run of an earlier version is recorded by its first reader', async () => {
  const run = await runWith([REJECTED]);
  await endRun(database.pool, run.id, 'done');
  await database.pool.query('delete from ledger.run_figures where run_id = $1', [run.id]);
  expect(await groupsOf(run)).toEqual(['rejected REFUSED 1: row 0']);
  expect(await recorded(run)).toHaveLength(1);
});

test('each update that awaits approval has the changes that it would make as its example', async () => {
  const update = { action: 'update', fields: { full_name: 'new' } };
  const run = await runWith([update, { ...update, fields: { full_name: 'newer' } }]);
  await database.pool.query(
    `insert into ledger.shown (run_id, n, source_id, source, write, was)
     select $1, n, n, '', '', '{"full_name": "old"}' from generate_series(0, 1) n`,
    [run.id],
  );
  const [group] = await groupRows(database.pool, run.id, ['unknown']);
  const changes = (expected: string) => ({ changes: [{ field: 'full_name', is: 'old', expected }] });
  expect(group?.examples.map(({ facts }) => facts)).toEqual([changes('new'), changes('newer')]);
});

test('the groups are right after an order in review is ignored, and after that is undone', async () => {
  const run = await runWith([{ ...REVIEW, cells: ['a'] }, REVIEW, REVIEW], { type: 'orders', resource: 'orders' });
  await asLoad(database, run);
  await endRun(database.pool, run.id, 'done');
  const [item] = await reviewItems(database.pool, { subject: `${run.id}/0` });
  if (!item) throw new Error('the row is not in review');
  await decide(database.pool, [{ item, choice: 'ignore', record: undefined, note: undefined }], 'ann@office');
  expect(await groupsOf(run)).toEqual([
    'review AMBIGUOUS_CUSTOMER 2: row 1, row 2',
    'existing DECIDED_IGNORE 1: row 0',
  ]);
  expect((await readRun(database.pool, run.id)).counts).toEqual({ review: 2, existing: 1 });
  const [decision] = await listDecisions(database.pool, { subject: `${run.id}/0` });
  if (!decision) throw new Error('the decision is not stored');
  await undoDecision(database.pool, decision);
  expect(await groupsOf(run)).toEqual(['review AMBIGUOUS_CUSTOMER 3: row 0, row 1, row 2']);
});

test('the groups are those of the rows that are left after others were deleted because of their age', async () => {
  const run = await runWith([REJECTED, REVIEW, REJECTED]);
  await endRun(database.pool, run.id, 'done');
  await database.pool.query(`update ledger.runs set ended_at = now() - interval '91 days' where id = $1`, [run.id]);
  expect(await pruneLedger(database.pool, { rowsMs: 90 * 24 * 60 * 60 * 1000, runsMs: undefined })).toMatchObject({
    rows: 2,
  });
  expect(await groupsOf(run)).toEqual(['review AMBIGUOUS_CUSTOMER 1: row 1']);
});

test('the groups are right after failed rows were retried', async () => {
  const run = await runWith([REJECTED, REJECTED, REVIEW]);
  await endRun(database.pool, run.id, 'failed');
  expect(await resumeRun(database.pool, run.id)).toBe(true);
  await reopenRows(database.pool, run.id, { sql: `select n from ledger.verdicts where run_id = $1 and n = 0` });
  expect(await groupsOf(run)).toContain('unknown NEVER_SENT 1: row 0');
  await settleRows(database.pool, run.id, {
    sql: `select 0::bigint as n, 'created' as verdict, null as reason, null::jsonb as facts, '9' as record_id`,
  });
  await endRun(database.pool, run.id, 'done');
  expect(await groupsOf(run)).toEqual(['rejected REFUSED 1: row 1', 'review AMBIGUOUS_CUSTOMER 1: row 2']);
});

test('a call that is answered after its run was cancelled still counts', async () => {
  const run = await aRun(database);
  await putRows(database, run, readyRows(2));
  const claim = await claimOn(database, run);
  const [first] = await claimRows(database.pool, claim, 1);
  if (!first) throw new Error('no row was claimed');
  await endRun(database.pool, run.id, 'cancelled');
  expect(await groupsOf(run)).toEqual(['unknown NEVER_SENT 1: 2', 'unknown NOT_CONFIRMED 1: 1']);
  expect(await splitUnsettled(database.pool, await readRun(database.pool, run.id), 2)).toEqual({
    sent: 1,
    neverSent: 1,
  });
  expect(await recorded(run)).toBeUndefined();
  const { n, chunk, action } = first;
  await recordAttempts(database.pool, claim, [{ n, chunk, action, sends: 1, outcome: 'unknown', reason: 'TIMED_OUT' }]);
  expect(await groupsOf(run)).toEqual(['unknown NEVER_SENT 1: 2', 'unknown TIMED_OUT 1: 1']);
  expect(await recorded(run)).toHaveLength(2);
  expect((await throughputOf(database.pool, run.id))?.sent).toEqual([1]);
});

test('open rows of an unfinished run may have arrived if they were sent without a refusal, or are claimed', async () => {
  const run = await aRun(database);
  await putRows(database, run, readyRows(7));
  const claim = await claimOn(database, run);
  const [acked, unknown, refused, unsent, settled] = await claimRows(database.pool, claim, 6);
  const ends = [
    { row: acked, outcome: 'acked' },
    { row: unknown, outcome: 'unknown' },
    { row: refused, outcome: 'refused' },
    { row: unsent, outcome: 'unsent' },
    { row: settled, outcome: 'acked', verdict: 'created' },
  ] as const;
  const attempts = ends.flatMap(({ row, ...end }) => (row ? [{ ...row, ...end, sends: 1 }] : []));
  expect(await recordAttempts(database.pool, claim, attempts)).toBe(5);
  expect(await splitUnsettled(database.pool, await readRun(database.pool, run.id), 6)).toEqual({
    sent: 3,
    neverSent: 3,
  });
  await endRun(database.pool, run.id, 'failed');
  expect(await splitUnsettled(database.pool, await readRun(database.pool, run.id), 6)).toEqual({
    sent: 3,
    neverSent: 3,
  });
});

test('an attempt that was lost is not sent at the time at which it was found', async () => {
  const run = await runWith([{}]);
  await database.pool.query(`insert into ledger.attempts (run_id, n, outcome, sends) values ($1, 0, 'lost', 1)`, [
    run.id,
  ]);
  expect(await throughputOf(database.pool, run.id)).toBeUndefined();
});

test('rows sent over time are in 60 parts of at least a second, without a gap', async () => {
  const run = await runWith([{}]);
  expect(await throughputOf(database.pool, run.id)).toBeUndefined();
  await database.pool.query(
    `insert into ledger.attempts (run_id, n, outcome, sends, at)
     select $1, 0, case when s = 30 then 'unsent' else 'acked' end, 1, '2026-01-02T03:04:05.6Z'::timestamptz + s * interval '1 s'
     from unnest(array[0, 1, 1, 30, 119, 240]) s`,
    [run.id],
  );
  const throughput = await throughputOf(database.pool, run.id);
  expect(throughput).toMatchObject({ widthS: 4, startedAt: new Date('2026-01-02T03:04:05.600Z') });
  expect(throughput?.sent).toHaveLength(61);
  expect(Object.entries(throughput?.sent ?? []).filter(([, n]) => n > 0)).toEqual([
    ['0', 3],
    ['29', 1],
    ['60', 1],
  ]);
  await endRun(database.pool, run.id, 'done');
  expect(await throughputOf(database.pool, run.id)).toEqual(throughput);
});
