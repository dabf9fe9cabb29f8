import { afterAll, expect, test } from 'vitest';
import { unsettledForMs } from '../../../src/engine/ledger/baseline-wait.ts';
import { dropClaims, takeClaim } from '../../../src/engine/ledger/claims.ts';
import { claimRows, recordAttempts } from '../../../src/engine/ledger/rows.ts';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import { type Run, recordProgress } from '../../../src/engine/ledger/runs.ts';
import { aRun, freshLedger, putRows, readyRows, WORKER } from './fresh-ledger.ts';

const SETTLE_MS = 60_000;

const database = await freshLedger();
afterAll(() => database.close());

/** A run that is cancelled while its two rows are being sent, and the claim that holds them. */
async function cancelledInItsMidst() {
  const run = await aRun(database);
  await putRows(database, run, readyRows(2));
  const claim = await takeClaim(database.pool, run.id, WORKER, { kind: 'shared', ttlMs: 60_000 });
  if (!claim) throw new Error('no claim');
  const rows = await claimRows(database.pool, claim, 2);
  await endRun(database.pool, run.id, 'cancelled');
  return { run, claim, rows };
}

/** How long a new run on the same account and resource has to wait. */
const wait = (run: Run) => unsettledForMs(database.pool, { ...run, id: 'a new one' }, SETTLE_MS);

async function endedLongAgo(run: Run): Promise<void> {
  await database.pool.query(`update ledger.runs set open_since = now() - interval '1 hour' where id = $1`, [run.id]);
}

test('the wait of a cancelled run does not begin while a process may still be sending for it', async () => {
  const { run, claim } = await cancelledInItsMidst();
  await endedLongAgo(run);
  expect(await wait(run)).toBeGreaterThan(SETTLE_MS - 1_000);
  await dropClaims(database.pool, [claim.id]);
});

test('an answer after the end of the run restarts the wait', async () => {
  const { run, claim, rows } = await cancelledInItsMidst();
  await recordAttempts(
    database.pool,
    claim,
    rows.map((row) => ({ ...row, outcome: 'acked', sends: 1 })),
  );
  await endedLongAgo(run);
  await recordProgress(database.pool, run.id, { calls: 2 });
  await dropClaims(database.pool, [claim.id]);
  expect(await wait(run)).toBeGreaterThan(SETTLE_MS - 1_000);
});

test('rows of a killed process restart the wait when its claim is taken over', async () => {
  const { run, claim } = await cancelledInItsMidst();
  await endedLongAgo(run);
  await dropClaims(database.pool, [claim.id]);
  expect(await wait(run)).toBeGreaterThan(SETTLE_MS - 1_000);
});

test('a run without unknown outcomes causes no wait', async () => {
  const run = await aRun(database);
  await putRows(database, run, readyRows(2));
  await endRun(database.pool, run.id, 'cancelled');
  expect(await wait(run)).toBe(0);
});

test('a process that has not released the claim of an ended run causes no wait if it holds no row', async () => {
  const run = await aRun(database);
  const claim = await takeClaim(database.pool, run.id, WORKER, { kind: 'exclusive', ttlMs: 60_000 });
  expect(await wait(run)).toBeGreaterThan(SETTLE_MS - 1_000);
  await endRun(database.pool, run.id, 'done');
  expect([claim, await wait(run)]).toEqual([expect.anything(), 0]);
});
