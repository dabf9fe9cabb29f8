import { afterAll, beforeAll, expect, test } from 'vitest';
import { unsettledForMs } from '../../src/ledger/horizon.ts';
import { endRun, type NewRun } from '../../src/ledger/runs.ts';
import type { FreshDatabase } from '../support/database.ts';
import { aRun, freshLedger, putRows } from './fresh-ledger.ts';

const SETTLE_MS = 60_000;

let database: FreshDatabase;
beforeAll(async () => {
  database = await freshLedger();
});
afterAll(() => database.close());

type Row = Readonly<Record<string, unknown>>;
const agoS = (seconds: number) => new Date(Date.now() - seconds * 1_000);

/** What an earlier run left, and for how many seconds a new one has to wait. */
const cases: readonly [string, readonly Row[], Partial<NewRun>, number][] = [
  ['nothing', [], {}, 0],
  ['a call in doubt', [{ state: 'unknown', since: agoS(10) }], {}, 50],
  [
    'the youngest of several',
    [
      { state: 'unknown', since: agoS(50) },
      { state: 'acked', since: agoS(20) },
    ],
    {},
    40,
  ],
  ['calls long past', [{ state: 'acked', since: agoS(61) }], {}, 0],
  ['rows never sent, and settled ones', [{ state: 'ready' }, { state: 'settled', verdict: 'created' }], {}, 0],
  ['a call that is on its way, of a run that was cancelled', [{ state: 'intent', since: null }], {}, 60],
  ['a call that is on its way once more', [{ state: 'intent', since: agoS(600) }], {}, 60],
  ['a call in doubt to another account', [{ state: 'unknown', since: agoS(10) }], { account: 'other' }, 0],
  ['a call in doubt about something else', [{ state: 'unknown', since: agoS(10) }], { resource: 'orders' }, 0],
];

test.each(cases)('an earlier run left %s', async (_what, rows, elsewhere, waitS) => {
  const account = `account of ${_what}`;
  const earlier = await aRun(database, { account, ...elsewhere });
  await putRows(
    database,
    earlier,
    rows.map((row, i) => ({ ...row, source_id: String(i) })),
  );
  await endRun(database.pool, earlier.id, 'cancelled');
  const run = await aRun(database, { account });
  const waitMs = await unsettledForMs(database.pool, run, SETTLE_MS);
  expect(waitMs).toBeGreaterThan(waitS * 1_000 - 10_000);
  expect(waitMs).toBeLessThanOrEqual(waitS * 1_000);
});
