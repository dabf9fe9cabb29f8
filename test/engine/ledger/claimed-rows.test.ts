/** Which rows a claim gets, wherever they are in the run. */
import { afterAll, expect, test } from 'vitest';
import { type Attempt, type ClaimedRow, claimRows, recordAttempts } from '../../../src/engine/ledger/rows.ts';
import { sendAgain, settleRows } from '../../../src/engine/ledger/transitions.ts';
import { aRun, claimOn, freshLedger, putRows } from './fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

const unknown = ({ n, chunk, sends, action }: ClaimedRow): Attempt => ({
  n,
  chunk,
  action,
  sends: sends + 1,
  outcome: 'unknown',
});

test.each([
  ['neighbours', [0, 1, 2, 3, 4, 5]],
  ['far apart', [0, 100, 200, 3_000, 40_000, 500_000]],
  ['neighbours with a gap before them', [0, 1, 2, 700_000, 700_001, 700_002]],
])('planned rows that are %s are claimed together with rows to send again, without settled rows', async (_, ns) => {
  const run = await aRun(database);
  await putRows(
    database,
    run,
    ns.map((n) => ({ source_id: `row ${n}`, n, record_id: `record ${n}`, fields: { n } })),
  );
  const claim = await claimOn(database, run);
  const [first, second, third, settled, ...rest] = ns;
  const sent = await claimRows(database.pool, claim, 2);
  expect(sent.map(({ n }) => n)).toEqual([first, second]);
  await recordAttempts(database.pool, claim, sent.map(unknown));
  await sendAgain(database.pool, run.id, { sql: 'select $2::bigint as n, null::text as action', values: [second] });
  await settleRows(database.pool, run.id, {
    sql: `select $2::bigint as n, 'review' as verdict, 'GAVE_UP' as reason, null::jsonb as facts, null::text as record_id`,
    values: [settled],
  });
  const claimed = await claimRows(database.pool, claim, 10);
  const expected = [second, third, ...rest].map((n) => ({
    n,
    sourceId: `row ${n}`,
    recordId: `record ${n}`,
    fields: { n },
    sends: n === second ? 1 : 0,
  }));
  expect(claimed.toSorted((a, b) => a.n - b.n)).toMatchObject(expected);
  expect(claimed).toHaveLength(expected.length);
  expect(await claimRows(database.pool, claim, 10)).toEqual([]);
});
