/**
 * The composition root: the only module that puts the rooms together. A workspace is everything one process needs to work on
 * runs; parts that a command does not use are never opened.
 */
import { catalog } from '../../../jobs/catalog.ts';
import { openPostgresStore } from '../../client/budget/postgres-store.ts';
import { createRedisStore } from '../../client/budget/redis-store.ts';
import type { CallEvent } from '../../client/call/client.ts';
import type { Console } from '../../console/server.ts';
import type { Target } from '../../contract/target.ts';
import { type Accounts, createAccounts } from '../../engine/account/accounts.ts';
import { keepAuditing } from '../../engine/account/audits.ts';
import { recordBudgets } from '../../engine/account/budget-recorder.ts';
import { type ServiceWatch, watchServices } from '../../engine/account/service-watch.ts';
import { ledgerMigrations } from '../../engine/ledger/migrations.ts';
import { readRun } from '../../engine/ledger/runs.ts';
import { keepSchedules } from '../../engine/ledger/schedules.ts';
import { createOwnQueue } from '../../engine/worker/own-queue.ts';
import { openQueue, type SharedQueue } from '../../engine/worker/queue.ts';
import { openRedis } from '../../engine/worker/redis.ts';
import { type Runner, type RunnerNeeds, startRunner } from '../../engine/worker/runner.ts';
import { type Scheduler, startDueSyncs } from '../../engine/worker/scheduler.ts';
import { keptSecretsOf } from '../../mirror/inbound/ledger-secrets.ts';
import { creationLog } from '../../mirror/outbox/creations.ts';
import { toTaskState } from '../../mirror/tasks/task-state.ts';
import { startAlerting } from '../../operator/alerts/watch.ts';
import { findProblems } from '../../operator/current-problems.ts';
import { examineAccount } from '../../operator/examination.ts';
import { reportRun } from '../../operator/run-report.ts';
import { checkSettings } from '../../operator/settings-check.ts';
import { changesBetween, type SettingsChanges, takeable } from '../../settings/changes.ts';
import type { ListenAddress } from '../../settings/fields.ts';
import { readSecret } from '../../settings/secrets.ts';
import type { Settings } from '../../settings/settings.ts';
import { withSharedBudgets } from '../../settings/shared-accounts.ts';
import { migrate } from '../../storage/migrate.ts';
import type { Database } from '../../storage/open.ts';
import { makePool } from '../../storage/pool.ts';
import { accessTo } from './account-access.ts';
import { dueStarter, scheduledIn } from './due-syncs.ts';
import { EmbeddedService } from './embedded-service.ts';
import type { HealthServer } from './health-server.ts';
import type { Metrics } from './metrics.ts';
import { openLedger, type StoreOptions } from './open-store.ts';
import { openTelemetry } from './open-telemetry.ts';
import { checkReadiness } from './readiness.ts';
import { keepPruning } from './retention.ts';
import { logStop } from './run-log.ts';
import { type StartArguments, type StartHow, startSyncRun } from './start-sync.ts';
import { createTargetWork } from './target-work.ts';

/** Pages and workers do not wait for connections of each other. Between two looks at a page they stay open. */
const CONSOLE_CONNECTIONS = { max: 8, idleTimeoutMillis: 10 * 60_000 };

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

