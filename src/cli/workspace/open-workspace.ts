/**
 * The composition root: the only module that puts the rooms together. A workspace is everything one process needs to work on
 * runs; parts that a command does not use are never opened.
 */
import { catalog } from '../../../jobs/catalog.ts';
import type { Console } from '../../console/server.ts';
import { keepAuditing } from '../../engine/account/audits.ts';
import { watchServices } from '../../engine/account/service-watch.ts';
import { keepTryingKeys } from '../../engine/account/suspension.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { keepSchedules } from '../../engine/ledger/schedules.ts';
import { createOwnQueue } from '../../engine/worker/own-queue.ts';
import type { SharedQueue } from '../../engine/worker/queue.ts';
import { type Runner, type RunnerNeeds, startRunner } from '../../engine/worker/runner.ts';
import { type Scheduler, startDueSyncs } from '../../engine/worker/scheduler.ts';
import { startAlerting } from '../../operator/alerts/watch.ts';
import { findProblems } from '../../operator/current-problems.ts';
import { examineAccount } from '../../operator/examination.ts';
import { reportRun } from '../../operator/run-report.ts';
import { checkSettings } from '../../operator/settings-check.ts';
import { changesBetween, type SettingsChanges, takeable } from '../../settings/changes.ts';
import type { ListenAddress, SecretRef } from '../../settings/fields.ts';
import { readSecret } from '../../settings/secrets.ts';
import type { Settings } from '../../settings/settings.ts';
import { withSharedBudgets } from '../../settings/shared-accounts.ts';
import { makePool } from '../../storage/pool.ts';
import { dueStarter, scheduledIn } from './due-syncs.ts';
import type { HealthServer } from './health-server.ts';
import { type Keep, openParts, type Parts, type WorkspaceOptions } from './open-parts.ts';
import { checkReadiness } from './readiness.ts';
import { keepPruning } from './retention.ts';
import { logStop } from './run-log.ts';
import { type StartArguments, startSyncRun } from './start-sync.ts';

/** Pages and workers do not wait for connections of each other. Between two looks at a page they stay open. */
const CONSOLE_CONNECTIONS = { max: 8, idleTimeoutMillis: 10 * 60_000 };

export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { log } = options;
  const closers: (() => Promise<void>)[] = [];
  const close = async () => {
    for (const closePart of closers.splice(0).reverse()) {
      // Each part is closed even if another one failed to close: a lost database must not keep a port open.
      await closePart().catch((error: unknown) => log.error({ err: error }, 'a part of the workspace failed to close'));
    }
  };
  const keep: Keep = (part) => {
    closers.push(() => part.close());
    return part;
  };
  try {
    return new Workspace(options, await openParts(options, keep), { keep, close });
  } catch (error) {
    await close();
    throw error;
  }
}

/** What one process needs to work on runs: its parts, and the roles over them. */
export class Workspace {
  /** Idempotent. */
  readonly close: () => Promise<void>;
  readonly #keep: Keep;
  readonly #options: WorkspaceOptions;
  readonly #parts: Parts;
  #runner: Promise<Runner> | undefined;
  #queue: SharedQueue | undefined;
  #scheduler: Scheduler | undefined;
  #web: Console | undefined;
  #isDelivering = false;
  #alerting: ReturnType<typeof startAlerting> | undefined;

  constructor(options: WorkspaceOptions, parts: Parts, { keep, close }: { keep: Keep; close: () => Promise<void> }) {
    this.#options = options;
    this.#parts = parts;
    this.#keep = keep;
    this.close = close;
  }

  /** As they were last taken over. */
  get settings(): Settings {
    return this.#parts.present.settings;
  }
  get database() {
    return this.#parts.database;
  }
  get accounts() {
    return this.#parts.accounts;
  }
  get service() {
    return this.#parts.service;
  }

