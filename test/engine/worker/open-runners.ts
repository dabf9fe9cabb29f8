import pino from 'pino';
import { afterAll, afterEach, expect } from 'vitest';
import { z } from 'zod';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import { type Run, readRun } from '../../../src/engine/ledger/runs.ts';
import { defineJob, type Job, type JobContext, type JobResult } from '../../../src/engine/worker/job.ts';
import { openQueue, type Queue } from '../../../src/engine/worker/queue.ts';
import { type Runner, type RunnerNeeds, startRunner } from '../../../src/engine/worker/runner.ts';
import { aRun, freshLedger } from '../ledger/fresh-ledger.ts';
import { anAccount, noTargets } from './an-account.ts';

export type Work = (context: JobContext<unknown>) => Promise<JobResult>;

export const finish: Work = async ({ pool, run }) => {
  await endRun(pool, run.id, 'done');
  return { status: 'finished' };
};

/** The job of the phase in which runs begin. */
export function work(run: Work, parallel = 1): Job {
  return defineJob({ name: 'work', options: z.unknown(), parallel, run });
}

/** Returns or throws these, one after another, and then reports the run as finished. */
export function inTurn(...turns: readonly (JobResult | Error)[]): Job {
  let turn = 0;
  return work(async (context) => {
    const next = turns[turn++];
    if (next instanceof Error) throw next;
    return next ?? finish(context);
  });
}

export const accountNamed = async (scope: string) => ({ ...anAccount(), scope });

/** For the file that calls it: closes the runners after each test. */
export async function openRunners() {
  const log = pino({ level: 'silent' });
  const queues: Queue[] = [];
  const runners: Runner[] = [];
  const database = await freshLedger();
  afterEach(async () => {
    await Promise.all(runners.splice(0).map((runner) => runner.close()));
    await Promise.all(queues.splice(0).map((queue) => queue.close()));
    await database.pool.query('truncate ledger.runs cascade');
  });
  afterAll(() => database.close());

  async function running(jobs: readonly Job[], more: Partial<RunnerNeeds> = {}): Promise<Runner> {
    const queue = openQueue({ redis: undefined, database: database.connection, log });
    queues.push(queue);
    const runner = await startRunner({
      pool: database.pool,
      queue,
      accounts: { open: accountNamed, reopen: accountNamed },
      targets: noTargets,
      catalog: { jobs },
      worksOn: 'every-run',
      concurrency: 8,
      patienceMs: () => 300_000,
      log,
      ...more,
    });
    runners.push(runner);
    return runner;
  }

  async function ended(run: Run): Promise<Run> {
    await expect.poll(async () => (await readRun(database.pool, run.id)).status).not.toBe('running');
    return readRun(database.pool, run.id);
  }

  async function carried(jobs: readonly Job[], more: Partial<RunnerNeeds> = {}): Promise<Run> {
    const runner = await running(jobs, more);
    const run = await aRun(database);
    await runner.attend(run);
    return ended(run);
  }

  return { database, runners, running, ended, carried };
}
