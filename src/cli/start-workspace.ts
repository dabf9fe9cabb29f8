/** `import { startWorkspace } from 'lockstep'`: what `lockstep start` does, in the caller's own process; without the console, unless `roles` has it. */
import path from 'node:path';
import type { Lane } from '../client/budget/budget.ts';
import { allowedFor, type RunReport, reportRun } from '../operator/run-report.ts';
import { loadSettings } from '../settings/load.ts';
import { follow } from './follow.ts';
import { DEFAULT_DATA } from './global-options.ts';
import { createLog } from './log.ts';
import { screenOf, type TextStream } from './print/screen.ts';
import { openWorkspace } from './workspace/open-workspace.ts';
import { DEFAULT_PORT, defaultRoles, type Ready, type Role, startRoles } from './workspace/roles.ts';

export type { Lane, Ready, Role, RunReport };

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
   * @throws LockstepError if the settings name no such sync
   */
  runSync(name: string, options?: SyncOptions): Promise<RunReport>;
  /** Finishes the work in flight, then stops. Idempotent. */
  close(): Promise<void>;
}

/**
 * Opens the workspace of the settings and starts its roles.
 * @throws LockstepError with a stable `code`: SETTINGS_MISSING, SETTINGS_INVALID, or what is wrong with the database
 */
export async function startWorkspace(options: WorkspaceOptions = {}): Promise<StartedWorkspace> {
  const {
    config,
    dataDir = DEFAULT_DATA,
    cwd = process.cwd(),
    env = process.env,
    log: stream = process.stderr,
  } = options;
  const settings = await loadSettings({ configFile: config, cwd, env });
  const log = createLog(screenOf(stream), { isVerbose: false });
  for (const warning of settings.warnings) log.warn(warning);
  const workspace = await openWorkspace({ settings, env, log, dataDir: path.resolve(cwd, dataDir) });
  const { pool } = workspace.database;
  try {
    const roles = new Set(options.roles ?? defaultRoles(settings));
    const { port = DEFAULT_PORT, listen = '127.0.0.1' } = options;
    const ready = await startRoles(workspace, roles, { port, listen, log, say: () => undefined });
    return {
      ...ready,
      async runSync(name, { dryRun = false, lane = 'batch', signal = new AbortController().signal } = {}) {
        const { run } = await workspace.startSync(name, { dryRun, lane });
        const allowedPerSecond = allowedFor(run, settings);
        return reportRun(pool, await follow(run.id, { db: pool, out: silent, allowedPerSecond, signal }), settings);
      },
      close: () => workspace.close(),
    };
  } catch (error) {
    await workspace.close();
    throw error;
  }
}

const silent = { isLive: false, columns: undefined, live: () => undefined, say: () => undefined };
