/** An empty database for each test of a file, and the Postgres target that writes into it. */
import { afterEach, beforeEach } from 'vitest';
import type { CallContext, Delivery, DeliveryOutcome, Target, TaskState } from '../../../src/contract/target.ts';
import { openPostgres } from '../../../src/mirror/targets/postgres/postgres.ts';
import type { SettingsOf } from '../../../src/settings/schema-target.ts';
import { emptyDatabase, type FreshDatabase } from '../../support/database.ts';
import { context, deliveryOf, readSecret, secretRef } from '../../support/item-vendor.ts';

export const PASSWORD = 'canary-hush-51c0';
export const NAME = 'public.lockstep_tasks';
export const TABLE = '"public"."lockstep_tasks"';

/** For the file that calls it. */
export function openWarehouse() {
  let database: FreshDatabase;
  let opened: Target[];

  beforeEach(async () => {
    opened = [];
    database = await emptyDatabase();
  });

  afterEach(async () => {
    await Promise.all(opened.map((target) => target.close()));
    await database.close();
  });

  function urlFor(user = String(database.connection.user), at = database.connection): string {
    return `postgres://${user}:${PASSWORD}@${encodeURIComponent(String(at.host))}:${at.port}/${at.database}`;
  }

  return {
    /** Of the current test. */
    get database() {
      return database;
    },
    urlFor,
    /** `read`: the secrets; default: what a reference of `secretRef` holds. */
    open(given: Partial<SettingsOf<'postgres'>> = {}, read = readSecret): Target {
      const settings: SettingsOf<'postgres'> = {
        name: 'warehouse',
        type: 'postgres',
        url: secretRef(urlFor(), 'targets.warehouse.url'),
        table: NAME,
        createTable: true,
        history: false,
        timeoutMs: 10_000,
        concurrency: 4,
        ...given,
      };
      const target = openPostgres(settings, { readSecret: read });
      opened.push(target);
      return target;
    },
    async rows(table = TABLE): Promise<readonly Record<string, unknown>[]> {
      const found = await database.pool.query(
        `select *, start_date::text, end_date::text from ${table} order by account, kind, task_id`,
      );
      return found.rows;
    },
  };
}

export function deliver(
  target: Target,
  task: Partial<TaskState> = {},
  given: Partial<Omit<Delivery, 'task'>> = {},
  how: CallContext = context(),
): Promise<DeliveryOutcome> {
  return target.deliver(deliveryOf(task, given), how);
}