  /**
   * Uses these settings for new work: syncs that start, accounts and targets that are opened. Unfinished runs keep the
   * options they were started with. `deliver` and `keepSchedules` have to be called again. Returns what has changed; what
   * needs a restart is not taken over.
   */
  async takeOver(given: Settings): Promise<SettingsChanges> {
    const { accounts, targets } = this.#parts;
    const after = await withSharedBudgets(given, this.#options.env);
    const changes = changesBetween(this.settings, after);
    this.#parts.present.settings = takeable(this.settings, after);
    for (const name of [...changes.accounts.changed, ...changes.accounts.removed]) accounts.renew(name);
    if (changes.isAny) await targets.renew();
    if (changes.isAny) await this.#web?.renew();
    return changes;
  }

  /** Opens a target of the settings; the caller closes it. */
  openTarget(name: string) {
    return this.#parts.targets.open(name);
  }

  /** Starts a run of a sync, or returns the unfinished run that blocks it. */
  readonly startSync = (...start: StartArguments) => startSyncRun(this, ...start);

  /**
   * Works on runs in this process until the workspace is closed: on every unfinished run, or only on attended runs and the
   * runs that they need. The first call decides.
   */
  async work(on: RunnerNeeds['worksOn'] = 'every-run'): Promise<Runner> {
    const last = this.#runner;
    // A command closes its runner when a run stops, and may work on another run, such as an audit.
    if ((await last)?.isClosed() && this.#runner === last) this.#runner = undefined;
    this.#runner ??= this.#startWorking(on);
    return this.#runner;
  }

  async #startWorking(worksOn: RunnerNeeds['worksOn']): Promise<Runner> {
    const { log } = this.#options;
    const { accounts, targets, telemetry, database } = this.#parts;
    const { pool } = database;
    const queue = worksOn === 'every-run' ? await this.queue() : this.#keep(createOwnQueue({ log }));
    const patienceMs = (account: string) => this.settings.accounts[account]?.patienceMs ?? 0; // no account: no service to wait for
    const onStopped = async (id: string): Promise<void> => {
      const run = await readRun(pool, id);
      const report = await reportRun(pool, run, this.settings);
      if (worksOn === 'every-run') logStop(log, run, report); // a command prints how its run ended
      this.#parts.present.metrics?.runStopped(run, report);
      telemetry?.runStopped(run);
    };
    const jobs = telemetry?.traceJobs(catalog.jobs) ?? catalog.jobs;
    const { concurrency } = this.settings.worker;
    const needs = {
      pool,
      queue,
      accounts,
      targets,
      catalog: { jobs },
      log,
      worksOn,
      concurrency,
      patienceMs,
      onStopped,
    };
    return this.#keep(await startRunner(needs));
  }

  /** A command that works on its own run does without it, and BullMQ takes long to load. */
  async queue(): Promise<SharedQueue> {
    const { openQueue } = await import('../../engine/worker/queue.ts');
    this.#queue ??= this.#keep(openQueue(this.#parts.queueNeeds));
    return this.#queue;
  }

  /** Delivers changes to these targets, and applies what the targets report, until the workspace is closed. */
  async deliver(names: readonly string[]): Promise<void> {
    const { targets } = this.#parts;
    const running = await this.work();
    if (!this.#isDelivering) this.#keep({ close: targets.stopDelivering }); // before the runner stops
    this.#isDelivering = true;
    targets.deliver(names, running);
  }

  /** Reports problems to the channels of the settings, and sends the reports, until the workspace is closed. */
  async alert(): Promise<void> {
    const { log, complete = asNamed } = this.#options;
    const { pool } = this.database;
    const { worker } = await this.work();
    if (this.#alerting) await this.#alerting.close();
    else this.#keep({ close: async () => this.#alerting?.close() });
    this.#alerting = startAlerting({
      pool,
      worker,
      channels: this.settings.alerts,
      findProblems: () => findProblems(pool, this.settings),
      readSecret: this.#readSecret,
      complete,
      consoleUrl: this.settings.console.url,
      onAttempt: (...attempt) => this.#parts.present.metrics?.attempted(...attempt),
      log,
    });
  }

  /** Serves the console, and accepts calls from outside systems, at the address of the settings, until the workspace is closed. */
  async serveConsole(): Promise<Console> {
    const { startConsole } = await import('../../console/server.ts');
    const { dataDir, env, log, complete = asNamed } = this.#options;
    const { accounts, targets, telemetry, database } = this.#parts;
    const pool = makePool({ ...database.connection, ...CONSOLE_CONNECTIONS }, log, telemetry?.inQuery);
    this.#keep({ close: () => pool.end() });
    this.#web = this.#keep(
      await startConsole({
        pool,
        database: database.describe,
        names: () => Object.keys(this.settings.targets),
        targets,
        settings: () => this.settings,
        checkSettings: () => checkSettings(this.settings, env),
        startSync: this.startSync,
        accounts,
        openAccount: accounts.open,
        examine: (account, options) => examineAccount({ pool, settings: this.settings, accounts }, account, options),
        queue: () => this.queue(),
        dataDir,
        readSecret: this.#readSecret,
        hint: complete,
        log,
      }),
    );
    return this.#web;
  }

