import { afterAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { keepPlanFile } from '../../../src/engine/ledger/approval.ts';
import { keepBaseline, readBaseline } from '../../../src/engine/ledger/baselines.ts';
import { keepCustomers } from '../../../src/engine/ledger/match-index.ts';
import { countRows } from '../../../src/engine/ledger/rows.ts';
import { callsWithParts } from '../../../src/engine/ledger/run-parts.ts';
import {
  endRun,
  resumeHint,
  resumeRun,
  startFailedAgain,
  supersedeRuns,
} from '../../../src/engine/ledger/run-status.ts';
import {
  addNote,
  markFailing,
  movePhase,
  type NewRun,
  readRun,
  recordProgress,
  runningRuns,
  startRun,
} from '../../../src/engine/ledger/runs.ts';
import { listRuns } from '../../support/newest-runs.ts';
import { aRun, freshLedger, putRows, rowsOf } from './fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

const nightly: NewRun = {
  sync: 'nightly',
  type: 'contacts',
  account: 'acme',
  resource: 'customers',
  lane: 'batch',
  dryRun: false,
  options: { some: 'option' },
  phase: 'scan',
};

describe('one run at a time', () => {
  test.each([
    ['the same sync', {}, 'busy'],
    ['another sync that writes the same resource of the account', { sync: 'other' }, 'busy'],
    ['another resource of the account', { sync: 'other', resource: 'orders' }, 'started'],
    ['another account', { sync: 'other', account: 'else' }, 'started'],
    ['a dry run of the same sync', { dryRun: true }, 'started'],
  ])('while one is unfinished, %s is %s', async (_what, more, status) => {
    const first = await aRun(database, nightly);
    const second = await startRun(database.pool, { ...nightly, ...more });
    expect(second.status).toBe(status);
    if (status === 'busy') expect(second.run.id).toBe(first.id);
    else await endRun(database.pool, second.run.id, 'done');
    await endRun(database.pool, first.id, 'done');
  });

  test('of many starts at once, one starts a run and the others receive that run', async () => {
    const asked = await Promise.all(Array.from({ length: 8 }, () => startRun(database.pool, nightly)));
    expect(asked.filter(({ status }) => status === 'started')).toHaveLength(1);
    expect(new Set(asked.map(({ run }) => run.id)).size).toBe(1);
    await endRun(database.pool, asked[0]?.run.id ?? '', 'done');
  });

  test('reads a run as it was started', async () => {
    const run = await aRun(database, { options: { some: 'option' } });
    expect(await readRun(database.pool, run.id)).toEqual(run);
    expect(run).toMatchObject({ status: 'running', phase: 'work', options: { some: 'option' }, notes: [], calls: 0 });
    expect((await runningRuns(database.pool)).map(({ id }) => id)).toContain(run.id);
    expect((await listRuns(database.pool, 1)).map(({ run: { id } }) => id)).toEqual([run.id]);
    await expect(readRun(database.pool, 'run-none')).rejects.toMatchObject({ code: 'RUN_UNKNOWN', exitCode: 2 });
  });
});

describe('an active run', () => {
  test('moves from phase to phase once, and later callers see that it has moved', async () => {
    const run = await aRun(database);
    expect(await movePhase(database.pool, run.id, 'work', 'next')).toBe(true);
    expect(await movePhase(database.pool, run.id, 'work', 'next')).toBe(true);
    expect(await movePhase(database.pool, run.id, 'work', 'other')).toBe(false);
    expect((await readRun(database.pool, run.id)).phase).toBe('next');
  });

  test('adds up its progress and keeps each note once', async () => {
    const run = await aRun(database);
    await recordProgress(database.pool, run.id, { calls: 2, rowsSeen: 3, scan: 'weak' });
    await recordProgress(database.pool, run.id, { calls: 1, limited: 1, rowsSettled: 4 });
    for (const note of ['one', 'two', 'one']) await addNote(database.pool, run.id, note);
    const seen = await readRun(database.pool, run.id);
    expect(seen).toMatchObject({
      calls: 3,
      limited: 1,
      rowsSeen: 3,
      rowsSettled: 4,
      scan: 'weak',
      notes: ['one', 'two'],
    });
  });

  test('remembers the start of a failure until one success', async () => {
    const run = await aRun(database);
    await markFailing(database.pool, run.id, true);
    const { failingSince } = await readRun(database.pool, run.id);
    await markFailing(database.pool, run.id, true);
    expect((await readRun(database.pool, run.id)).failingSince).toEqual(failingSince);
    await recordProgress(database.pool, run.id, { calls: 1 });
    expect((await readRun(database.pool, run.id)).failingSince).toEqual(failingSince);
    await recordProgress(database.pool, run.id, { calls: 1, rowsSettled: 1 });
    expect((await readRun(database.pool, run.id)).failingSince).toBeUndefined();
    await markFailing(database.pool, run.id, true);
    expect(await markFailing(database.pool, run.id, false)).toBe(0);
    expect((await readRun(database.pool, run.id)).failingSince).toBeUndefined();
  });

  test('gives how long a failure has lasted, whatever the clock of this process says', async () => {
    const run = await aRun(database);
    await markFailing(database.pool, run.id, true);
    await database.pool.query(`update ledger.runs set trouble_since = trouble_since - interval '10 s' where id = $1`, [
      run.id,
    ]);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 3_600_000 });
    onTestFinished(() => void vi.useRealTimers());
    const lastedMs = await markFailing(database.pool, run.id, true);
    expect([lastedMs >= 10_000, lastedMs < 20_000]).toEqual([true, true]);
  });
});