export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { dataDir, env, log, complete = (command) => `lockstep ${command}` } = options;
  let settings = await withSharedBudgets(options.settings, env);
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) {
      // Each part is closed even if another one failed to close: a lost database must not keep a port open.
      await close().catch((error: unknown) => log.error({ err: error }, 'a part of the workspace failed to close'));
    }
  };
  const keep = <T extends { close(): Promise<void> }>(part: T): T => {
    closers.push(() => part.close());
    return part;
  };
  try {
    const telemetry = await openTelemetry(env, log);
    if (telemetry) keep(telemetry); // closed last: until then there are spans
    const database = keep(options.database ?? (await openLedger({ ...options, inSpan: telemetry?.inQuery })));
    if (options.database) await migrate(database.pool, 'ledger', await ledgerMigrations());
    const { url, prefix } = settings.redis;
    const redis = url && keep(await openRedis({ ...settings.redis, url }, env, log));
    const store = redis
      ? createRedisStore({ redis: redis.budget, where: `${url}`, prefix })
      : await openPostgresStore({ pool: database.pool });
    const service = keep(new EmbeddedService({ database, dataDir, log }));
    const access = (name: string) => accessTo(settings, name, service, env);
    let watch: ServiceWatch | undefined;
    let metrics: Metrics | undefined;
    const onCall = (account: string, event: CallEvent) => {
      watch?.saw(account, event.outcome);
      recorder.called(account, event);
      metrics?.called(account, event);
    };
    const accounts = keep(createAccounts({ pool: database.pool, store, access, onCall, inSpan: telemetry?.inSpan }));
    const recorder = keep(recordBudgets({ pool: database.pool, budgets: accounts.budgets, log }));
    const targets = keep(
      createTargetWork({
        settings: () => settings,
        store,
        readSecret: (ref) => readSecret(ref, env),
        accounts,
        readTask: toTaskState,
        creationsOf: (target) => creationLog(database.pool, target),
        keptOf: (target) => keptSecretsOf(database.pool, target),
        pool: database.pool,
        onAttempt: (...attempt) => metrics?.attempted(...attempt),
        log,
      }),
    );

    const queueNeeds = {
      redis: redis && { connection: redis.queue, prefix },
      database: database.connection,
      log,
    };
    let runner: Promise<Runner> | undefined;
    let sharedQueue: SharedQueue | undefined;
    const theQueue = (): SharedQueue => (sharedQueue ??= keep(openQueue(queueNeeds)));
    let scheduler: Scheduler | undefined;
    let web: Console | undefined;
    let isDelivering = false;
    let alerting: ReturnType<typeof startAlerting> | undefined;
    const startSync = (...start: StartArguments) => startSyncRun({ database, settings, accounts }, ...start);
    const startWorking = async (worksOn: RunnerNeeds['worksOn']): Promise<Runner> => {
      const queue = worksOn === 'every-run' ? theQueue() : keep(createOwnQueue({ log }));
      const patienceMs = (account: string) => settings.accounts[account]?.patienceMs ?? 0; // no account: no service to wait for
      const { pool } = database;
      const onStopped = async (id: string): Promise<void> => {
        const run = await readRun(pool, id);
        const report = await reportRun(pool, run, settings);
        if (worksOn === 'every-run') logStop(log, run, report); // a command prints how its run ended
        metrics?.runStopped(run, report);
        telemetry?.runStopped(run);
      };
      const jobs = telemetry?.traceJobs(catalog.jobs) ?? catalog.jobs;
      const needs = { pool, queue, accounts, targets, catalog: { jobs }, log, worksOn, patienceMs, onStopped };
      return keep(await startRunner(needs));
    };
    const work: Workspace['work'] = async (on = 'every-run') => {
      const last = runner;
      // A command closes its runner when a run stops, and may work on another run, such as an audit.
      if ((await last)?.isClosed() && runner === last) runner = undefined;
      runner ??= startWorking(on);
      return runner;
    };
    const deliver: Workspace['deliver'] = async (names) => {
      const running = await work();
      if (!isDelivering) keep({ close: targets.stopDelivering }); // before the runner stops
      isDelivering = true;
      targets.deliver(names, running);
    };
    const alert: Workspace['alert'] = async () => {
      const { worker } = await work();
      if (alerting) await alerting.close();
      else keep({ close: async () => alerting?.close() });
      alerting = startAlerting({
        pool: database.pool,
        worker,
        channels: settings.alerts,
        findProblems: () => findProblems(database.pool, settings),
        readSecret: (ref) => readSecret(ref, env),
        complete,
        consoleUrl: settings.console.url,
        onAttempt: (...attempt) => metrics?.attempted(...attempt),
        log,
      });
    };
    const serveConsole: Workspace['serveConsole'] = async () => {
      const { startConsole } = await import('../../console/server.ts');
      const { connection, describe } = database;
      const pool = makePool({ ...connection, ...CONSOLE_CONNECTIONS }, log, telemetry?.inQuery);
      keep({ close: () => pool.end() });
      const names = () => Object.keys(settings.targets);
      web = keep(
        await startConsole({
          pool,
          database: describe,
          names,
          targets,
          settings: () => settings,
          checkSettings: () => checkSettings(settings, env),
          startSync,
          budgets: accounts.budgets,
          accounts,
          openAccount: accounts.open,
          examine: (account, options) => examineAccount({ pool, settings, accounts }, account, options),
          queue: theQueue,
          dataDir,
          readSecret: (ref) => readSecret(ref, env),
          hint: complete,
          log,
        }),
      );
      return web;
    };
    const takeOver: Workspace['takeOver'] = async (given) => {
      const after = await withSharedBudgets(given, env);
      const changes = changesBetween(settings, after);
      settings = takeable(settings, after);
      for (const name of [...changes.accounts.changed, ...changes.accounts.removed]) accounts.renew(name);
      if (changes.isAny) await targets.renew();
      if (changes.isAny) await web?.renew();
      return changes;
    };
    const startAuditing = async (): Promise<void> => {
      const { attend } = await work();
      keep(keepAuditing({ pool: database.pool, accounts: () => Object.keys(settings.accounts), attend, log }));
    };
    return {
      get settings() {
        return settings;
      },
      takeOver,
      database,
      accounts,
      service,
      openTarget: targets.open,
      startSync,
      work,
      deliver,
      alert,
      serveConsole,
      keepAuditing: startAuditing,
      keepPruning: () => void keep(keepPruning(database.pool, () => settings, log)),
      watchServices() {
        watch ??= keep(watchServices({ pool: database.pool, open: accounts.open, log }));
        watch.watch(Object.values(settings.accounts).flatMap(({ name, url }) => (url === undefined ? [] : [name])));
      },
      keepSchedules: () => keepSchedules(database.pool, scheduledIn(settings)),
      startDueSyncs() {
        scheduler = keep(startDueSyncs({ pool: database.pool, begin: dueStarter(startSync, log), log }));
      },
      async serveHealth(address, isStarted) {
        const [{ createMetrics }, { serveHealth }] = await Promise.all([
          import('./metrics.ts'),
          import('./health-server.ts'),
        ]);
        const { pool } = database;
        const queue = () => sharedQueue;
        metrics = createMetrics({ pool, accounts, queue, settings: () => settings });
        const ready = () => checkReadiness({ isStarted, pool, queue, scheduler: () => scheduler });
        return keep(await serveHealth({ address, ready, metrics, log }));
      },
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}
