/**
 * The budget's store in Postgres: one row a key, decided by a function on the database's clock. Mirrors arithmetic.ts.
 */
import type pg from 'pg';
import { z } from 'zod';
import { migrate } from '../database/migrate.ts';
import { demandOf } from './arithmetic.ts';
import type { BudgetStore, Cut, Grant, RetryTaken } from './budget.ts';
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
  rate: z.number(),
  slots: z.number(),
});
const limitedReply = z.object({ is_cut: z.boolean(), rate: z.number(), now_us: z.number() });
const retryReply = z.object({ is_granted: z.boolean(), retry_in_us: z.number() });

const ACQUIRE = `select * from budget.acquire(${Array.from({ length: 18 }, (_, index) => `$${index + 1}`).join(', ')})`;

/** Creates the `budget` schema where it is missing. Throws what `pg` throws when the database is away. */
export async function openPostgresStore({ pool }: PostgresStoreOptions): Promise<BudgetStore> {
  await migrate(pool, 'budget', budgetMigrations);

  return {
    name: 'Postgres',
    remedy: 'check that it runs and that database.url (or DATABASE_URL) is right',

    async acquire(key, request): Promise<Grant> {
      const { lane, want, cost, ceiling, burst, mode, withinUs, share, slots, ...rest } = demandOf(request);
      const { holder = null, seq = 0, holding = 0, wanted = 0, cap = 0, extra = 0 } = slots ?? {};
      const bucket = [key, lane, want, cost, ceiling, burst, mode, withinUs, share];
      const beside = [rest.boundRate, rest.boundForUs, rest.successes, holder, seq, holding, wanted, cap, extra];
      const { rows } = await pool.query({
        name: 'lockstep-budget-acquire-2', // prepared once a connection: this is the busiest statement there is
        text: ACQUIRE,
        values: [...bucket, ...beside],
      });
      const reply = acquireReply.parse(rows[0]);
      return {
        granted: reply.granted,
        storeNowMs: reply.now_us / 1000,
        usableInMs: reply.first_in_us / 1000,
        intervalMs: (cost * (1e6 / reply.rate)) / 1000,
        retryInMs: reply.retry_in_us / 1000,
        blockedForMs: reply.blocked_for_us / 1000,
        slots: reply.slots,
        ratePerSecond: reply.rate,
      };
    },

    async block(key, forMs): Promise<void> {
      await pool.query('select budget.block($1, $2)', [key, forMs * 1000]);
    },

    async limited(key, { forMs, admittedAtMs, pace }): Promise<Cut> {
      const values = [key, forMs * 1000, admittedAtMs * 1000, pace.ratePerSecond, pace.mode ?? 'fixed'];
      const { rows } = await pool.query('select * from budget.limited($1, $2, $3, $4, $5)', values);
      const { is_cut, rate, now_us } = limitedReply.parse(rows[0]);
      return { isCut: is_cut, ratePerSecond: rate, storeNowMs: now_us / 1000 };
    },

    async holders(key) {
      const { rows } = await pool.query<{ holder: string }>('select holder from budget.holders where key = $1', [key]);
      return rows.map(({ holder }) => holder);
    },

    async forget(key, holder): Promise<void> {
      await pool.query('delete from budget.holders where key = $1 and holder = $2', [key, holder]);
    },

    async retry(key, successes): Promise<RetryTaken> {
      const { rows } = await pool.query('select is_granted, retry_in_us from budget.retry($1, $2)', [key, successes]);
      const { is_granted, retry_in_us } = retryReply.parse(rows[0]);
      return is_granted ? { status: 'granted' } : { status: 'empty', retryAfterMs: Math.ceil(retry_in_us / 1000) };
    },
  };
}
