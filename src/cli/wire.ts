/**
 * The composition root: the only module that puts the rooms together. A workspace is everything one process needs to work on
 * runs; parts that a command does not use are never opened.
 */
import { catalog } from '../../jobs/catalog.ts';
import { LockstepError } from '../base/errors.ts';
import type { Lane } from '../client/budget/budget.ts';
import { openPostgresStore } from '../client/budget/postgres-store.ts';
import { createRedisStore } from '../client/budget/redis-store.ts';
import { type AccountAccess, type Accounts, createAccounts } from '../engine/account/accounts.ts';
import { keepAuditing } from '../engine/account/audits.ts';
import { ledgerMigrations } from '../engine/ledger/migrations.ts';
import { startRun } from '../engine/ledger/runs.ts';
import { isBound, scopeNamed } from '../engine/ledger/scopes.ts';
import { createOwnQueue } from '../engine/worker/own-queue.ts';
import { openQueue } from '../engine/worker/queue.ts';
import { openRedis } from '../engine/worker/redis.ts';
import { type Runner, type RunnerNeeds, startRunner } from '../engine/worker/runner.ts';
import { openSchedules, type Schedules } from '../engine/worker/schedules.ts';
import { type Console, startConsole } from '../mirror/inbound/hook-server.ts';
import { startReporting } from '../mirror/inbound/reporting.ts';
import { creationLog } from '../mirror/outbox/creations.ts';
import { startDelivering } from '../mirror/outbox/delivering.ts';
import { openTargets } from '../mirror/targets/open-targets.ts';
import { toTaskState } from '../mirror/tasks/task-state.ts';
import { readSecret } from '../settings/secrets.ts';
import { accountNamed, type Settings, syncNamed, targetNamed } from '../settings/settings.ts';
import { withSharedBudgets } from '../settings/shared-accounts.ts';
import { migrate } from '../storage/migrate.ts';
import type { Database } from '../storage/open.ts';
import { EmbeddedService } from './embedded-service.ts';
import { keepPruning } from './retention.ts';
import { openLedger, type StoreOptions } from './store.ts';

export interface WorkspaceOptions extends StoreOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened by the caller and closed with the workspace. Default: the database of the settings. */
  readonly database?: Database;
}

export interface Workspace {
  readonly settings: Settings;
  readonly database: Database;
  readonly accounts: Accounts;
  readonly service: EmbeddedService;
  /** Starts a run of a sync, or returns the unfinished run that blocks it. */
  startSync(name: string, how: StartHow): Promise<Awaited<ReturnType<typeof startRun>>>;
  /**
   * Works on runs in this process until the workspace is closed: on every unfinished run, or only on attended runs and the
   * runs that they need. The first call decides.
   */
  work(on?: RunnerNeeds['worksOn']): Promise<Runner>;
  /** Delivers changes to these targets, and applies what the targets report, until the workspace is closed. */
  deliver(targets: readonly string[]): Promise<void>;
  /** Accepts calls from outside systems at the address of the settings, until the workspace is closed. */
  serveConsole(): Promise<Console>;
  /** Replaces the saved schedules with the schedules of the settings. */
  keepSchedules(): Promise<void>;
  /** Makes the audits of all accounts as they become due, until the workspace is closed. */
  keepAuditing(): Promise<void>;
  /** Deletes what is older than the settings keep it, until the workspace is closed. */
  keepPruning(): void;
  /** Starts syncs as they become due, until the workspace is closed. */
  startDueSyncs(): void;
  /** Idempotent. */
  close(): Promise<void>;
}

export interface StartHow {
  readonly lane: Lane;
  readonly dryRun: boolean;
  /** For a sync of tasks: reads the items of its targets back, even if its settings do not enable that. */
  readonly reconcile?: boolean;
}

