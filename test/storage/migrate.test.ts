import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import { budgetMigrations } from '../../src/client/budget/postgres-store.ts';
import { ledgerMigrations } from '../../src/engine/ledger/migrations.ts';
import { serviceMigrations } from '../../src/service/store/migrations.ts';
import { migrate, readMigrations } from '../../src/storage/migrate.ts';
import { makePool } from '../../src/storage/pool.ts';
import { emptyDatabase } from '../support/database.ts';
import { anError } from '../support/matchers.ts';

const db = await emptyDatabase();
afterAll(() => db.close());

/** The lock that each migration takes. */
const LOCK_KEY = 0x10c5;
const first = { name: '001-things', sql: 'create table room.things (id int primary key)' };
const second = { name: '002-seed', sql: 'insert into room.things values (1)' };

test('each migration runs once, however many processes start at the same time', async () => {
  await Promise.all(Array.from({ length: 5 }, () => migrate(db.pool, 'room', [first])));
  await Promise.all(Array.from({ length: 5 }, () => migrate(db.pool, 'room', [first, second])));
  const { rows } = await db.pool.query('select id from room.things');
  expect(rows).toEqual([{ id: 1 }]);
});

test('a start with nothing to migrate does not wait for another start', async () => {
  await migrate(db.pool, 'done', [{ name: '001-schema', sql: 'create table done.things (id int)' }]);
  const starting = await db.pool.connect();
  onTestFinished(() => starting.release());
  await starting.query('begin');
  await starting.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
  await migrate(db.pool, 'done', [{ name: '001-schema', sql: 'select 1 / 0' }]);
  await starting.query('rollback');
});

test('a user who may not create tables gets told what it needs', async () => {
  const user = `visitor_${randomBytes(8).toString('hex')}`;
  await db.pool.query(`create role ${user} login`);
  onTestFinished(async () => void (await db.pool.query(`drop role ${user}`)));
  const pool = makePool({ ...db.connection, user });
  onTestFinished(() => pool.end());
  await expect(migrate(pool, 'room', [first])).rejects.toMatchObject(
    anError('DATABASE_FORBIDDEN', /permission denied .*owner of the database/, 2),
  );
});

test('a failing migration leaves nothing behind', async () => {
  const failing = { name: '003-broken', sql: 'create table room.half (id int); select 1 / 0' };
  await expect(migrate(db.pool, 'room', [first, second, failing])).rejects.toThrow('division by zero');
  const { rows } = await db.pool.query(`select to_regclass('room.half') as half`);
  expect(rows).toEqual([{ half: null }]);
});

test('tables that a later version has migrated are refused, and stay unchanged', async () => {
  const third = { name: '003-later', sql: 'create table room.later (id int)' };
  await migrate(db.pool, 'room', [first, second, third]);
  const earlier = [first, second, { name: '004-own', sql: 'drop table room.later' }];
  await expect(migrate(db.pool, 'room', earlier)).rejects.toMatchObject({ code: 'SCHEMA_NEWER', exitCode: 2 });
  const { rows } = await db.pool.query(`select to_regclass('room.later') as later`);
  expect(rows).toEqual([{ later: 'room.later' }]);
});

test('migrations in a folder are its SQL files, in the order of their names', async () => {
  const dir = await mkdtemp(path.join(os.tmpdir(), 'lockstep-migrations-'));
  for (const file of ['002-seed.sql', 'README.md', '010-more.sql', '001-things.sql'])
    await writeFile(path.join(dir, file), `of ${file}`);
  const read = await readMigrations(pathToFileURL(`${dir}/`));
  expect(read.map(({ name }) => name)).toEqual(['001-things', '002-seed', '010-more']);
  expect(read[0]?.sql).toBe('of 001-things.sql');
  await rm(dir, { recursive: true });
});

test('each function of the database is in one migration, where a reader finds what it does now', async () => {
  const rooms = await Promise.all([budgetMigrations(), ledgerMigrations(), serviceMigrations()]);
  const created = rooms.flat().flatMap(({ sql }) => sql.match(/(?<=create (or replace )?function )[a-z_.]+/g) ?? []);
  expect(created).toContain('ledger.claim_rows');
  expect(created).toEqual([...new Set(created)]);
});
