/** A database whose clock a test sets: unqualified calls of clock_timestamp() and now() find these functions first. */
import type { FreshDatabase } from './database.ts';

export interface SettableClock {
  /** Moves the clock from its present time; forward is positive. */
  setBy(ms: number): Promise<void>;
}

/**
 * Applies to connections opened and tables created from now on. So call it on an empty database: the defaults of a table
 * keep the functions that they first found.
 */
export async function settableClock({ pool }: FreshDatabase): Promise<SettableClock> {
  const tables = await pool.query("select 1 from information_schema.schemata where schema_name = 'ledger'");
  if (tables.rowCount !== 0)
    throw new Error('the tables were created before their clock could be set: use emptyDatabase()');
  await pool.query(`
    create schema test_clock;
    create table test_clock.ahead (by interval not null);
    insert into test_clock.ahead values ('0');
    create function test_clock.clock_timestamp() returns timestamptz language sql volatile as
      $$ select pg_catalog.clock_timestamp() + by from test_clock.ahead $$;
    create function test_clock.now() returns timestamptz language sql volatile as
      $$ select pg_catalog.now() + by from test_clock.ahead $$;
    do $$ begin
      execute format('alter database %I set search_path = test_clock, pg_catalog, public', current_database());
    end $$`);
  const client = await pool.connect();
  client.release(true); // opened before the path was set
  return {
    async setBy(ms) {
      await pool.query(`update test_clock.ahead set by = by + $1 * interval '1 ms'`, [ms]);
    },
  };
}