export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { dataDir, env, log } = options;
  const settings = await withSharedBudgets(options.settings, env);
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
    const database = keep(options.database ?? (await openLedger(options)));
    if (options.database) await migrate(database.pool, 'ledger', await ledgerMigrations());
    const redisUrl = settings.redis.url?.reveal();
    const redis = redisUrl === undefined ? undefined : keep(await openRedis(redisUrl, log));
    const { prefix } = settings.redis;
    const store = redis
      ? createRedisStore({ redis: redis.budget, prefix })
      : await openPostgresStore({ pool: database.pool });
    const service = keep(new EmbeddedService({ database, dataDir, log }));
    const access = (name: string) => accessTo(settings, name, service, env);
    const accounts = keep(createAccounts({ pool: database.pool, store, access }));
    const targets = keep(
      openTargets({
        settings: settings.targets,
        store,
        readSecret: (ref) => readSecret(ref, env),
        accounts,
        readTask: toTaskState,
        creationsOf: (target) => creationLog(database.pool, target),
      }),
    );

    const queueNeeds = {
      redis: redis && { connection: redis.queue, prefix },
      database: database.connection,
      log,
    };
    let schedules: Schedules | undefined;
    const useSchedules = (): Schedules => {
      schedules ??= keep(openSchedules(queueNeeds));
      return schedules;
    };
    let runner: Promise<Runner> | undefined;
    const startSync: Workspace['startSync'] = (name, how) => startSyncRun({ database, settings, accounts }, name, how);
    const startWorking = async (worksOn: RunnerNeeds['worksOn']): Promise<Runner> => {
      const queue = keep(worksOn === 'every-run' ? openQueue(queueNeeds) : createOwnQueue({ log }));
      const patienceMs = (account: string) => settings.accounts[account]?.patienceMs ?? 0; // no account: no service to wait for
      const { pool } = database;
      return keep(await startRunner({ pool, queue, accounts, targets, catalog, log, worksOn, patienceMs }));
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
      // Twice the calls in flight: the other half waits at the target's budget, so that every token is used at once.
      const concurrencyOf = (name: string) => 2 * targets.concurrencyOf(name);
      const { pool } = database;
      keep(startDelivering({ pool, worker, runs, targets: { open: targets.open, concurrencyOf }, names, log }));
      const syncs = Object.values(settings.syncs).filter((sync) => sync.type === 'tasks');
      keep(startReporting({ pool, accounts, syncs, targets, names, runs, log }));
    };
    const serveConsole: Workspace['serveConsole'] = async () => {
      const { host, port } = settings.console;
      const names = Object.keys(settings.targets);
      return keep(await startConsole({ pool: database.pool, names, targets, host, port, log }));
    };
    const startAuditing = async (): Promise<void> => {
      const { attend } = await work();
      keep(keepAuditing({ pool: database.pool, accounts: Object.keys(settings.accounts), attend, log }));
    };
    return {
      settings,
      database,
      accounts,
      service,
      startSync,
      work,
      deliver,
      serveConsole,
      keepAuditing: startAuditing,
      keepPruning: () => void keep(keepPruning(database.pool, settings, log)),
      keepSchedules: () => keepSchedules(useSchedules(), settings),
      startDueSyncs: () => {
        const begin = async (sync: string) => {
          const begun = await startSync(sync, { lane: 'batch', dryRun: false });
          if (begun.status === 'busy')
            log.warn({ sync, run: begun.run.id }, 'not started: an earlier run is unfinished');
        };
        keep(useSchedules().beginDue(begin));
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
  // An account that was never opened has no scope yet. If it cannot be opened here, the run's worker reports why.
  if (!(await isBound(database.pool, sync.account))) await accounts.open(sync.account).catch(() => undefined);
  const type = catalog.syncTypes[sync.type];
  return startRun(database.pool, {
    sync: name,
    job: sync.type,
    account: sync.account,
    scope: await scopeNamed(database.pool, sync.account),
    resource: type.resource ?? `sync:${name}`,
    options:
      sync.type === 'tasks'
        ? { ...sync.options, targets: sync.targets, ...(reconcile && { reconcile }) }
        : sync.options,
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
