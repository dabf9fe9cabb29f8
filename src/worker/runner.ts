/**
 * The runner: works on unfinished runs, in this process and beside others: on every one, or only on those that it attends
 * and those that these need. It looks after the ledger (claims of dead processes are taken over, runs without a queued
 * job get one) and calls the jobs that the queue hands it.
 */
import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { noteAttended } from '../engine/ledger/attended.ts';
import { dropDeadClaims, thisWorker, type WorkerIdentity } from '../engine/ledger/claims.ts';
import {
  addNote,
  endRun,
  markTrouble,
  movePhase,
  pauseRun,
  type Run,
  readRun,
  runningRuns,
} from '../engine/ledger/runs.ts';
import { ledgerNow } from '../engine/ledger/set-clock.ts';
import { resumeWaiting } from '../engine/ledger/waiting.ts';
import { LockstepError, messageOf } from '../errors.ts';
import type { Accounts } from './accounts.ts';
import { otherScope } from './identity.ts';
import type { Catalog, Job, JobResult, TargetAccess } from './job.ts';
import { createParking } from './parked.ts';
import type { Payload, Processed, Queue } from './queue.ts';
import { mayUse, suspend } from './suspension.ts';
import { ComeBack, KeyRefused, OperationForbidden, RunPaused } from './trouble.ts';

/** How often the ledger is looked after. */
const LOOK_MS = 1_000;
/** A defect in a job is no outage: a run is tried this long at most before it fails. */
const DEFECT_PATIENCE_MS = 5 * 60 * 1000;
/** While an outage lasts, tries become rarer: a pause of this share of its time, up to the longest. */
const OUTAGE_SHARE = 0.1;
const LONGEST_PAUSE_MS = 15_000;
const CONCURRENCY = 8;
/** A job that waits in place gives its slot back after this. */
const SLOT_MS = 1_000;
/** What a defect in a job waits before the job is tried again. */
const DEFECT_MS = 5_000;

export interface RunnerNeeds {
  readonly pool: pg.Pool;
  readonly queue: Queue;
  readonly accounts: Pick<Accounts, 'open' | 'reopen'>;
  readonly targets: TargetAccess;
  readonly catalog: Pick<Catalog, 'jobs'>;
  readonly log: Logger;
  /** Which runs this process works on: every unfinished one, or those that `attend` names and those that these need. */
  readonly worksOn: 'every-run' | 'attended-runs';
  /** How long calls of an account's runs may fail, without one success between, before the run fails. */
  readonly patienceMs: (account: string) => number;
}

export interface Runner {
  readonly worker: WorkerIdentity;
  /** Works on a run from now on, rather than from the next look. */
  attend(run: Run): Promise<void>;
  /** The runs this process works on; undefined: every one. */
  attended(): readonly string[] | undefined;
  /** Finishes what is in flight, then stops. */
  close(): Promise<void>;
}

