import { afterAll, expect, test } from 'vitest';
import { dropClaims } from '../../../src/engine/ledger/claims.ts';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import { addNote, movePhase, type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import { type Exclusive, exclusively } from '../../../src/engine/worker/exclusive.ts';
import type { JobResult } from '../../../src/engine/worker/job.ts';
import { aRun, freshLedger } from '../ledger/fresh-ledger.ts';
import { aJobContext } from './an-account.ts';

const AGAIN: JobResult = { status: 'again', inMs: 0 };

const database = await freshLedger();
afterAll(() => database.close());

function alone(run: Run, work: (exclusive: Exclusive) => Promise<JobResult>): Promise<JobResult> {
  return exclusively(aJobContext(run, database.pool, 1), work);
}

async function claimIds(run: Run): Promise<number[]> {
  const held = await database.pool.query<{ id: number }>('select id::int from ledger.claims where run_id = $1', [
    run.id,
  ]);
  return held.rows.map(({ id }) => id);
}

test('exclusive work returns the result of the job, and its claim is given back', async () => {
  const run = await aRun(database);
  expect(await alone(run, async () => AGAIN)).toEqual(AGAIN);
  expect(await claimIds(run)).toEqual([]);
});

test('work that fails gives its claim back and reports the error', async () => {
  const run = await aRun(database);
  const work = async () => {
    throw new TypeError('a defect');
  };
  await expect(alone(run, work)).rejects.toThrow('a defect');
  expect(await claimIds(run)).toEqual([]);
});

test('a late job, whose phase of the run is over, does nothing', async () => {
  const run = await aRun(database);
  await movePhase(database.pool, run.id, 'work', 'later');
  let hasWorked = false;
  const late = await alone(run, async () => {
    hasWorked = true;
    return AGAIN;
  });
  expect([late, hasWorked]).toEqual([{ status: 'idle' }, false]);
});

test.each<[string, (run: Run) => Promise<unknown>]>([
  ['is taken over', async (run) => dropClaims(database.pool, await claimIds(run))],
  ['ends with its run', (run) => endRun(database.pool, run.id, 'cancelled')],
])('writes nothing more where the claim %s halfway', async (_how, lose) => {
  const run = await aRun(database);
  const write = (exclusive: Exclusive, note: string) => exclusive.transaction((db) => addNote(db, run.id, note));
  const result = await alone(run, async (exclusive) => {
    await write(exclusive, 'before');
    await lose(run);
    await write(exclusive, 'after');
    return AGAIN;
  });
  expect(result).toEqual({ status: 'idle' });
  expect((await readRun(database.pool, run.id)).notes).toEqual(['before']);
});
