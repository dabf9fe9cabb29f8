/**
 * The runner: works on unfinished runs in this process, beside other processes: on every run, or only on attended runs and
 * the runs they need. It maintains the ledger (takes over claims of dead processes, queues a job for runs without one) and
 * calls the jobs from the queue.
 */
import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Logger } from 'pino';
import { LockstepError } from '../../base/errors.ts';
import { pause } from '../../base/pause.ts';
import { thisWorker, type WorkerIdentity } from '../../base/process-identity.ts';
import { repeat } from '../../base/repeat.ts';
import { ShownApart } from '../../client/lists/repeated-ids.ts';
import { accountOfRun } from '../account/account-of-run.ts';
import type { Accounts } from '../account/accounts.ts';
import { RetryLater } from '../account/failure.ts';
import { otherScope } from '../account/identity.ts';
import { againOnceSettled } from '../account/reads.ts';
import { type ContinueCheck, createContinueCheck } from '../account/same-tenant.ts';
import { mayUse } from '../account/suspension.ts';
import { noteAttended, noteLeft } from '../ledger/attended-runs.ts';
import { countClaims, dropDeadClaims } from '../ledger/claims.ts';
import { type Run, readRun, runningRuns } from '../ledger/runs.ts';
import { ledgerNow } from '../ledger/set-clock.ts';
import { resumeWaiting } from '../ledger/waiting-runs.ts';
import { type AfterJobNeeds, createAfterJob, type Performed } from './after-job.ts';
import type { Catalog, Job, JobContext, TargetAccess } from './job.ts';
import { createParking } from './parked.ts';
import type { Payload, Processed, Queue } from './queue.ts';

/** How often the runner maintains the ledger. */
const LOOK_MS = 1_000;
/** With more runs than have room for this many jobs each, a run has one: what a second one adds, another run needs more. */
const JOBS_OF_RUN = 2;
/** A job that waits without returning frees its slot after this. */
const SLOT_MS = 1_000;

export interface RunnerNeeds extends Pick<AfterJobNeeds, 'patienceMs' | 'onStopped'> {
  readonly pool: pg.Pool;
  readonly queue: Queue;
  readonly accounts: Pick<Accounts, 'open' | 'reopen'>;
  readonly targets: TargetAccess;
  readonly catalog: Pick<Catalog, 'jobs'>;
  readonly log: Logger;
  /** Which runs this process works on: every unfinished run, or the runs given to `attend` and the runs they need. */
  readonly worksOn: 'every-run' | 'attended-runs';
  /** Jobs at once. */
  readonly concurrency: number;
}

export interface Runner {
  readonly worker: WorkerIdentity;
  /** Works on a run from now on, without waiting for the next check. */
  attend(run: Run): Promise<void>;
  /** The runs this process works on; undefined: every one. */
  attended(): readonly string[] | undefined;
  /** Finishes the calls in flight, then stops. */
  close(): Promise<void>;
  isClosed(): boolean;
}

