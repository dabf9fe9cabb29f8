/**
 * The composition root: the one place where rooms are put together. A workspace is everything one process needs to carry
 * runs on; parts that a command does not use are never opened.
 */
import { catalog } from '../../jobs/catalog.ts';
import type { Lane } from '../budget/budget.ts';
import { openPostgresStore } from '../budget/postgres-store.ts';
import { createRedisStore } from '../budget/redis-store.ts';
import { type Console, startConsole } from '../console/server.ts';
import { migrate } from '../database/migrate.ts';
import type { Database } from '../database/open.ts';
import { creationLog } from '../deliveries/creations.ts';
import { startDelivering } from '../deliveries/delivering.ts';
import { ledgerMigrations } from '../engine/ledger/migrations.ts';
import { startRun } from '../engine/ledger/runs.ts';
import { isBound, scopeNamed } from '../engine/ledger/scopes.ts';
import { LockstepError } from '../errors.ts';
import { startReporting } from '../reports/reporting.ts';
import { readSecret } from '../settings/secrets.ts';
import { accountNamed, type Settings, syncNamed, targetNamed } from '../settings/settings.ts';
import { withSharedBudgets } from '../settings/shared-accounts.ts';
import { type OpenTargets, openTargets } from '../targets/open-targets.ts';
import { toTaskState } from '../tasks/task-state.ts';
import { type AccountAccess, type Accounts, createAccounts } from '../worker/accounts.ts';
import { keepAuditing } from '../worker/audits.ts';
import { createOwnQueue } from '../worker/own-queue.ts';
import { openQueue } from '../worker/queue.ts';
import { openRedis } from '../worker/redis.ts';
import { type Runner, type RunnerNeeds, startRunner } from '../worker/runner.ts';
import { openSchedules, type Schedules } from '../worker/schedules.ts';
import { EmbeddedService } from './embedded-service.ts';
import { openLedger, type StoreOptions } from './store.ts';

export interface WorkspaceOptions extends StoreOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened by the caller and closed with the workspace; default: the one the settings name. */
  readonly database?: Database;
}

export interface Workspace {
  readonly settings: Settings;
  readonly database: Database;
  readonly accounts: Accounts;
  readonly service: EmbeddedService;
  readonly targets: OpenTargets;
  /** Starts a run of a sync, or says which unfinished one stands in its way. */
  startSync(name: string, how: StartHow): Promise<Awaited<ReturnType<typeof startRun>>>;
  /**
   * Works on runs in this process until the workspace is closed: on every unfinished one, or only on those that the
   * runner attends and those that these need. The first call decides.
   */
  work(on?: RunnerNeeds['worksOn']): Promise<Runner>;
  /** Takes changes that these runs have seen to these targets and brings back what they report, until the workspace is closed. */
  deliver(targets: readonly string[]): Promise<void>;
  /** Takes the calls of outside systems, where the settings say, until the workspace is closed. */
  serveConsole(): Promise<Console>;
  /** Puts the schedules of the settings in place of those that were kept before. */
  keepSchedules(): Promise<void>;
  /** Makes the audits of all accounts as they become due, until the workspace is closed. */
  keepAuditing(): Promise<void>;
  /** Begins the syncs that are due until the workspace is closed. */
  startDueSyncs(): void;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface StartHow {
  readonly lane: Lane;
  readonly dryRun: boolean;
  /** Of a sync of tasks: reads the items of its targets back, whatever its settings say. */
  readonly reconcile?: boolean;
}

export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { dataDir, env, log } = options;
  const settings = await withSharedBudgets(options.settings, env);
  const closers: (() => Promise<void>)[] = [];
  const closeAll = async () => {
    for (const close of closers.splice(0).reverse()) {
      // Each part is closed whatever became of the others: a lost database must not keep a port open.
      await close().catch((error: unknown) => log.error({ err: error }, 'a part did not close in good order'));
    }
  };
  try {
    const database = options.database ?? (await openLedger(options));
    closers.push(() => database.close());
    if (options.database) await migrate(database.pool, 'ledger', ledgerMigrations);
    const redisUrl = settings.redis.url?.reveal();
    const redis = redisUrl === undefined ? undefined : await openRedis(redisUrl, log);
    if (redis) closers.push(() => redis.close());
    const { prefix } = settings.redis;
    const store = redis
      ? createRedisStore({ redis: redis.budget, prefix })
      : await openPostgresStore({ pool: database.pool });
    const service = new EmbeddedService({ database, dataDir, log });
    closers.push(() => service.close());
    const access = (name: string) => accessTo(settings, name, service, env);
    const accounts = createAccounts({ pool: database.pool, store, access });
    closers.push(() => accounts.close());

    const targets = openTargets({
      settings: settings.targets,
      store,
      readSecret: (ref) => readSecret(ref, env),
      accounts,
      readTask: toTaskState,
      creationsOf: (target) => creationLog(database.pool, target),
    });
    closers.push(() => targets.close());

    const queueNeeds = {
      redis: redis && { connection: redis.queue, prefix },
      database: database.connection,
      log,
    };
    let schedules: Schedules | undefined;
    const useSchedules = (): Schedules => {
      if (schedules) return schedules;
      const opened = openSchedules(queueNeeds);
      closers.push(() => opened.close());
      schedules = opened;
      return opened;
    };
    let runner: Promise<Runner> | undefined;
    const startSync: Workspace['startSync'] = (name, how) => startSyncRun({ database, settings, accounts }, name, how);
    const startWorking = async (worksOn: RunnerNeeds['worksOn']): Promise<Runner> => {
      const queue = worksOn === 'every-run' ? openQueue(queueNeeds) : createOwnQueue({ log });
      closers.push(() => queue.close());
      const patienceMs = (account: string) => settings.accounts[account]?.patienceMs ?? 0; // no account: no service to wait for
      const { pool } = database;
      const started = await startRunner({ pool, queue, accounts, targets, catalog, log, worksOn, patienceMs });
      closers.push(() => started.close());
      return started;
    };
    const work: Workspace['work'] = (on = 'every-run') => {
      runner ??= startWorking(on);
      return runner;
    };
    const served = new Set<string>();
    const deliver: Workspace['deliver'] = async (wanted) => {
      for (const name of wanted) targetNamed(settings, name);
      const { worker, attended: runs } = await work();
      const names = wanted.filter((name) => !served.has(name));
      if (names.length === 0) return;
      for (const name of names) served.add(name);
      // As many again wait at the target's budget, which lets no more be in flight: so there is one for every token.
      const concurrencyOf = (name: string) => 2 * targets.concurrencyOf(name);
      const open = (name: string) => targets.open(name);
      const delivering = startDelivering({
        pool: database.pool,
        worker,
        runs,
        targets: { open, concurrencyOf },
        names,
        log,
      });
      closers.push(() => delivering.close());
      const syncs = Object.values(settings.syncs).filter((sync) => sync.job === 'tasks');
      const reporting = startReporting({ pool: database.pool, accounts, syncs, targets, names, runs, log });
      closers.push(() => reporting.close());
    };
    const serveConsole: Workspace['serveConsole'] = async () => {
      const { host, port } = settings.console;
      const names = Object.keys(settings.targets);
      const started = await startConsole({ pool: database.pool, names, targets, host, port, log });
      closers.push(() => started.close());
      return started;
    };
    const startAuditing = async (): Promise<void> => {
      const { attend } = await work();
      const auditing = keepAuditing({ pool: database.pool, accounts: Object.keys(settings.accounts), attend, log });
      closers.push(() => auditing.close());
    };
    return {
      settings,
      database,
      accounts,
      service,
      targets,
      startSync,
      work,
      deliver,
      serveConsole,
      keepAuditing: startAuditing,
      keepSchedules: () => keepSchedules(useSchedules(), settings),
      startDueSyncs: () => {
        const starting = useSchedules().beginDue(async (sync) => {
          const begun = await startSync(sync, { lane: 'batch', dryRun: false });
          if (begun.status === 'busy')
            log.warn({ sync, run: begun.run.id }, 'not started: an earlier run is unfinished');
        });
        closers.push(() => starting.close());
      },
      close: closeAll,
    };
  } catch (error) {
    await closeAll();
    throw error;
  }
}

