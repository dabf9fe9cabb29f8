/** What one process needs to work on runs, as its commands and roles see it. */
import type { Console } from '../../console/server.ts';
import type { Target } from '../../contract/target.ts';
import type { Accounts } from '../../engine/account/accounts.ts';
import type { Runner, RunnerNeeds } from '../../engine/worker/runner.ts';
import type { SettingsChanges } from '../../settings/changes.ts';
import type { ListenAddress } from '../../settings/fields.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Database } from '../../storage/open.ts';
import type { EmbeddedService } from './embedded-service.ts';
import type { HealthServer } from './health-server.ts';
import type { StoreOptions } from './open-store.ts';
import type { StartHow, startSyncRun } from './start-sync.ts';

export interface WorkspaceOptions extends StoreOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened by the caller and closed with the workspace. Default: the database of the settings. */
  readonly database?: Database;
  /** Adds to a command in an alert, or in the console, what this process was started with. Default: nothing. */
  readonly complete?: (command: string) => string;
}

export interface Workspace {
  /** As they were last taken over. */
  readonly settings: Settings;
  /**
   * Uses these settings for new work: syncs that start, accounts and targets that are opened. Unfinished runs keep the
   * options they were started with. `deliver` and `keepSchedules` have to be called again. Returns what has changed; what
   * needs a restart is not taken over.
   */
  takeOver(settings: Settings): Promise<SettingsChanges>;
  readonly database: Database;
  readonly accounts: Accounts;
  readonly service: EmbeddedService;
  /** Opens a target of the settings; the caller closes it. */
  openTarget(name: string): Promise<Target>;
  /** Starts a run of a sync, or returns the unfinished run that blocks it. */
  startSync(name: string, how: StartHow): ReturnType<typeof startSyncRun>;
  /**
   * Works on runs in this process until the workspace is closed: on every unfinished run, or only on attended runs and the
   * runs that they need. The first call decides.
   */
  work(on?: RunnerNeeds['worksOn']): Promise<Runner>;
  /** Delivers changes to these targets, and applies what the targets report, until the workspace is closed. */
  deliver(targets: readonly string[]): Promise<void>;
  /**
   * Serves the console, and accepts calls from outside systems, at the address of the settings, until the workspace is
   * closed.
   */
  serveConsole(): Promise<Console>;
  /** Reports problems to the channels of the settings, and sends the reports, until the workspace is closed. */
  alert(): Promise<void>;
  /** Replaces the saved schedules with the schedules of the settings. */
  keepSchedules(): Promise<void>;
  /** Makes the audits of all accounts as they become due, until the workspace is closed. */
  keepAuditing(): Promise<void>;
  /** Logs when a service stops working, and when it works again, until the workspace is closed. */
  watchServices(): void;
  /** Deletes what is older than the settings keep it, until the workspace is closed. */
  keepPruning(): void;
  /** Starts syncs as they become due, until the workspace is closed. */
  startDueSyncs(): void;
  /**
   * Serves health checks and metrics until the workspace is closed. Call it first: metrics count from then on.
   * `isStarted`: whether all roles of the process have started.
   */
  serveHealth(address: ListenAddress, isStarted: () => boolean): Promise<HealthServer>;
  /** Idempotent. */
  close(): Promise<void>;
}
