/** Runs work in one transaction: all of it is committed, or none. */
import type pg from 'pg';
import { codeOf, LockstepError } from '../base/errors.ts';
import { READ_ONLY } from './errors.ts';

/** Where several statements can be committed together: the pool, or one connection inside a transaction. */
export type Transactional = pg.Pool | pg.PoolClient;

/**
 * Runs `work` in a transaction on a connection of its own and returns its result once it is committed; rolls back if it
 * throws. Throws what `work` throws, the database's errors, and TRANSACTION_ROLLED_BACK when `work` continued after an error
 * that had already ended the transaction: Postgres answers such a commit with a silent rollback.
 */
export async function inTransaction<T>(pool: pg.Pool, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  const db = await pool.connect();
  let broken: Error | undefined;
  try {
    await db.query('begin');
    const result = await work(db);
    const ended = await db.query('commit');
    if (ended.command !== 'COMMIT') {
      throw new LockstepError(
        'TRANSACTION_ROLLED_BACK',
        'A statement failed within a transaction and its error was ignored, so Postgres kept nothing of it.',
      );
    }
    return result;
  } catch (error) {
    // After a failover, a connection may lead to the former primary, which only reads now.
    if (codeOf(error) === READ_ONLY) broken = error as Error; // safe: a database error
    await db.query('rollback').catch((cause: Error) => {
      broken = cause; // the first error is the one to report; this connection is unusable
    });
    throw error;
  } finally {
    db.release(broken);
  }
}

/** Runs `work` in the transaction of `db`, or in one of its own if `db` is the pool. */
export function together<T>(db: Transactional, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  return 'release' in db ? work(db) : inTransaction(db, work);
}

/**
 * Runs `work` in a transaction, as the only one of this name at the database: the others wait. `work` may wait for calls,
 * for at most six minutes each.
 */
export function alone<T>(pool: pg.Pool, name: string, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, async (db) => {
    await db.query(`set local idle_in_transaction_session_timeout = '6min'`);
    await db.query('select pg_advisory_xact_lock(hashtextextended($1, 0))', [name]);
    return work(db);
  });
}
