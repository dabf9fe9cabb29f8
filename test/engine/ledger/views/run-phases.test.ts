/** How long each phase of a run took, and what it waited for: kept while its status, phase and waits change. */
import { afterAll, expect, test } from 'vitest';
import { thisWorker } from '../../../../src/base/process-identity.ts';
import { noteAttended, noteLeft } from '../../../../src/engine/ledger/attended-runs.ts';
import { endRun, pauseRun, resumeRun } from '../../../../src/engine/ledger/run-status.ts';
import { AWAITS_CONFIRMATION, markFailing, movePhase, recordProgress } from '../../../../src/engine/ledger/runs.ts';
import { liftSuspension, suspendAccount } from '../../../../src/engine/ledger/scopes/suspensions.ts';
import { phaseTimes } from '../../../../src/engine/ledger/views/run-phases.ts';
import { inTransaction } from '../../../../src/storage/transaction.ts';
import { aRun, freshLedger } from '../fresh-ledger.ts';

const { pool, ...rest } = await freshLedger();
const database = { pool, ...rest };
afterAll(() => database.close());

/** As if all that the run has done so far was `seconds` longer ago. */
async function pass(id: string, seconds: number): Promise<void> {
  await pool.query(`update ledger.run_steps set ended_at = ended_at - $2 * interval '1 s' where run_id = $1`, [
    id,
    seconds,
  ]);
  await pool.query(
    `update ledger.runs set created_at = created_at - $2 * interval '1 s', attended_at = attended_at - $2 * interval '1 s' where id = $1`,
    [id, seconds],
  );
}

/** `reading 20 s, approval 300 s` for each phase; `now` for what the run does or waits for. */
async function phasesOf(id: string): Promise<readonly string[]> {
  const seconds = (ms: number, since?: Date) => `${Math.round(ms / 1_000)} s${since ? ' now' : ''}`;
  return (await phaseTimes(pool, { id })).map(({ phase, workedMs, workingSince, waits }) =>
    [
      `${phase} ${seconds(workedMs, workingSince)}`,
      ...waits.map((wait) =>
        [wait.for, wait.code ?? wait.run, seconds(wait.tookMs, wait.since)].filter(Boolean).join(' '),
      ),
    ].join(', '),
  );
}

test('work and waits are told apart, in each phase', async () => {
  const { id } = await aRun(database, { phase: 'load-orders' });
  await pass(id, 20);
  await pauseRun(pool, id, { code: AWAITS_CONFIRMATION, message: 'It waits.' });
  expect(await phasesOf(id)).toEqual(['load-orders 20 s, approval 0 s now']);
  await pass(id, 300);
  await resumeRun(pool, id);
  expect(await phasesOf(id)).toEqual(['load-orders 20 s now, approval 300 s']);
  await movePhase(pool, id, 'load-orders', 'create-orders');
  await pass(id, 10);
  await markFailing(pool, id, true);
  await pass(id, 60);
  await markFailing(pool, id, true);
  const loaded = 'load-orders 20 s, approval 300 s';
  expect(await phasesOf(id)).toEqual([loaded, 'create-orders 10 s, retry 0 s now']);
  await markFailing(pool, id, false);
  await recordProgress(pool, id, { checkpoint: { job: 'orders', waits: { run: 'run-1' } } });
  await pass(id, 7);
  await recordProgress(pool, id, { checkpoint: { job: 'orders' } });
  await pass(id, 5);
  await markFailing(pool, id, true);
  await pass(id, 30);
  await endRun(pool, id, 'failed', { code: 'SERVICE_AWAY', message: 'Away.' });
  await pass(id, 3_600);
  expect(await phasesOf(id)).toEqual([loaded, 'create-orders 15 s, retry 90 s, run run-1 7 s']);
  await resumeRun(pool, id);
  await pass(id, 4);
  await endRun(pool, id, 'done');
  await pass(id, 1_000);
  const sent = 'create-orders 19 s, retry 90 s, run run-1 7 s, failed SERVICE_AWAY 3600 s';
  expect(await phasesOf(id)).toEqual([loaded, sent]);
});

test('the time without a process is a wait for a worker', async () => {
  const { id } = await aRun(database, { phase: 'create-orders' });
  await noteAttended(pool, [id], thisWorker('here'));
  await pass(id, 8);
  await noteLeft(pool, [id]);
  await pass(id, 90);
  await noteAttended(pool, [id], thisWorker('here'));
  await pass(id, 2);
  await endRun(pool, id, 'done');
  expect(await phasesOf(id)).toEqual(['create-orders 10 s, worker 90 s']);
});

test('the time while its account is suspended is a wait for it', async () => {
  const { id, scope } = await aRun(database, { phase: 'create-orders' });
  await pass(id, 5);
  await suspendAccount(pool, scope, 'The key is refused.');
  await suspendAccount(pool, scope, 'The key is refused again.');
  await pass(id, 40);
  await markFailing(pool, id, true);
  expect(await phasesOf(id)).toEqual(['create-orders 5 s, account 40 s now']);
  await markFailing(pool, id, false);
  await liftSuspension(pool, scope);
  await pass(id, 3);
  await endRun(pool, id, 'done');
  expect(await phasesOf(id)).toEqual(['create-orders 8 s, account 40 s']);
});

test('of a run that began before steps were kept, only later ones count', async () => {
  const { id } = await aRun(database, { phase: 'create-orders' });
  await pass(id, 50);
  await pool.query(`insert into ledger.run_steps (run_id, status) values ($1, 'running')`, [id]);
  await pass(id, 3);
  await endRun(pool, id, 'done');
  expect(await phasesOf(id)).toEqual(['create-orders 3 s']);
});

test('a run ends when its last phase ends, not when the transaction that ends it began', async () => {
  const { id } = await aRun(database, { phase: 'create-orders' });
  const ended = await inTransaction(pool, async (db) => {
    await endRun(db, id, 'done');
    return db.query<{ isLater: boolean }>('select ended_at > now() as "isLater" from ledger.runs where id = $1', [id]);
  });
  expect(ended.rows).toEqual([{ isLater: true }]);
});
