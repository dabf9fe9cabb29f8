/**
 * The budget's store in Postgres: one row a key, decided by a function on the database's clock. Mirrors arithmetic.ts.
 */
import type pg from 'pg';
import { z } from 'zod';
import { migrate } from '../database/migrate.ts';
import { demandOf } from './arithmetic.ts';
import type { BudgetStore, Grant } from './budget.ts';
import { budgetMigrations } from './postgres-schema.ts';

export interface PostgresStoreOptions {
  /** Opened and closed by the caller; may be shared. */
  readonly pool: pg.Pool;
}

const acquireReply = z.object({
  granted: z.number(),
  now_us: z.number(),
  first_in_us: z.number(),
  retry_in_us: z.number(),
  blocked_for_us: z.number(),
});

/** Creates the `budget` schema where it is missing. Throws what `pg` throws when the database is away. */
export async function openPostgresStore({ pool }: PostgresStoreOptions): Promise<BudgetStore> {
  await migrate(pool, 'budget', budgetMigrations);

  return {
    name: 'Postgres',
    remedy: 'check that it runs and that database.url (or DATABASE_URL) is right',

    async acquire(key, request): Promise<Grant> {
      const { lane, want, cost, intervalUs, burst, aheadUs, withinUs, share } = demandOf(request);
      const { rows } = await pool.query({
        name: 'lockstep-budget-acquire', // prepared once a connection: this is the busiest statement there is
        text: 'select * from budget.acquire($1, $2, $3, $4, $5, $6, $7, $8, $9)',
        values: [key, lane, want, cost, intervalUs, burst, aheadUs, withinUs, share],
      });
      const reply = acquireReply.parse(rows[0]);
      return {
        granted: reply.granted,
        storeNowMs: reply.now_us / 1000,
        usableInMs: reply.first_in_us / 1000,
        intervalMs: (cost * intervalUs) / 1000,
        retryInMs: reply.retry_in_us / 1000,
        blockedForMs: reply.blocked_for_us / 1000,
      };
    },

    async block(key, forMs): Promise<void> {
      await pool.query('select budget.block($1, $2)', [key, forMs * 1000]);
    },
  };
}
