/**
 * All processes of a database decide budgets in one store: two stores would each grant the whole budget. As long as a process
 * runs, one of its sessions has a shared advisory lock that names its store, so a process with another store sees it.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { wrongUse } from '../../base/errors.ts';
import { type Repeated, repeat } from '../../base/repeat.ts';
import { makePool } from '../../storage/pool.ts';

export interface OneStoreOptions {
  /** Of the database that the processes share. */
  readonly connection: pg.PoolConfig;
  /** The prefix of its keys in Redis; undefined: the store is Postgres. */
  readonly redisPrefix: string | undefined;
  readonly log?: Logger;
}

/** The first half of these locks' key; the second is the hash of the store. */
const LOCKS = 0x6c73_6275;
const POSTGRES = 'Postgres';
/** How soon a lock is taken again that was lost with its session. */
const LOOK_MS = 2_000;

/** @throws LockstepError BUDGET_STORES, exit code 2, while a process runs whose store is another one */
export async function useOneStore({ connection, redisPrefix, log }: OneStoreOptions): Promise<Repeated> {
  const store = redisPrefix === undefined ? POSTGRES : `Redis ${redisPrefix}`;
  const pool = makePool({ ...connection, max: 1, idleTimeoutMillis: 0 }, log);
  pool.on('connect', (db) => {
    db.query('select pg_advisory_lock_shared($1, hashtext($2))', [LOCKS, store]).catch(() => undefined); // the next query fails, too
  });
  const others = await pool
    .query<{ isPostgres: boolean }>(
      `select objid::int = hashtext($3) as "isPostgres" from pg_locks
       where locktype = 'advisory' and classid::int = $1 and objsubid = 2 and objid::int <> hashtext($2)
         and database = (select oid from pg_database where datname = current_database()) limit 1`,
      [LOCKS, store, POSTGRES],
    )
    .catch(async (error: unknown) => {
      await pool.end();
      throw error;
    });
  const [other] = others.rows;
  if (other) {
    await pool.end();
    throw otherStore(redisPrefix, other.isPostgres);
  }
  const looking = repeat(() => pool.query('select 1'), { pauseMs: () => LOOK_MS, failed: () => undefined }); // other parts report it
  let closing: Promise<void> | undefined;
  return {
    close() {
      closing ??= looking.close().then(() => pool.end());
      return closing;
    },
  };
}

function otherStore(redisPrefix: string | undefined, isPostgres: boolean) {
  const own = redisPrefix === undefined ? 'in Postgres' : `in Redis, with the prefix ${redisPrefix}`;
  const theirs = isPostgres ? 'in Postgres' : redisPrefix === undefined ? 'in Redis' : 'in Redis, with another prefix';
  return wrongUse(
    `Another process on this database keeps the rate budgets ${theirs}; this one would keep them ${own}, and together they would ` +
      'exceed them. Give all processes the same redis.url (or REDIS_URL) and redis.prefix, or stop the others first.',
    'BUDGET_STORES',
  );
}
