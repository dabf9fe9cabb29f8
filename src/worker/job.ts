/**
 * One job: its name, what its payload looks like, and what it does. Jobs live in jobs/, one file each, and reach
 * everything they may touch through their context.
 *
 * A job carries a run on by a little and says how it goes on. What it did is in the ledger; the queue only has to call
 * it again, as often as it likes and in any process.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { WorkerIdentity } from '../engine/ledger/claims.ts';
import type { Run } from '../engine/ledger/runs.ts';
import type { SyncSettings } from '../settings/settings.ts';
import type { Target } from '../targets/target.ts';
import type { Account } from './accounts.ts';
import type { Stop } from './trouble.ts';

export interface JobContext<Options> {
  readonly run: Run;
  readonly options: Options;
  readonly account: Account;
  readonly targets: TargetAccess;
  readonly pool: pg.Pool;
  readonly worker: WorkerIdentity;
  readonly log: Logger;
  /** Says that the run needs another one, so that a process which works on this run alone works on that one too. */
  readonly need: (runId: string) => Promise<void>;
  /** Aborts when the process shuts down: finish what is in flight and answer `again`. */
  readonly signal: AbortSignal;
}

/** The outside systems of the settings, by name; a job closes what it has opened. */
export interface TargetAccess {
  open(name: string): Promise<Target>;
}

/** How a run goes on after a job. */
export type JobResult =
  /** The same job once more: at once, or when waiting is over. The worker slot is given back meanwhile. */
  | { readonly status: 'again'; readonly inMs: number }
  /** This job has done its part of the run; another one goes on. */
  | { readonly status: 'next'; readonly job: string }
  /** Nothing to do here now; whoever is still at it carries the run on. */
  | { readonly status: 'idle' }
  /** The run is done. */
  | { readonly status: 'finished' }
  /** The run waits, pauses, fails or is suspended, as the stop says. */
  | { readonly status: 'stopped'; readonly stop: Stop };

export interface JobSpec<Options> {
  /** Kebab-case, verb first; also the name of its file, and the phase of the runs it carries on. */
  readonly name: string;
  /** What it does, in one line, for people. */
  readonly summary: string;
  /** The run's options as this job reads them. */
  readonly options: z.ZodType<Options>;
  /** How many of these one process may have at work on one run. Default 1. */
  readonly parallel?: number;
  /** It waits for the budget in place, however long: after a few seconds it goes on without a worker slot. */
  readonly waitsInPlace?: boolean;
  readonly run: (context: JobContext<Options>) => Promise<JobResult>;
}

/** A job whose options are parsed where it starts. */
export interface Job {
  readonly name: string;
  readonly summary: string;
  readonly parallel: number;
  readonly waitsInPlace: boolean;
  readonly run: (context: Omit<JobContext<unknown>, 'options'>) => Promise<JobResult>;
}

export function defineJob<Options>(spec: JobSpec<Options>): Job {
  const { name, summary, options, parallel = 1, waitsInPlace = false, run } = spec;
  const parsing: Job['run'] = (context) => run({ ...context, options: options.parse(context.run.options) });
  return { name, summary, parallel, waitsInPlace, run: parsing };
}

/** A sync's type: which job its runs begin with, and what they write at the service. */
export interface SyncType {
  readonly firstJob: string;
  /** Absent where syncs of this type never stand in each other's way. */
  readonly resource?: string;
}

export interface Catalog {
  readonly jobs: readonly Job[];
  /** By the `job` a sync names in the settings. */
  readonly syncTypes: Readonly<Record<SyncSettings['job'], SyncType>>;
}
