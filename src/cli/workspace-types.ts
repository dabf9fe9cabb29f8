/** The types of `import { startWorkspace } from 'lockstep'`. The package has the types of all that this module imports, so it imports little. */
import type { Lane } from '../client/budget/budget.ts';
import type { RunReport } from '../operator/report.ts';
import type { TextStream } from './print/screen.ts';

export type { Lane, RunReport };

export type Role = 'worker' | 'scheduler' | 'console' | 'service';

export interface Ready {
  /** Address of the embedded service, if the process has that role. */
  url?: string;
  /** Address of the console and of calls from outside systems, if the process has the role console. */
  consoleUrl?: string | undefined;
  /** Address of health checks and metrics, if the process serves them. */
  healthUrl?: string;
  /** Runs that the worker found unfinished. */
  unfinished?: number;
  /** Syncs with a schedule. */
  schedules?: number;
}

export interface WorkspaceOptions {
  /** Settings file, relative to `cwd`. Default: config/lockstep.yaml. */
  readonly config?: string;
  /** Where the embedded Postgres and local keys are kept, relative to `cwd`. Default: .lockstep */
  readonly dataDir?: string;
  /** Default: the directory of this process. */
  readonly cwd?: string;
  /** Where secrets, DATABASE_URL and REDIS_URL are read from. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Default: worker and scheduler, and also the service if an account uses the embedded one. */
  readonly roles?: readonly Role[];
  /** Port of the role service; 0 takes any free port. Default: 4100. */
  readonly port?: number;
  /** Address of the role service. Default: 127.0.0.1. */
  readonly listen?: string;
  /** Receives warnings and errors, one JSON object per line. Default: stderr of this process. */
  readonly log?: TextStream;
}

export interface SyncOptions {
  /** Reads and decides everything, and writes nothing. Default: false. */
  readonly dryRun?: boolean;
  /** Share of the rate budget: interactive goes before batch. Default: batch. */
  readonly lane?: Lane;
  /** Ends the waiting; the run itself continues. */
  readonly signal?: AbortSignal;
}

export interface StartedWorkspace extends Ready {
  /**
   * Starts a run of a sync, or joins its unfinished run, and waits for the end.
   * If the run pauses or the signal aborts, the report shows the run at that moment.
   * @throws LockstepError SETTINGS_NAME_UNKNOWN if the settings name no such sync, or WORKSPACE_OPTIONS_INVALID
   */
  runSync(name: string, options?: SyncOptions): Promise<RunReport>;
  /** Finishes the work in flight, then stops. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the workspace of the settings and starts its roles.
 * @throws LockstepError with a stable `code`: WORKSPACE_OPTIONS_INVALID, SETTINGS_MISSING, SETTINGS_INVALID, or what is wrong with the database
 */
export declare function startWorkspace(options?: WorkspaceOptions): Promise<StartedWorkspace>;