/** Starts working on runs; with `every-run`, also on unfinished runs of earlier processes. */
export async function startRunner(needs: RunnerNeeds): Promise<Runner> {
  const { pool, queue, catalog, log } = needs;
  const worker = thisWorker(randomBytes(4).toString('hex'));
  const parking = createParking<Performed>(SLOT_MS, (err) => log.error({ err }, 'a run could not be continued'));
  const jobs = new Map<string, Job>(catalog.jobs.map((job) => [job.name, job]));
  const attended = new Set<string>();
  const checkContinue = createContinueCheck();
  const isEveryRun = needs.worksOn === 'every-run';
  const afterJob = createAfterJob({
    ...needs,
    logsSuspensions: isEveryRun,
    onNextPhase: async (runId) => enqueue(await readRun(pool, runId)),
  });
  let isCrowded = false;
  const mostOf = (job: Job): number => (isCrowded ? 1 : job.parallel);

  async function attend(run: Run): Promise<void> {
    attended.add(run.id);
    await noteAttended(pool, [run.id], worker);
    await enqueue(run);
  }

  async function need(runId: string): Promise<void> {
    if (isEveryRun || attended.has(runId)) return;
    await attend(await readRun(pool, runId));
  }

  /** Queues jobs for a run that has this many claims. */
  async function enqueue(run: Run, claims = 0): Promise<void> {
    const job = run.phase === undefined ? undefined : jobs.get(run.phase);
    if (!job || run.status !== 'running' || claims >= mostOf(job)) return;
    for (let i = 0; i < mostOf(job); i++) {
      // The id contains this process: a job that a dead process left active must not block ours.
      const id = `${run.id}.${job.name}.w${worker.id}.${i}`;
      await queue.add(job.name, { runId: run.id }, { id, isUrgent: run.lane === 'interactive' });
    }
  }

  async function look(): Promise<void> {
    await ledgerNow(pool); // first, because a claim may seem expired
    await dropDeadClaims(pool);
    await queue.limitDelays();
    if (isEveryRun) await resumeWaiting(pool);
    const runs = (await runningRuns(pool)).filter(({ id }) => isEveryRun || attended.has(id));
    const ids = runs.map(({ id }) => id);
    await noteAttended(pool, ids, worker);
    isCrowded = runs.length > needs.concurrency / JOBS_OF_RUN;
    const claims = await countClaims(pool);
    for (const run of runs) await enqueue(run, claims.get(run.id));
  }

  const leave = async () => noteLeft(pool, isEveryRun ? (await runningRuns(pool)).map(({ id }) => id) : [...attended]);

  async function process(name: string, payload: Payload, signal: AbortSignal): Promise<Processed> {
    await ledgerNow(pool); // a job relies on the elapsed time
    const run = await readRun(pool, payload.runId);
    const job = jobs.get(name);
    if (!job || run.status !== 'running' || run.phase !== name) return { status: 'over' };
    const open = await mayUse(needs, run);
    if (open.status === 'suspended') return { status: 'again', inMs: open.againInMs };
    const how = { worker, need, mostClaims: mostOf(job), signal, checkContinue };
    if (!job.waitsInPlace) return afterJob(run, await perform(needs, job, run, how));
    const ending = async (working: Promise<Performed>) => {
      const processed = await afterJob(run, await working);
      if (processed.status === 'again') await pause(processed.inMs, signal);
    };
    const performed = await parking.await(`${run.id}.${name}`, () => perform(needs, job, run, how), ending);
    return performed === 'parked' ? { status: 'over' } : afterJob(run, performed); // parked: the next check queues its next job
  }

  await look();
  const working = queue.work(process, needs.concurrency);
  const failed = (error: unknown) => log.warn({ err: error }, 'maintaining the ledger failed');
  const looking = repeat(look, { pauseMs: () => LOOK_MS, failed });
  let closing: Promise<void> | undefined;
  return {
    worker,
    attend,
    attended: () => (isEveryRun ? undefined : [...attended]),
    close() {
      closing ??= (async () => {
        // Together: a look may wait for a lost Redis until the queue stops waiting. Also aborts the signal of parked jobs.
        await Promise.all([looking.close(), working.close()]);
        await parking.empty();
        await leave().catch(() => undefined); // with the database gone, the notes end by themselves
      })();
      return closing;
    },
    isClosed: () => closing !== undefined,
  };
}

interface PerformHow extends Pick<JobContext<unknown>, 'worker' | 'need' | 'mostClaims' | 'signal'> {
  readonly checkContinue: ContinueCheck;
}

/** The only code that catches what a job throws and turns it into a value. */
async function perform(
  { accounts, targets, pool, log }: RunnerNeeds,
  job: Job,
  run: Run,
  { checkContinue, ...how }: PerformHow,
): Promise<Performed> {
  try {
    const account = await accountOfRun(accounts, run);
    if (account.scope !== run.scope) throw otherScope(run, account.scope);
    const context = { run, account, targets, pool, log, ...how };
    await checkContinue(context);
    // The queue may hand over one more job while this process ends: its signal can no longer stop it.
    if (how.signal.aborted) throw new RetryLater('this process is shutting down', 0);
    return await job.run(context).catch(async (error: unknown) => {
      throw error instanceof ShownApart ? await againOnceSettled(context, error) : error;
    });
  } catch (error) {
    if (error instanceof RetryLater) {
      // A read that this process aborts because it ends says nothing about the service.
      const stop = how.signal.aborted ? new RetryLater(error.message, error.inMs, { isFailure: false }) : error;
      return { status: 'stopped', stop };
    }
    return error instanceof LockstepError ? { status: 'stopped', stop: error } : { status: 'broke-off', error };
  }
}
