/** The budget's store in Postgres: one row a key, decided by functions on the database's clock (migrations). */
import type pg from 'pg';
import { type Migration, migrate, readMigrations } from '../../storage/migrate.ts';
import type { BudgetStore } from './budget.ts';
import { acquireValues, congestionValues, readCut, readGrant, readRetry } from './store-wire.ts';

export interface PostgresStoreOptions {
  /** Opened and closed by the caller; may be shared. */
  readonly pool: pg.Pool;
}

const ACQUIRE = `select * from budget.acquire($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
  nullif($13, ''), $14, $15, $16, $17, $18)`;

export function budgetMigrations(): Promise<readonly Migration[]> {
  return readMigrations(new URL('migrations/', import.meta.url));
}

/** Creates the `budget` schema if it is missing. Throws what `pg` throws when the database is unreachable. */
export async function openPostgresStore({ pool }: PostgresStoreOptions): Promise<BudgetStore> {
  await migrate(pool, 'budget', await budgetMigrations());
  /** Each statement is prepared once per connection, because these are the most frequent statements. */
  const ask = async (name: string, text: string, values: unknown[]): Promise<unknown> => {
    const { rows } = await pool.query({ name: `lockstep-budget-${name}`, text, values, rowMode: 'array' });
    return rows[0];
  };

  return {
    name: 'Postgres',
    remedy: 'check that it runs and that database.url (or DATABASE_URL) is right',
    acquire: async (key, request) =>
      readGrant(await ask('acquire', ACQUIRE, [key, ...acquireValues(request)]), request.cost),
    block: async (key, forMs) => void (await ask('block', 'select budget.block($1, $2)', [key, forMs * 1000])),
    limited: async (key, congestion) => {
      const text = 'select * from budget.limited($1, $2, $3, $4, $5)';
      return readCut(await ask('limited', text, [key, ...congestionValues(congestion)]));
    },
    async holders(key) {
      const { rows } = await pool.query<{ holder: string }>('select holder from budget.holders where key = $1', [key]);
      return rows.map(({ holder }) => holder);
    },
    async forget(key, holder) {
      await pool.query('delete from budget.holders where key = $1 and holder = $2', [key, holder]);
    },
    retry: async (key, successes) =>
      readRetry(await ask('retry', 'select * from budget.retry($1, $2)', [key, successes])),
  };
}
