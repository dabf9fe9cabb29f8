import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { openDatabase } from '../../src/storage/open.ts';
import { emptyDatabase } from '../support/database.ts';
import { startPooler } from '../support/pooler.ts';

const fresh = await emptyDatabase();
afterAll(() => fresh.close());

/** A URL of the run's Postgres, over its Unix socket; it asks the tests for no password. */
function urlOf(database: string | undefined, user = 'tests'): string {
  return `postgres://${user}:hush@${encodeURIComponent(String(fresh.connection.host))}:5432/${database}`;
}
const dataDir = '/nonexistent';

test('postgres://…: opens it, with a pool of the given size, and shows it without the password', async () => {
  const url = urlOf(fresh.connection.database);
  const database = await openDatabase({ url, dataDir, maxConnections: 3 });
  expect(database.pool.options.max).toBe(3);
  expect(database.describe).toBe(`the Postgres ${url.replace('hush', '***')}`);
  await database.close();
});

test('no connection compiles its statements, which costs seconds where Postgres comes with a compiler', async () => {
  const database = await openDatabase({ url: urlOf(fresh.connection.database), dataDir });
  const bare = new pg.Client(fresh.connection);
  await bare.connect();
  const { rows: usual } = await bare.query('show jit');
  const { rows } = await database.pool.query('show jit');
  await Promise.all([database.close(), bare.end()]);
  expect([usual, rows]).toEqual([[{ jit: 'on' }], [{ jit: 'off' }]]);
});

test('a bigint is a number where a number can hold it, and text where it cannot', async () => {
  const { rows } = await fresh.pool.query(
    `select count(*) as n, 9007199254740991::int8 as most, 9007199254740992::int8 as more, array[1::int8, null] as list`,
  );
  expect(rows).toEqual([{ n: 1, most: 9007199254740991, more: '9007199254740992', list: [1, null] }]);
});

test.each([
  ['no server listens', 'postgres://me:hush@127.0.0.1:1/db', 'DATABASE_UNREACHABLE', /ECONNREFUSED.*host and the port/],
  ['no such host', 'postgres://me:hush@host.invalid/db', 'DATABASE_UNREACHABLE', /host\.invalid/],
  ['no such database', () => urlOf('missing'), 'DATABASE_MISSING', /"missing" does not exist.*createdb/],
  ['no such user', () => urlOf('postgres', 'stranger'), 'DATABASE_LOGIN_REFUSED', /"stranger".*user and the password/],
])('a database that cannot be used is a settings error: %s', async (_, url, code, words) => {
  const error = await openDatabase({ url: typeof url === 'string' ? url : url(), dataDir }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code, exitCode: 2, message: expect.stringMatching(words) });
  expect(error.message).toContain(':***@');
  expect(`${error.message}${error.stack}`).not.toContain('hush');
});

test('a pooler that gives each transaction any session is refused: a lock of a session would be another one’s', async () => {
  const pooler = await startPooler(String(fresh.connection.host));
  const url = `postgres://tests:hush@127.0.0.1:${pooler.port}/${fresh.connection.database}`;
  const error = await openDatabase({ url, dataDir }).catch((thrown) => thrown);
  await pooler.close();
  expect(error).toMatchObject({ code: 'DATABASE_POOLER', exitCode: 2 });
  expect(error.message).toMatch(/:\*\*\*@127.*pool_mode = session/);
});

test.each([
  'mysql://me:hush@host/db',
  'host=h password=hush',
  'postgres://me:hu#sh@host/db',
  'postgres://me:12/hush@host/db',
  'postgres://me:12?hush@host/db',
  '',
])('what is no Postgres URL is refused, and never repeated: %s', async (url) => {
  const error = await openDatabase({ url, dataDir }).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: 'DATABASE_URL_INVALID', exitCode: 2 });
  expect(error.message).not.toMatch(/hu#?sh/);
});

test('a lost connection is logged and replaced, and does not end the process, even within a transaction', async () => {
  const database = await openDatabase({ url: urlOf(fresh.connection.database), dataDir });
  const db = await database.pool.connect();
  await db.query('begin');
  const lost = new Promise((resolve) => db.once('error', resolve));
  await fresh.pool.query(
    'select pg_terminate_backend(pid) from pg_stat_activity where application_name = $1 and datname = current_database()',
    ['lockstep'],
  );
  await lost;
  db.release(true);
  expect((await database.pool.query('select 1 as one')).rows).toEqual([{ one: 1 }]);
  await database.close();
});
