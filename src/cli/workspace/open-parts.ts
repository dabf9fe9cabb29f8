/** Opens what all roles of a process share, in the order in which the parts need each other. */
import type { BudgetStore } from '../../client/budget/budget.ts';
import { useOneStore } from '../../client/budget/one-store.ts';
import { openPostgresStore } from '../../client/budget/postgres-store.ts';
import { createRedisStore } from '../../client/budget/redis-store.ts';
import type { CallEvent } from '../../client/call/client.ts';
import { type Accounts, createAccounts } from '../../engine/account/accounts.ts';
import { recordBudgets } from '../../engine/account/budget-recorder.ts';
import type { ServiceWatch } from '../../engine/account/service-watch.ts';
import { ledgerMigrations } from '../../engine/ledger/migrations.ts';
import type { QueueNeeds } from '../../engine/worker/queue-backend.ts';
import { keptSecretsOf } from '../../mirror/inbound/ledger-secrets.ts';
import { creationLog } from '../../mirror/outbox/creations.ts';
import { toTaskState } from '../../mirror/tasks/task-state.ts';
import type { Hidden } from '../../settings/hidden.ts';
import { readSecret } from '../../settings/secrets.ts';
import type { Settings } from '../../settings/settings.ts';
import { withSharedBudgets } from '../../settings/shared-accounts.ts';
import { migrate } from '../../storage/migrate.ts';
import type { Database } from '../../storage/open.ts';
import { makePool } from '../../storage/pool.ts';
import { accessTo } from './account-access.ts';
import { EmbeddedService } from './embedded-service.ts';
import type { Metrics } from './metrics.ts';
import { openLedger, type StoreOptions } from './open-store.ts';
import { openTelemetry } from './open-telemetry.ts';
import { createTargetWork, type TargetWork } from './target-work.ts';
import type { Telemetry } from './telemetry.ts';

export interface WorkspaceOptions extends StoreOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Opened by the caller and closed with the workspace. Default: the database of the settings. */
  readonly database?: Database;
  /** Adds to a command in an alert, or in the console, what this process was started with. Default: nothing. */
  readonly complete?: (command: string) => string;
}

/** Has a part closed with the workspace: the last one first. */
export type Keep = <T extends { close(): Promise<void> }>(part: T) => T;

/** What the parts look up whenever they need it. */
export interface Present {
  /** As they were last taken over. */
  settings: Settings;
  /** Told about every call, once there are some. */
  watch?: ServiceWatch;
  metrics?: Metrics;
}

export interface Parts {
  readonly present: Present;
  readonly telemetry: Telemetry | undefined;
  readonly database: Database;
  readonly queueNeeds: QueueNeeds;
  readonly service: EmbeddedService;
  readonly accounts: Accounts;
  readonly targets: TargetWork;
}

/** Targets that a process asks for tokens at the same time, with a connection each. */
const MOST_ASKING = 20;

export async function openParts(options: WorkspaceOptions, keep: Keep): Promise<Parts> {
  const { dataDir, env, log } = options;
  const present: Present = { settings: await withSharedBudgets(options.settings, env) };
  const telemetry = await openTelemetry(env, log);
  if (telemetry) keep(telemetry); // closed last: until then there are spans
  const database = keep(options.database ?? (await openLedger({ ...options, inSpan: telemetry?.inQuery })));
  if (options.database) await migrate(database.pool, 'ledger', await ledgerMigrations());
  const { pool } = database;
  const { redis: redisSettings } = present.settings;
  const { url, prefix } = redisSettings;
  const connect = async (url: Hidden) => {
    const { openRedis } = await import('../../engine/worker/redis.ts'); // its client takes long to load
    return openRedis({ ...redisSettings, url }, env, log);
  };
  const redis = url && keep(await connect(url));
  const store: BudgetStore = redis
    ? createRedisStore({ redis: redis.budget, where: `${url}`, prefix })
    : await openPostgresStore({ pool });
  keep(await useOneStore({ connection: database.connection, redisPrefix: redis ? prefix : undefined, log }));
  const service = keep(new EmbeddedService({ database, dataDir, log }));
  const access = (name: string) => accessTo(present.settings, name, service, env);
  const onCall = (account: string, event: CallEvent) => {
    present.watch?.saw(account, event.outcome);
    recorder.called(account, event);
    present.metrics?.called(account, event);
  };
  const accounts = keep(createAccounts({ pool, store, access, onCall, inSpan: telemetry?.inSpan }));
  const recorder = keep(recordBudgets(pool, accounts.budgets, log));
  const calling = makePool({ ...database.connection, max: MOST_ASKING }, log, telemetry?.inQuery);
  keep({ close: () => calling.end() });
  const targets = keep(
    createTargetWork({
      settings: () => present.settings,
      store,
      readSecret: (ref) => readSecret(ref, env),
      accounts,
      readTask: toTaskState,
      creationsOf: (target) => creationLog(pool, target),
      keptOf: (target) => keptSecretsOf(pool, target, calling),
      pool,
      onAttempt: (...attempt) => present.metrics?.attempted(...attempt),
      log,
    }),
  );
  const queueNeeds = {
    redis: redis && { connection: redis.queue, prefix, withoutWaiting: redis.withoutWaiting },
    database: database.connection,
    log,
  };
  return { present, telemetry, database, queueNeeds, service, accounts, targets };
}