async function startSyncRun(
  { database, settings, accounts }: Pick<Workspace, 'database' | 'settings' | 'accounts'>,
  name: string,
  { reconcile = false, ...how }: StartHow,
) {
  const sync = syncNamed(settings, name);
  // An account that was never opened has no scope yet. Where it cannot be opened here, the run's own worker says why.
  if (!(await isBound(database.pool, sync.account))) await accounts.open(sync.account).catch(() => undefined);
  const type = catalog.syncTypes[sync.job];
  return startRun(database.pool, {
    sync: name,
    job: sync.job,
    account: sync.account,
    scope: await scopeNamed(database.pool, sync.account),
    resource: type.resource ?? `sync:${name}`,
    options:
      sync.job === 'tasks' ? { ...sync.options, targets: sync.targets, ...(reconcile && { reconcile }) } : sync.options,
    phase: type.firstJob,
    ...how,
  });
}

async function accessTo(
  settings: Settings,
  name: string,
  service: EmbeddedService,
  env: WorkspaceOptions['env'],
): Promise<AccountAccess> {
  const account = accountNamed(settings, name);
  const key = account.apiKey && (await readSecret(account.apiKey, env));
  const embedded = account.url === undefined ? await service.access(name, key) : undefined;
  const baseUrl = embedded?.url ?? account.url;
  const apiKey = embedded?.key ?? key;
  if (baseUrl === undefined || apiKey === undefined) {
    throw new LockstepError('ACCOUNT_INCOMPLETE', `Account "${name}" has no address or no API key.`, { exitCode: 2 });
  }
  const authorization = account.authorization && {
    scheme: account.authorization.scheme,
    token: await readSecret(account.authorization.token, env),
  };
  return { settings: account, baseUrl, apiKey, authorization, embeddedTenant: embedded && name };
}

async function keepSchedules(kept: Schedules, settings: Settings): Promise<void> {
  await kept.keep(
    Object.values(settings.syncs).flatMap(({ name, schedule }) => {
      if (!schedule) return [];
      const when =
        schedule.kind === 'cron' ? { pattern: schedule.cron, tz: schedule.timezone } : { every: schedule.everyMs };
      return [{ sync: name, when }];
    }),
  );
}
