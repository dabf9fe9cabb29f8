import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { LockstepError } from '../../../src/base/errors.ts';
import { RetryLater, RunFailed, RunPaused } from '../../../src/engine/account/failure.ts';
import { endRun, resumeHint, resumeRun } from '../../../src/engine/ledger/run-status.ts';
import { readRun } from '../../../src/engine/ledger/runs.ts';
import { defineJob } from '../../../src/engine/worker/job.ts';
import type { Processor, Queue } from '../../../src/engine/worker/queue.ts';
import { aRun } from '../ledger/fresh-ledger.ts';
import { finish, inTurn, openRunners, work } from './open-runners.ts';

const { database, running, ended, carried } = await openRunners();

describe('a run continues', () => {
  test('from phase to phase to its end', async () => {
    const seen: string[] = [];
    const first = work(async () => {
      seen.push('work');
      return { status: 'next', job: 'tidy' };
    });
    const second = defineJob({
      name: 'tidy',
      options: z.unknown(),
      run: async (context) => {
        seen.push('tidy');
        return finish(context);
      },
    });
    expect(await carried([first, second])).toMatchObject({ status: 'done', phase: undefined });
    expect(seen).toEqual(['work', 'tidy']);
  });

  test('if it was opened again right after its end', async () => {
    let turns = 0;
    // The first time, the run is as if it had been ended and opened again.
    const job = work(async (context) => (++turns === 1 ? { status: 'finished' } : finish(context)));
    expect((await carried([job])).status).toBe('done');
    expect(turns).toBe(2);
  });

  test('where an earlier process stopped', async () => {
    const run = await aRun(database);
    await running([inTurn()]);
    expect((await ended(run)).status).toBe('done');
  });

  test('with the options it was started with', async () => {
    const options = z.object({ size: z.number() });
    let size = 0;
    const job = defineJob({
      name: 'work',
      options,
      run: async (context) => {
        size = context.options.size;
        return finish(context);
      },
    });
    const run = await aRun(database, { options: { size: 7 } });
    await running([job]);
    await ended(run);
    expect(size).toBe(7);
  });

  test('no further once it is cancelled, whatever its job returns', async () => {
    const job = work(async ({ run, pool }) => {
      await endRun(pool, run.id, 'cancelled');
      return { status: 'next', job: 'work' };
    });
    expect((await carried([job])).status).toBe('cancelled');
  });
});

describe('a job that cannot continue', () => {
  test.each([
    ['because of something to fix', new RunFailed('SERVICE_REFUSED', 'fix it'), 'SERVICE_REFUSED'],
    ['because of its settings', new LockstepError('SECRET_MISSING', 'set the variable'), 'SECRET_MISSING'],
  ])('%s ends the run with its message', async (_why, error, code) => {
    const run = await carried([inTurn(error)]);
    expect(run).toMatchObject({ status: 'failed', errorCode: code, error: error.message, phase: 'work' });
  });

  test('before a person has looked pauses the run, which continues when it is resumed', async () => {
    const run = await carried([inTurn(new RunPaused('DIALECT_DRIFTED', 'look at it'))]);
    expect(run).toMatchObject({ status: 'paused', errorCode: 'DIALECT_DRIFTED', error: 'look at it', phase: 'work' });
    expect(await resumeRun(database.pool, run.id)).toBe(true);
    expect(await ended(run)).toMatchObject({ status: 'done', error: undefined });
  });

  test('for now, for example because there is no budget, comes back without a failure', async () => {
    const waits = Array.from({ length: 5 }, () => new RetryLater('no token', 10, { isFailure: false }));
    const run = await carried([inTurn(...waits)], { patienceMs: () => -1 });
    expect(run).toMatchObject({ status: 'done', notes: [], failingSince: undefined });
  });

  test('because the service is away comes back, reports it once, and clears the failure when the service answers', async () => {
    const away = Array.from({ length: 3 }, () => new RetryLater('no answer', 10));
    const run = await carried([inTurn(...away, { status: 'again', inMs: 0 })], { patienceMs: () => 60_000 });
    expect(run).toMatchObject({ status: 'done', notes: ['an attempt failed: no answer'], failingSince: undefined });
  });

  test('because its process ends does not blame the service', async () => {
    let isReading = false;
    const job = work(async ({ signal }) => {
      isReading = true;
      await once(signal, 'abort');
      throw new RetryLater('orders.getall: aborted while waiting for the answer', 0);
    });
    const runner = await running([job]);
    const run = await aRun(database);
    await runner.attend(run);
    await expect.poll(() => isReading).toBe(true);
    await runner.close();
    expect(await readRun(database.pool, run.id)).toMatchObject({
      status: 'running',
      failingSince: undefined,
      notes: [],
    });
  });

  test('because its process is ending does not start', async () => {
    let isStarted = false;
    const job = work(async (context) => {
      isStarted = true;
      return finish(context);
    });
    let process: Processor | undefined;
    const queue: Queue = {
      add: async () => undefined,
      limitDelays: async () => undefined,
      work(processor) {
        process = processor;
        return { close: async () => undefined };
      },
      close: async () => undefined,
    };
    await running([job], { queue });
    const run = await aRun(database);
    expect(await process?.('work', { runId: run.id }, AbortSignal.abort())).toEqual({ status: 'again', inMs: 0 });
    expect(isStarted).toBe(false);
    expect(await readRun(database.pool, run.id)).toMatchObject({ status: 'running', notes: [] });
  });

  test('because the service is away too long fails, and says how to resume', async () => {
    const job = work(async () => {
      throw new RetryLater('no answer', 10);
    });
    const run = await carried([job], { patienceMs: () => 100 });
    expect(run).toMatchObject({ status: 'failed', errorCode: 'SERVICE_AWAY' });
    expect(run.error).toMatch(new RegExp(`no answer.*lockstep runs resume ${run.id}`));
  });

  test('because of a defect is retried, here or in another process', async () => {
    const run = await aRun(database);
    await running([inTurn(new TypeError('a defect'))]);
    await expect
      .poll(async () => (await readRun(database.pool, run.id)).notes)
      .toEqual(['an attempt failed: a defect']);
    await running([inTurn()]);
    expect(await ended(run)).toMatchObject({ status: 'done', failingSince: undefined });
  });

  test('because Postgres fails is no defect of Lockstep', async () => {
    const damaged = Object.assign(new Error('invalid page in block 3'), { code: 'XX001' });
    const run = await carried([inTurn(damaged)], { patienceMs: () => -1 });
    expect(run).toMatchObject({ status: 'failed', errorCode: 'DATABASE_FAILED' });
    expect(run.error).toMatch(/broken in the database: invalid page.*restore a backup\. Tried for/);
    expect(run.error?.endsWith(resumeHint(run.id))).toBe(true); // removed when the run can no longer be resumed
  });

  test('because of a repeated defect fails', async () => {
    const run = await carried([inTurn(new TypeError('a defect'))], { patienceMs: () => -1 });
    expect(run).toMatchObject({
      status: 'failed',
      errorCode: 'JOB_BROKE_OFF',
      error: expect.stringContaining('a defect'),
    });
  });
});
