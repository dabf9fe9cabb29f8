import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { makePool } from '../../src/storage/pool.ts';
import { inTransaction } from '../../src/storage/transaction.ts';
import { emptyDatabase } from '../support/database.ts';

const fresh = await emptyDatabase();
await fresh.pool.query('create table things (id int primary key)');
beforeEach(() => fresh.pool.query('truncate things'));
afterAll(() => fresh.close());

async function things(): Promise<unknown[]> {
  return (await fresh.pool.query('select id from things')).rows.map(({ id }) => id);
}

test('keeps the work of a successful transaction and returns its result', async () => {
  const result = await inTransaction(fresh.pool, async (db) => {
    await db.query('insert into things values (1)');
    return 'done';
  });
  expect([result, await things()]).toEqual(['done', [1]]);
});

test('rolls back when the work throws, and throws its error', async () => {
  const work = inTransaction(fresh.pool, async (db) => {
    await db.query('insert into things values (1)');
    throw new Error('on second thought');
  });
  await expect(work).rejects.toThrow('on second thought');
  expect(await things()).toEqual([]);
});

test('a connection to a server that only reads now, as after a failover, is not used again', async () => {
  const pool = makePool({ ...fresh.connection, max: 1 });
  onTestFinished(() => pool.end());
  await pool.query('set default_transaction_read_only = on');
  const insert = () => inTransaction(pool, (db) => db.query('insert into things values (1)'));
  await expect(insert()).rejects.toThrow('read-only transaction');
  await insert();
  expect(await things()).toEqual([1]);
});

test('reports work that ignores a failed statement, because nothing was kept', async () => {
  const work = inTransaction(fresh.pool, async (db) => {
    await db.query('insert into things values (1)');
    await db.query('insert into things values (1)').catch(() => undefined);
  });
  await expect(work).rejects.toMatchObject({ code: 'TRANSACTION_ROLLED_BACK' });
  expect(await things()).toEqual([]);
});

test('reports a lost connection as such and does not use it again', async () => {
  const work = inTransaction(fresh.pool, (db) => db.query('select pg_terminate_backend(pg_backend_pid())'));
  await expect(work).rejects.toThrow('terminating connection');
  const all = Array.from({ length: 10 }, (_, id) => inTransaction(fresh.pool, (db) => db.query('select $1', [id])));
  await expect(Promise.all(all)).resolves.toHaveLength(10);
  expect(fresh.pool.totalCount).toBe(fresh.pool.idleCount);
});