describe('a run that ends', () => {
  test('ends once, with its result', async () => {
    const run = await aRun(database);
    expect(await endRun(database.pool, run.id, 'failed', { code: 'WHY', message: 'because' })).toBe(true);
    expect(await endRun(database.pool, run.id, 'done')).toBe(false);
    expect(await readRun(database.pool, run.id)).toMatchObject({
      status: 'failed',
      errorCode: 'WHY',
      error: 'because',
    });
  });

  test.each([
    ['failed', true],
    ['cancelled', false],
    ['done', false],
  ] as const)('%s: can be taken up again where it stopped: %s', async (status, isResumable) => {
    const run = await aRun(database);
    await endRun(database.pool, run.id, status, { code: 'WHY', message: 'because' });
    expect(await resumeRun(database.pool, run.id)).toBe(isResumable);
    const after = await readRun(database.pool, run.id);
    const unchanged = { ...run, attendedAt: expect.any(Date), idleMs: expect.any(Number) };
    if (isResumable) expect(after).toEqual(unchanged);
    else expect(after.status).toBe(status);
  });

  test('after a failure, keeps what it needs to be resumed, also if a person tries to cancel it', async () => {
    const run = await aRun(database);
    await keepBaseline(database.pool, run.id, new Uint32Array([1, 2]));
    await endRun(database.pool, run.id, 'failed', { code: 'SERVICE_AWAY', message: 'no answer' });
    expect(await endRun(database.pool, run.id, 'cancelled')).toBe(false);
    expect(await readBaseline(database.pool, run.id)).toEqual(new Uint32Array([1, 2]));
  });

  test('after a failure, waits for another run that has replaced it', async () => {
    const run = await aRun(database);
    await endRun(database.pool, run.id, 'failed');
    const newer = await aRun(database, { sync: run.sync, account: run.account });
    expect(await resumeRun(database.pool, run.id)).toBe(false);
    await endRun(database.pool, newer.id, 'done');
    expect(await resumeRun(database.pool, run.id)).toBe(true);
  });

  test('after a failure, is not resumed once a newer run has decided everything again', async () => {
    const [run, other] = [await aRun(database), await aRun(database)];
    for (const { id } of [run, other]) await endRun(database.pool, id, 'failed');
    const newer = await aRun(database, { sync: 'of another name', account: run.account });
    await supersedeRuns(database.pool, newer);
    await endRun(database.pool, newer.id, 'done');
    expect(await resumeRun(database.pool, run.id)).toBe(false);
    expect((await readRun(database.pool, run.id)).error).toBe(
      `Since then, run ${newer.id} has replaced it: there is nothing left to resume.`,
    );
    expect(await resumeRun(database.pool, other.id)).toBe(true);
  });

  test('that is started again keeps the failure as a note, without the hint to resume it', async () => {
    const run = await aRun(database);
    const message = `no answer. Tried for 5 min.${resumeHint(run.id)}`;
    await endRun(database.pool, run.id, 'failed', { code: 'SERVICE_AWAY', message });
    expect(await startFailedAgain(database.pool, run)).toMatchObject({
      id: run.id,
      status: 'running',
      notes: ['an attempt failed: no answer. Tried for 5 min.'],
    });
  });

  test('is cancelled together with its parts, or not at all', async () => {
    const run = await aRun(database);
    const part = await aRun(database, { partOf: run.id });
    const { pool } = database;
    await pool.query(
      `create function no_part() returns trigger language plpgsql as $$ begin raise 'no part ends'; end $$;
       create trigger no_part before update on ledger.runs for each row when (old.part_of is not null) execute function no_part()`,
    );
    const statuses = async () => [(await readRun(pool, run.id)).status, (await readRun(pool, part.id)).status];
    await expect(endRun(pool, run.id, 'cancelled')).rejects.toThrow('no part ends');
    expect(await statuses()).toEqual(['running', 'running']);
    await pool.query('drop function no_part cascade');
    await endRun(pool, run.id, 'cancelled');
    expect(await statuses()).toEqual(['cancelled', 'cancelled']);
  });

  test('has its own calls and those of its parts, and a part has its own, asked together or alone', async () => {
    const run = await aRun(database);
    const part = await aRun(database, { partOf: run.id });
    await recordProgress(database.pool, run.id, { calls: 2 });
    await recordProgress(database.pool, part.id, { calls: 3 });
    const calls = async (...ids: string[]) => {
      const found = await callsWithParts(database.pool, ids);
      return ids.map((id) => found.get(id)?.calls);
    };
    expect([await calls(run.id, part.id), await calls(part.id)]).toEqual([[5, 3], [3]]);
  });

  test.each([
    ['done', 0],
    ['cancelled', 0],
    ['failed', 1],
  ] as const)('%s: what it had seen of the customers is kept only if it may continue', async (status, left) => {
    const run = await aRun(database);
    const keys = { contactId: undefined, email: undefined, phone: undefined, name: undefined, org: undefined };
    await keepCustomers(database.pool, run.id, 0, [{ recordId: '1', ...keys, fields: {} }]);
    await endRun(database.pool, run.id, status);
    const kept = await database.pool.query('select 1 from ledger.records where run_id = $1', [run.id]);
    expect(kept.rowCount).toBe(left);
  });

  test('thins out unchanged and planned rows in runs before the last three, unless their plan is saved', async () => {
    const sync = 'thinned';
    const runs = [];
    for (let i = 0; i < 5; i++) {
      const run = await aRun(database, { sync, account: sync });
      const fates = [['unchanged'], ['review'], ['created'], ['created', 'PLANNED'], ['unchanged'], ['rejected']];
      const rows = fates.map(([verdict, reason], n) => ({ source_id: String(n), state: 'settled', verdict, reason }));
      await putRows(database, run, rows);
      if (i === 1) await keepPlanFile(database.pool, run.id, { sha256: 'f0', savedBy: 'ann@office' });
      await endRun(database.pool, run.id, 'done');
      runs.push(run);
    }
    const left = await Promise.all(runs.map(async (run) => (await rowsOf(database, run)).length));
    expect(left).toEqual([3, 6, 6, 6, 6]);
    const counts = await database.pool.query('select counts from ledger.runs where id = $1', [runs[0]?.id]);
    expect(counts.rows).toEqual([{ counts: { unchanged: 2, review: 1, created: 2, rejected: 1 } }]);
    expect(await countRows(database.pool, runs[0]?.id ?? '')).toMatchObject({ in: 6, unchanged: 2, created: 2 });
  });
});
