import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { expect, test } from 'vitest';
import { startEmbedded } from '../../../src/storage/embedded/embedded.ts';
import { openDatabase } from '../../../src/storage/open.ts';
import { anError } from '../../support/matchers.ts';
import { postmasterOf } from '../../support/processes.ts';
import { superuserOf } from '../../support/superuser.ts';
import { ask, scratch } from './scratch.ts';
import { startUser } from './user-process.ts';

const newDir = scratch();
const isRoot = process.geteuid?.() === 0;

test('the application connects by password as a role that can neither run programs nor read files', async () => {
  const dataDir = await newDir();
  const postgres = await startEmbedded({ dataDir });
  const { connection } = postgres;
  expect(
    await ask(
      connection,
      'select rolsuper or rolcreaterole or rolcreatedb as may from pg_roles where rolname = current_user',
    ),
  ).toEqual([{ may: false }]);
  await ask(connection, 'create table lines (line text)');
  for (const sql of [
    "copy lines from program 'id'",
    "copy lines to program 'cat'",
    "copy lines from '/etc/passwd'",
    "select pg_read_file('postgresql.conf')",
    "alter system set log_statement = 'all'",
    'create role other superuser',
    'set role postgres',
    "create function run(text) returns int language c as 'libc', 'system'",
  ]) {
    await expect(ask(connection, sql), sql).rejects.toMatchObject({ code: '42501' });
  }
  for (const other of [
    { user: 'postgres' },
    { password: 'guessed' },
    { password: '' },
    { database: 'template1', user: 'postgres' },
  ]) {
    await expect(ask({ ...connection, ...other }, 'select 1')).rejects.toThrow(/password|pg_hba/);
  }
  const file = path.join(dataDir, 'postgres/password');
  expect([fs.statSync(file).mode & 0o777, fs.readFileSync(file, 'utf8')]).toEqual([0o600, connection.password]);
  await postgres.close();
});

test.each([
  ['as it was left', () => undefined],
  ['half closed by a start that was killed', interrupt],
])(
  'a directory of an earlier version, where everyone is superuser, is closed and keeps its data: %s',
  async (_, prepare) => {
    const dataDir = await newDir();
    await makeEarlier(dataDir);
    prepare(path.join(dataDir, 'postgres'));
    const database = await openDatabase({ url: 'embedded', dataDir });
    const { rows } = await database.pool.query('select n from ledger.kept');
    expect(rows).toEqual([{ n: 7 }]);
    await database.pool.query(
      "alter table ledger.kept add more text; drop function ledger.f(); alter type ledger.mood add value 'glad'; select nextval('ledger.counter'); create schema more; create table public.t ()",
    );
    await expect(ask({ ...database.connection, user: 'postgres' }, 'select 1')).rejects.toThrow(/pg_hba/);
    if (isRoot) expect(fs.statSync(`/proc/${postmasterOf(dataDir)}`).uid).not.toBe(65_534);
    await database.close();
  },
);

test('reports a password file of another directory with a remedy that works', async () => {
  const dataDir = await newDir();
  await (await startEmbedded({ dataDir })).close();
  const file = path.join(dataDir, 'postgres/password');
  fs.writeFileSync(file, 'q'.repeat(43));
  await expect(openDatabase({ url: 'embedded', dataDir })).rejects.toMatchObject(
    anError('DATABASE_LOGIN_REFUSED', `stop every process that uses ${dataDir}, remove that file`),
  );
  fs.rmSync(file);
  await (await openDatabase({ url: 'embedded', dataDir })).close();
});

test('refuses a password file that others could read or write, with a remedy that works', async () => {
  const dataDir = await newDir();
  await (await startEmbedded({ dataDir })).close();
  const file = path.join(dataDir, 'postgres/password');
  fs.chmodSync(file, 0o644);
  await expect(startEmbedded({ dataDir })).rejects.toMatchObject({
    message: expect.stringMatching(/password belongs to another user, or others can read or write it/),
  });
  fs.rmSync(file);
  await (await openDatabase({ url: 'embedded', dataDir })).close();
});

if (process.platform === 'linux') {
  test('reports a lock that another program holds within seconds', async () => {
    const dataDir = await newDir();
    fs.mkdirSync(path.join(dataDir, 'postgres'), { mode: 0o700 });
    const { dev, ino } = fs.statSync(path.join(dataDir, 'postgres'));
    const squatter = net.createServer().listen(`\0lockstep-${dev.toString(36)}-${ino.toString(36)}`);
    const started = Date.now();
    const { code, message } = await startUser(dataDir).said;
    squatter.close();
    expect([code, message]).toEqual([
      'EMBEDDED_LOCK_TAKEN',
      expect.stringMatching(/ss -xlp \| grep lockstep-.*--data DIR/),
    ]);
    expect(Date.now() - started).toBeLessThan(20_000);
  });
}

/** What earlier versions left: owned by the user 65534 where root started it, everyone a superuser, no password. */
async function makeEarlier(dataDir: string): Promise<void> {
  const postgres = await startEmbedded({ dataDir });
  const db = await superuserOf(dataDir, postgres.connection);
  await db.query('alter database postgres owner to postgres');
  await db.query('drop owned by lockstep');
  await db.query('drop role lockstep');
  await db.query(`create schema ledger; create table ledger.kept as select 7 as n; create type ledger.mood as enum ('sad');
    create table ledger.moods (id bigint generated always as identity, n serial, mood ledger.mood); create sequence ledger.counter;
    create function ledger.f() returns int language sql as 'select 1'`);
  await db.end();
  await postgres.close();
  const postgresDir = path.join(dataDir, 'postgres');
  fs.writeFileSync(path.join(postgresDir, 'data/pg_hba.conf'), 'local all all trust\n');
  fs.rmSync(path.join(postgresDir, 'password'));
  if (isRoot) spawnSync('chown', ['-R', '65534:65534', postgresDir]);
}

/** Killed after the password was written, while the data belonged to the account that the single-user mode ran as. */
function interrupt(postgresDir: string): void {
  const { uid, gid } = fs.statSync(postgresDir);
  fs.writeFileSync(path.join(postgresDir, 'password'), 'p'.repeat(43), { mode: 0o600 });
  if (!isRoot) return;
  fs.chownSync(path.join(postgresDir, 'password'), uid, gid);
  spawnSync('chown', ['-R', '1:1', path.join(postgresDir, 'data')]);
}
