/**
 * What follows after a job of a run: the next job, another try, or the end of the run. The only code that decides whether a run
 * is retried, paused or failed because of a job.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { type LockstepError, messageOf } from '../../base/errors.ts';
import { ended } from '../../base/texts.ts';
import { formatDuration } from '../../settings/durations.ts';
import { describeDatabaseError } from '../../storage/errors.ts';
import { KeyRefused, OperationForbidden, RetryLater, RunPaused, type Stop } from '../account/failure.ts';
import { endRun, pauseRun, resumeHint } from '../ledger/run-status.ts';
import { addFailure, markFailing, movePhase, type Run } from '../ledger/runs.ts';
import { suspendAccount } from '../ledger/scopes/suspensions.ts';
import type { JobResult } from './job.ts';
import type { Processed } from './queue.ts';

/** A defect in a job is not an outage: a run is retried at most this long before it fails. */
const DEFECT_PATIENCE_MS = 5 * 60 * 1000;
/** How long to wait after a defect in a job before retrying it. */
const DEFECT_MS = 5_000;
/** During an outage retries become rarer: the pause is this share of its duration, up to the maximum. */
const OUTAGE_SHARE = 0.1;
const LONGEST_PAUSE_MS = 15_000;

/** The result of a job: its answer, a stop that it threw, or a defect. */
export type Performed =
  | Exclude<JobResult, { status: 'stopped' }>
  | { readonly status: 'stopped'; readonly stop: Stop | LockstepError }
  | { readonly status: 'broke-off'; readonly error: unknown };

export interface AfterJobNeeds {
  readonly pool: pg.Pool;
  readonly log: Logger;
  /** How long calls of an account's runs may fail without a success before the run fails. */
  readonly patienceMs: (account: string) => number;
  /** Called when a run was ended or paused by this process. */
  readonly onStopped?: ((runId: string) => Promise<void>) | undefined;
  /** Logs accounts that become suspended; a command prints why its run has stopped. */
  readonly logsSuspensions: boolean;
  /** The run has another phase now. */
  readonly onNextPhase: (runId: string) => Promise<void>;
}

/** Writes what follows into the ledger, and returns what the queue does with the job. */
export function createAfterJob(needs: AfterJobNeeds): (run: Run, performed: Performed) => Promise<Processed> {
  const { pool, log } = needs;

  async function afterJob(run: Run, performed: Performed): Promise<Processed> {
    if (performed.status === 'stopped') return onStop(run, performed.stop);
    if (performed.status === 'broke-off') return onDefect(run, performed.error);
    if (run.failingSince) await markFailing(pool, run.id, false);
    switch (performed.status) {
      case 'again':
        return performed;
      case 'idle':
        return { status: 'over' };
      case 'next':
        if (run.phase && (await movePhase(pool, run.id, run.phase, performed.job))) await needs.onNextPhase(run.id);
        return { status: 'over' };
      case 'finished':
      case 'paused':
        await needs.onStopped?.(run.id);
        return { status: 'over' };
      default:
        return performed satisfies never;
    }
  }

  async function onStop(run: Run, stop: Stop | LockstepError): Promise<Processed> {
    if (stop instanceof RetryLater) {
      if (!stop.isFailure) return { status: 'again', inMs: stop.inMs };
      return onFailure(run, stop.message, {
        code: 'SERVICE_AWAY',
        inMs: stop.inMs,
        patienceMs: needs.patienceMs(run.account),
      });
    }
    const { code, message } = stop;
    if (stop instanceof KeyRefused) {
      const isNew = await suspendAccount(pool, run.scope, message);
      if (isNew && needs.logsSuspensions) log.warn({ account: run.scope }, `account suspended: ${message}`);
      await addFailure(pool, run.id, message);
      return { status: 'again', inMs: 0 };
    }
    if (stop instanceof RunPaused || code === 'IDENTITY_CHANGED') {
      await pauseRun(pool, run.id, { code, message });
      await needs.onStopped?.(run.id);
      return { status: 'over' };
    }
    // A missing secret, a record without an id: a retry does not fix these.
    const then = stop instanceof OperationForbidden ? resumeHint(run.id) : '';
    await failRun(run, { code, message: `${message}${then}` });
    return { status: 'over' };
  }

  async function failRun(run: Run, error: { readonly code: string; readonly message: string }): Promise<void> {
    if (await endRun(pool, run.id, 'failed', error)) await needs.onStopped?.(run.id);
  }

  function onDefect(run: Run, error: unknown): Promise<Processed> {
    log.error({ err: error, run: run.id }, 'a job was interrupted by an error');
    const patienceMs = Math.min(needs.patienceMs(run.account), DEFECT_PATIENCE_MS);
    const failure = describeDatabaseError(error, 'the database', false);
    const code = failure ? 'DATABASE_FAILED' : 'JOB_BROKE_OFF';
    return onFailure(run, messageOf(failure ?? error), { code, inMs: DEFECT_MS, patienceMs });
  }

  /** Retries with growing pauses during an outage, and fails the run once it has lasted too long. */
  async function onFailure(
    run: Run,
    message: string,
    { code, inMs, patienceMs }: { readonly code: string; readonly inMs: number; readonly patienceMs: number },
  ): Promise<Processed> {
    await addFailure(pool, run.id, message); // first: a command that sees the mark tells its person the last note
    const lastedMs = await markFailing(pool, run.id, true);
    if (lastedMs > patienceMs) {
      // As resumeHint writes it: the index of errors is made from such literals.
      const tried = `Tried for ${formatDuration(inWholeUnits(lastedMs))}. Resume with: \`lockstep runs resume ${run.id}\``;
      await failRun(run, { code, message: `${ended(message)} ${tried}` });
      return { status: 'over' };
    }
    return { status: 'again', inMs: Math.max(inMs, Math.min(LONGEST_PAUSE_MS, lastedMs * OUTAGE_SHARE)) };
  }

  return afterJob;
}

/** Whole seconds, or, from two minutes on, whole minutes. */
function inWholeUnits(ms: number): number {
  const unitMs = ms < 120_000 ? 1_000 : 60_000;
  return Math.round(ms / unitMs) * unitMs;
}