/** Starts working on runs, where it is every run with the unfinished ones of earlier processes. */
export async function startRunner(needs: RunnerNeeds): Promise<Runner> {
  const { pool, queue, catalog, log } = needs;
  const worker = thisWorker(randomBytes(4).toString('hex'));
  const parking = createParking<JobResult>({
    slotMs: SLOT_MS,
    onError: (error) => log.error({ err: error }, 'a run could not be carried on'),
  });
  const jobs = new Map<string, Job>(catalog.jobs.map((job) => [job.name, job]));
  const attended = new Set<string>();
  const isEveryRun = needs.worksOn === 'every-run';

  async function attend(run: Run): Promise<void> {
    attended.add(run.id);
    await noteAttended(pool, [run.id]);
    await enqueue(run);
  }

  async function need(runId: string): Promise<void> {
    if (isEveryRun || attended.has(runId)) return;
    await attend(await readRun(pool, runId));
  }

  async function enqueue(run: Run): Promise<void> {
    const job = run.phase === undefined ? undefined : jobs.get(run.phase);
    if (!job || run.status !== 'running') return;
    for (let i = 0; i < job.parallel; i++) {
      // The id names this process: a job that a dead process left active must not stand in the way of ours.
      const id = `${run.id}.${job.name}.w${worker.id}.${i}`;
      await queue.add(job.name, { runId: run.id }, { id, isUrgent: run.lane === 'interactive' });
    }
  }

  async function look(): Promise<void> {
    await ledgerNow(pool); // first: a claim may seem expired
    await dropDeadClaims(pool);
    await queue.limitDelays();
    if (isEveryRun) await resumeWaiting(pool);
    const runs = (await runningRuns(pool)).filter(({ id }) => isEveryRun || attended.has(id));
    await noteAttended(
      pool,
      runs.map(({ id }) => id),
    );
    for (const run of runs) await enqueue(run);
  }

  async function process(name: string, payload: Payload, signal: AbortSignal): Promise<Processed> {
    await ledgerNow(pool); // a job relies on what has passed by then
    const run = await readRun(pool, payload.runId);
    const job = jobs.get(name);
    if (!job || run.status !== 'running' || run.phase !== name) return { status: 'over' };
    const open = await mayUse(needs, run);
    if (open.status === 'suspended') return { status: 'again', inMs: open.againInMs };
    if (!job.waitsInPlace) return proceed(run, perform(job, run, signal));
    const ending = async (working: Promise<JobResult>) => {
      const processed = await proceed(run, working);
      if (processed.status === 'again') await delay(processed.inMs, undefined, { signal }).catch(() => undefined);
    };
    try {
      const result = await parking.await(`${run.id}.${name}`, () => perform(job, run, signal), ending);
      if (result === 'parked') return { status: 'over' }; // the look brings its next job once it has ended
      return proceed(run, Promise.resolve(result));
    } catch (error) {
      return onTrouble(run, error);
    }
  }

  /** Carries the run on by what its job came to. */
  async function proceed(run: Run, working: Promise<JobResult>): Promise<Processed> {
    try {
      const result = await working;
      if (run.troubleSince) await markTrouble(pool, run.id, false);
      return await goOn(run, result);
    } catch (error) {
      return onTrouble(run, error);
    }
  }

  async function perform(job: Job, run: Run, signal: AbortSignal): Promise<JobResult> {
    const account = await needs.accounts.open(run.account);
    if (account.scope !== run.scope) throw otherScope(run, account.scope);
    return job.run({ run, account, targets: needs.targets, pool, worker, log, need, signal });
  }

  async function goOn(run: Run, result: JobResult): Promise<Processed> {
    switch (result.status) {
      case 'again':
        return result;
      case 'idle':
        return { status: 'over' };
      case 'next':
        if (run.phase && (await movePhase(pool, run.id, run.phase, result.job)))
          await enqueue(await readRun(pool, run.id));
        return { status: 'over' };
      case 'finished':
        await endRun(pool, run.id, 'done');
        return { status: 'over' };
      default:
        return result satisfies never;
    }
  }

  async function onTrouble(run: Run, error: unknown): Promise<Processed> {
    if (error instanceof KeyRefused) {
      await suspend(needs, run.scope, error);
      await addNote(pool, run.id, error.message);
      return { status: 'again', inMs: 0 };
    }
    if (error instanceof RunPaused || (error instanceof LockstepError && error.code === 'IDENTITY_CHANGED')) {
      await pauseRun(pool, run.id, { code: error.code, message: error.message });
      return { status: 'over' };
    }
    if (error instanceof LockstepError) {
      // Raised on purpose, with a remedy: a secret that is missing, a record without an id. Trying again fixes none.
      const then = error instanceof OperationForbidden ? ` Then: lockstep runs resume ${run.id}` : '';
      await endRun(pool, run.id, 'failed', { code: error.code, message: `${error.message}${then}` });
      return { status: 'over' };
    }
    const isDefect = !(error instanceof ComeBack);
    if (isDefect) log.error({ err: error, run: run.id }, 'a job broke off');
    if (!isDefect && !error.isTrouble) return { status: 'again', inMs: error.inMs };
    const since = await markTrouble(pool, run.id, true);
    const lastedMs = since ? Date.now() - since.getTime() : 0;
    const patienceMs = needs.patienceMs(run.account);
    if (lastedMs > (isDefect ? Math.min(patienceMs, DEFECT_PATIENCE_MS) : patienceMs)) {
      const message = `${messageOf(error)}. Tried for ${Math.round(lastedMs / 1000)} s; resume with: lockstep runs resume ${run.id}`;
      await endRun(pool, run.id, 'failed', { code: isDefect ? 'JOB_BROKE_OFF' : 'SERVICE_AWAY', message });
      return { status: 'over' };
    }
    await addNote(pool, run.id, messageOf(error));
    if (isDefect) return { status: 'again', inMs: DEFECT_MS };
    return { status: 'again', inMs: Math.max(error.inMs, Math.min(LONGEST_PAUSE_MS, lastedMs * OUTAGE_SHARE)) };
  }

  await look();
  const working = queue.work(process, CONCURRENCY);
  let looking: Promise<void> = Promise.resolve();
  const ticking = setInterval(() => {
    looking = looking
      .then(look)
      .catch((error: unknown) => log.warn({ err: error }, 'the ledger could not be looked after'));
  }, LOOK_MS);
  let closing: Promise<void> | undefined;
  return {
    worker,
    attend,
    attended: () => (isEveryRun ? undefined : [...attended]),
    close() {
      closing ??= (async () => {
        clearInterval(ticking);
        await looking;
        await working.close(); // aborts the signal that parked jobs hold, too
        await parking.empty();
      })();
      return closing;
    },
  };
}