  readonly #readSecret = (ref: SecretRef) => readSecret(ref, this.#options.env);

  /** Makes the audits of all accounts as they become due, until the workspace is closed. */
  async keepAuditing(): Promise<void> {
    const { attend } = await this.work();
    const { log } = this.#options;
    const accounts = () => Object.keys(this.settings.accounts);
    this.#keep(keepAuditing({ pool: this.database.pool, accounts, attend, log }));
  }

  /** Tries refused keys again until the workspace is closed, so that an account resumes without a run. */
  keepTryingKeys(): void {
    const { accounts, database } = this.#parts;
    const names = () => Object.keys(this.settings.accounts);
    this.#keep(keepTryingKeys({ pool: database.pool, accounts, log: this.#options.log }, names));
  }

  /** Deletes what is older than the settings keep it, until the workspace is closed. */
  keepPruning(): void {
    this.#keep(keepPruning(this.database.pool, () => this.settings, this.#options.log));
  }

  /** Logs when a service stops working, and when it works again, until the workspace is closed. */
  watchServices(): void {
    const { accounts, database, present } = this.#parts;
    const { log } = this.#options;
    present.watch ??= this.#keep(watchServices({ pool: database.pool, open: accounts.use, log }));
    const outside = Object.values(this.settings.accounts).filter(({ url }) => url !== undefined);
    present.watch.watch(outside.map(({ name }) => name));
  }

  keepSchedules(): Promise<void> {
    return keepSchedules(this.database.pool, scheduledIn(this.settings));
  }

  /** Starts syncs as they become due, until the workspace is closed. */
  startDueSyncs(): void {
    const { log } = this.#options;
    const begin = dueStarter(this.startSync, log);
    const syncs = () => Object.keys(this.settings.syncs);
    this.#scheduler = this.#keep(startDueSyncs({ pool: this.database.pool, begin, syncs, log }));
  }

  /**
   * Serves health checks and metrics until the workspace is closed. Call it first: metrics count from then on.
   * `isStarted`: whether all roles of the process have started.
   */
  async serveHealth(address: ListenAddress, isStarted: () => boolean): Promise<HealthServer> {
    const [{ createMetrics }, { serveHealth }] = await Promise.all([
      import('./metrics.ts'),
      import('./health-server.ts'),
    ]);
    const { accounts, database } = this.#parts;
    const { pool } = database;
    const queue = () => this.#queue;
    const metrics = createMetrics({ pool, accounts, queue, settings: () => this.settings });
    this.#parts.present.metrics = metrics;
    const ready = () => checkReadiness({ isStarted, pool, queue, scheduler: () => this.#scheduler });
    return this.#keep(await serveHealth({ address, ready, metrics, log: this.#options.log }));
  }
}

function asNamed(command: string): string {
  return `lockstep ${command}`;
}
