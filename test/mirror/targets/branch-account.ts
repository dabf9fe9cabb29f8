/** The account of a harness as a target: its tasks, and targets that deliver to them. */
import { afterAll, afterEach, beforeAll } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import { type Client, createClient } from '../../../src/client/call/client.ts';
import { type Dialect, dialectSchema } from '../../../src/client/call/dialect.ts';
import type { OperationName } from '../../../src/contract/operations.ts';
import type { DeliveryOutcome, Target } from '../../../src/contract/target.ts';
import { AccountSuspended } from '../../../src/engine/ledger/scopes/suspensions.ts';
import { creationLog } from '../../../src/mirror/outbox/creations.ts';
import { openService } from '../../../src/mirror/targets/service/service.ts';
import type { ServiceAccount } from '../../../src/mirror/targets/service/service-account.ts';
import { toTaskState } from '../../../src/mirror/tasks/task-state.ts';
import { ensureTenant } from '../../../src/service/tenants.ts';
import type { BehaviourOptions } from '../../../src/service/testbed/behaviour.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { freeBudget } from '../../support/free-budget.ts';
import { type Harness, openHarness, TEST_KEY } from '../../support/harness/harness.ts';
import { context, deliveryOf } from '../../support/item-vendor.ts';

export interface ThereTask {
  readonly id: string;
  readonly taskName: string;
  readonly description: string;
  readonly isCompleted: boolean;
  readonly startDate?: string;
}

export interface BranchOptions {
  readonly behaviour?: BehaviourOptions;
  readonly dialect?: Partial<Dialect>;
  readonly settleMs?: number;
  readonly timeoutMs?: number;
  readonly lookAfterMs?: readonly number[];
  /** What a look at the key finds. Default: what the service answers. */
  readonly keyCheck?: Awaited<ReturnType<ServiceAccount['checkKey']>>;
}

export type Branch = Awaited<ReturnType<typeof openBranch>>;

/** Empties the harness first; another tenant has one task. */
export async function openBranch(harness: Harness, options: BranchOptions = {}) {
  const { behaviour = {}, settleMs = 60_000, timeoutMs = 5_000, lookAfterMs = [0] } = options;
  const { pool } = harness.database;
  await harness.reset();
  const service = await harness.anotherService(behaviour);
  const putInto = async (tenantId: number, tasks: readonly Record<string, unknown>[]): Promise<string[]> => {
    const { rows } = await pool.query<{ id: string }>(
      `insert into service.tasks (tenant_id, fields) select $1, fields from unnest($2::jsonb[]) as t(fields)
       returning id::text as id`,
      [tenantId, tasks.map((task) => JSON.stringify(task))],
    );
    return rows.map(({ id }) => id);
  };
  const other = await ensureTenant(pool, 'other');
  await putInto(other.id, [{ taskName: 'of another tenant', isCompleted: false }]);
  const dialect = dialectSchema.parse(options.dialect ?? {});
  const clients: Client[] = [];
  let account: ServiceAccount | undefined;
  const opened: Target[] = [];
  let apiKey = TEST_KEY;
  let suspended: string | undefined;

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
        if (options.keyCheck !== undefined) return options.keyCheck;
        if (looked.status === 'applied') return { status: 'accepted' };
        return { status: 'refused', refused: { message: 'the key is refused: correct accounts.branch.apiKey' } };
      },
      async suspend(why) {
        suspended = why;
      },
    };
  };

  return {
    pool,
    /** Only calls of the target are counted. */
    calls: (operation: OperationName) => service.traffic.total(operation),
    /** A target as a new process opens it: with no memory of an earlier one. */
    open(given: Partial<SettingsOf<'service'>> = {}): Target {
      const settings: SettingsOf<'service'> = {
        name: 'out',
        type: 'service',
        account: 'branch',
        create: true,
        columns: {},
        concurrency: 100,
        ...given,
      };
      const target = openService(settings, {
        accounts: {
          async use(name) {
            if (name !== 'branch') throw new LockstepError('SECRET_MISSING', `no key of ${name}`);
            if (suspended !== undefined) throw new AccountSuspended(name, suspended);
            account ??= openAccount();
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
    /** Makes the key that the account uses wrong, or right again; it is opened again, and not suspended any more. */
    useKey(key: 'right' | 'wrong'): void {
      apiKey = key === 'right' ? TEST_KEY : 'canary-wrong-key';
      [account, suspended] = [undefined, undefined];
    },
    /** Adds tasks to the account and returns their ids. */
    put: (tasks: readonly Record<string, unknown>[]) => putInto(harness.tenantId, tasks),
    /** The tasks of the account, the oldest first. */
    async there(): Promise<readonly ThereTask[]> {
      const { rows } = await pool.query(
        'select id::text as id, fields from service.tasks where tenant_id = $1 order by id',
        [harness.tenantId],
      );
      return rows.map(({ id, fields }) => ({ id, ...fields }));
    },
    /** Makes the creations in the ledger this much older. */
    async age(ms: number): Promise<void> {
      await pool.query(`update ledger.creations set at = at - $1 * interval '1 ms'`, [ms]);
    },
    async close(): Promise<void> {
      await Promise.all(opened.map((target) => target.close()));
      await Promise.all(clients.map((client) => client.close()));
      await service.close();
    },
  };
}

/** An account that tasks are mirrored to: a new one for each test of a file. */
export class BranchBed {
  harness!: Harness; // safe: opened before the tests
  branch!: Branch; // safe: `begin` opens one

  constructor() {
    beforeAll(async () => {
      this.harness = await openHarness();
    });
    afterAll(() => this.harness.close());
    afterEach(() => this.branch.close());
  }

  readonly begin = async (options?: BranchOptions): Promise<Target> => {
    this.branch = await openBranch(this.harness, options);
    return this.branch.open();
  };
}

export function deliver(target: Target, isCompleted: boolean, itemId?: string, id = '12'): Promise<DeliveryOutcome> {
  return target.deliver(deliveryOf({ isCompleted, id }, { itemId }), context());
}
