/**
 * One job: its name, its payload, and what it does. Jobs are in jobs/, one file each, and use everything through their
 * context.
 *
 * A job does one step of a run and returns what follows. Its results are in the ledger, so the queue may call it again at
 * any time and in any process.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import type { z } from 'zod';
import type { WorkerIdentity } from '../../base/process-identity.ts';
import type { Target } from '../../contract/target.ts';
import type { SyncSettings } from '../../settings/settings.ts';
import type { ChangeFilter } from '../../settings/target-events.ts';
import type { Account } from '../account/account.ts';
import type { Stop } from '../account/failure.ts';
import type { Run } from '../ledger/runs.ts';

export interface JobContext<Options> {
  readonly run: Run;
  readonly options: Options;
  readonly account: Account;
  readonly targets: TargetAccess;
  readonly pool: pg.Pool;
  readonly worker: WorkerIdentity;
  readonly log: Logger;
  /** How many claims of senders the run may have, this job's included. */
  readonly mostClaims: number;
  /** Reports that the run needs another run, so that a process that works only on this run works on the other too. */
  readonly need: (runId: string) => Promise<void>;
  /** Aborts when the process shuts down: finish the calls in flight and return `again`. */
  readonly signal: AbortSignal;
}

/** The outside systems of the settings, by name; a job closes what it opens. */
export interface TargetAccess {
  open(name: string): Promise<Target>;
  /** Which changes it receives; undefined: all. */
  filterOf(name: string): ChangeFilter | undefined;
}

export type JobResult =
  /** Call the same job again, at once or after `inMs`. The worker slot is free meanwhile. */
  | { readonly status: 'again'; readonly inMs: number }
  /** This job has done its part of the run; another job continues. */
  | { readonly status: 'next'; readonly job: string }
  /** Nothing to do here now; the job that still works on the run continues. */
  | { readonly status: 'idle' }
  /** The job has ended the run, which may have been opened again since. */
  | { readonly status: 'finished' }
  /** The job has paused the run, such as for an approval. */
  | { readonly status: 'paused' }
  /** The run waits, pauses, fails or is suspended, depending on the stop. */
  | { readonly status: 'stopped'; readonly stop: Stop };

export interface JobSpec<Options> {
  /** Kebab-case, verb first; also the name of its file, and the phase of its runs. */
  readonly name: string;
  readonly options: z.ZodType<Options>;
  /** How many of these jobs may run at once for one run, in all processes. Default 1. */
  readonly parallel?: number;
  /** The job waits for the budget without returning: after a second it continues without a worker slot. */
  readonly waitsInPlace?: boolean;
  readonly run: (context: JobContext<Options>) => Promise<JobResult>;
}

/** A job that parses its options when it starts. */
export interface Job {
  readonly name: string;
  readonly parallel: number;
  readonly waitsInPlace: boolean;
  readonly run: (context: Omit<JobContext<unknown>, 'options'>) => Promise<JobResult>;
}

export function defineJob<Options>(spec: JobSpec<Options>): Job {
  const { name, options, parallel = 1, waitsInPlace = false, run } = spec;
  const parsing: Job['run'] = (context) => run({ ...context, options: options.parse(context.run.options) });
  return { name, parallel, waitsInPlace, run: parsing };
}

/** A sync's type: which job its runs begin with, and what they write at the service. */
export interface SyncType {
  readonly firstJob: string;
  /** Absent if syncs of this type never block each other. */
  readonly resource?: string;
}

export interface Catalog {
  readonly jobs: readonly Job[];
  /** By the `type` of a sync in the settings. */
  readonly syncTypes: Readonly<Record<SyncSettings['type'], SyncType>>;
}
