/** Another account of the real service as a target, over a real ledger: its records, and targets that deliver to it. */
import type pg from 'pg';
import { LockstepError } from '../../src/base/errors.ts';
import { type Client, createClient } from '../../src/client/call/client.ts';
import { type Dialect, dialectSchema } from '../../src/client/call/dialect.ts';
import type { Target } from '../../src/contract/target.ts';
import { ledgerMigrations } from '../../src/engine/ledger/migrations.ts';
import { creationLog } from '../../src/mirror/outbox/creations.ts';
import { openService } from '../../src/mirror/targets/service.ts';
import type { ServiceAccount } from '../../src/mirror/targets/service-account.ts';
import { toTaskState } from '../../src/mirror/tasks/task-state.ts';
import { startService } from '../../src/service/server.ts';
import { createKey, createTenant } from '../../src/service/tenants.ts';
import type { BehaviourOptions } from '../../src/service/testbed/behaviour.ts';
import type { SettingsOf } from '../../src/settings/target.ts';
import { migrate } from '../../src/storage/migrate.ts';
import type { FreshDatabase } from './database.ts';
import { freeBudget } from './free-budget.ts';

const KEY = 'canary-key-of-the-branch';

export interface ThereTask {
  readonly id: string;
  readonly taskName: string;
  readonly description: string;
  readonly isCompleted: boolean;
  readonly startDate?: string;
}

export interface ServiceTargetHarness {
  readonly pool: pg.Pool;
  /** The service and its behaviour; only calls of the target reach it. */
  calls(operation: 'tasks.create' | 'tasks.get' | 'tasks.getall' | 'tasks.complete'): number;
  /** A target as a new process opens it: with no memory of an earlier one. */
  open(given?: Partial<SettingsOf<'service'>>): Target;
  /** Makes the key that the target's account uses wrong, or right again. */
  useKey(key: 'right' | 'wrong'): void;
  /** Adds tasks to the account and returns their ids. */
  put(tasks: readonly Record<string, unknown>[]): Promise<string[]>;
  /** The tasks of the account, the oldest first. */
  there(): Promise<readonly ThereTask[]>;
  /** Makes the creations in the ledger this much older. */
  age(ms: number): Promise<void>;
  close(): Promise<void>;
}

export interface ServiceBedOptions {
  /** Emptied before use; closed by the caller that made it. */
  readonly database: FreshDatabase;
  readonly behaviour?: BehaviourOptions;
  readonly dialect?: Partial<Dialect>;
  readonly settleMs?: number;
  readonly timeoutMs?: number;
  readonly lookAfterMs?: readonly number[];
}

export async function openServiceTargetHarness(options: ServiceBedOptions): Promise<ServiceTargetHarness> {
  const { behaviour = {}, settleMs = 60_000, timeoutMs = 5_000, lookAfterMs = [0] } = options;
  const { pool } = options.database;
  await migrate(pool, 'ledger', await ledgerMigrations());
  const service = await startService({ pool, behaviour });
  await pool.query(
    'truncate service.tenants, service.tasks, service.commits, ledger.links, ledger.creations restart identity cascade',
  );
  const tenant = await createTenant(pool, 'branch');
  const other = await createTenant(pool, 'other');
  await createKey(pool, tenant.id, { key: KEY });
  await putInto(pool, other.id, [{ taskName: 'of another tenant', isCompleted: false }]);
  const dialect = dialectSchema.parse(options.dialect ?? {});
  const clients: Client[] = [];
  const opened: Target[] = [];
  let apiKey = KEY;

  const openAccount = (): ServiceAccount => {
    const prefix = '/api/v1' as const;
    const budget = freeBudget();
    const client = createClient({
      account: 'branch',
      baseUrl: service.url,
      apiKey,
      prefix,
      timeoutMs,
      concurrency: 8,
      budget,
      dialect,
    });
    clients.push(client);
    return {
      name: 'branch',
      client,
      dialect,
      settleMs,
      keySource: 'accounts.branch.apiKey',
      takeRetry: budget.retry,
      async checkKey() {
        const looked = await client.call('contacts.getall', { lane: 'interactive' });
        return {
          status: looked.status === 'applied' ? 'accepted' : looked.status === 'refused' ? 'refused' : 'unclear',
        };
      },
    };
  };

  return {
    pool,
    calls: (operation) => service.traffic.total(operation),
    open(given = {}) {
      const settings: SettingsOf<'service'> = {
        name: 'out',
        type: 'service',
        account: 'branch',
        create: true,
        columns: {},
        concurrency: 100,
        ...given,
      };
      let account: ServiceAccount | undefined;
      const target = openService(settings, {
        accounts: {
          async open(name) {
            if (name !== 'branch') throw new LockstepError('SECRET_MISSING', `no key of ${name}`);
            account ??= openAccount();
            return account;
          },
          async reopen() {
            account = openAccount();
            return account;
          },
        },
        readTask: toTaskState,
        creations: creationLog(pool, 'out'),
        lookAfterMs,
      });
      opened.push(target);
      return target;
    },
    useKey(key) {
      apiKey = key === 'right' ? KEY : 'canary-wrong-key';
    },
    put: (tasks) => putInto(pool, tenant.id, tasks),
    async there() {
      const { rows } = await pool.query(
        'select id::text as id, fields from service.tasks where tenant_id = $1 order by id',
        [tenant.id],
      );
      return rows.map(({ id, fields }) => ({ id, ...fields }));
    },
    async age(ms) {
      await pool.query(`update ledger.creations set at = at - $1 * interval '1 ms'`, [ms]);
    },
    async close() {
      await Promise.all(opened.map((target) => target.close()));
      await Promise.all(clients.map((client) => client.close()));
      await service.close();
    },
  };
}

async function putInto(pool: pg.Pool, tenantId: number, tasks: readonly Record<string, unknown>[]): Promise<string[]> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into service.tasks (tenant_id, fields) select $1, fields from unnest($2::jsonb[]) as t(fields)
     returning id::text as id`,
    [tenantId, tasks.map((task) => JSON.stringify(task))],
  );
  return rows.map(({ id }) => id);
}
