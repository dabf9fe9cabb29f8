import { createConnection } from 'node:net';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { cannotOpen, describeDatabaseError } from '../../src/storage/errors.ts';
import { emptyDatabase } from '../support/database.ts';
import { anError } from '../support/matchers.ts';

const fresh = await emptyDatabase();
afterAll(() => fresh.close());

const WHERE = 'the Postgres postgres://me:***@127.0.0.1:1/db';
const withCode = (code: string, message = code): Error => Object.assign(new Error(message), { code });

test('a query whose connection the server ends is a lost database, with the remedy', async () => {
  const db = new pg.Client(fresh.connection);
  db.on('error', () => undefined);
  await db.connect();
  const error = await db.query('select pg_terminate_backend(pg_backend_pid())').catch((thrown) => thrown);
  expect(describeDatabaseError(error, WHERE)).toMatchObject(
    anError('DATABASE_LOST', /Lost the connection to the Postgres .*start the same command again/, 3),
  );
  const afterwards = await db.query('select 1').catch((thrown) => thrown);
  expect(describeDatabaseError(afterwards, WHERE)?.code).toBe('DATABASE_LOST');
});

test('a server that is gone is a lost database, on a port or a socket', async () => {
  const host = '/tmp/nowhere';
  for (const server of [{ host: '127.0.0.1', port: 1 }, { host }]) {
    const error = await new pg.Client(server).connect().catch((thrown) => thrown);
    expect(describeDatabaseError(error, WHERE)?.code).toBe('DATABASE_LOST');
  }
});

test("the refused connection of another server is not the database's", async () => {
  const error = await new Promise((resolve) => createConnection(2, '127.0.0.1').once('error', resolve));
  expect(describeDatabaseError(error, WHERE)).toBeUndefined();
});

test.each([
  ['a failed statement', withCode('42601', 'syntax error'), undefined],
  ['a plain error', new Error('no'), undefined],
  ['no error at all', undefined, undefined],
  ['going down', withCode('57P01'), 'DATABASE_LOST'],
  ['coming up', withCode('57P03'), 'DATABASE_LOST'],
  ['a broken connection', withCode('08006'), 'DATABASE_LOST'],
  ['a server that is not the primary any more', withCode('25006'), 'DATABASE_LOST'],
  ['wrapped', new Error('the run failed', { cause: withCode('57P02') }), 'DATABASE_LOST'],
  ['among several', new AggregateError([new Error('no'), withCode('57P01')]), 'DATABASE_LOST'],
  ['a full disk', withCode('53100'), 'DATABASE_FULL'],
  ['a damaged block', withCode('XX001'), 'DATABASE_BROKEN'],
  ['a disk that fails', withCode('58030'), 'DATABASE_BROKEN'],
  ['too many connections', withCode('53300'), 'DATABASE_CROWDED'],
])('describes %s', (_, error, code) => {
  expect(describeDatabaseError(error, WHERE)?.code).toBe(code);
});

test.each([
  ['a wrong password', withCode('28P01'), 'DATABASE_LOGIN_REFUSED'],
  ['too many connections', withCode('53300'), 'DATABASE_CROWDED'],
  ['a password that is missing', new Error('SASL: client password must be a string'), 'DATABASE_LOGIN_REFUSED'],
  ['no right to it', withCode('42501'), 'DATABASE_LOGIN_REFUSED'],
  ['no TLS there', new Error('The server does not support SSL connections'), 'DATABASE_UNREACHABLE', 'sslmode=disable'],
  ['TLS only', withCode('28000', 'no pg_hba.conf entry for …, no encryption'), 'DATABASE_UNREACHABLE', 'verify-full'],
  [
    'a private authority',
    new Error('unable to verify the first certificate'),
    'DATABASE_UNREACHABLE',
    'sslrootcert=FILE',
  ],
  [
    'no file of it',
    new Error("ENOENT: no such file or directory, open 'ca.pem'"),
    'DATABASE_UNREACHABLE',
    'sslrootcert=FILE',
  ],
])('cannot open with %s', (_, error, code, remedy = '') => {
  expect(cannotOpen(error, WHERE)).toMatchObject(anError(code, remedy, 2));
});
