/**
 * Migrates the tables of a room: each migration runs once, in order, in one transaction under an advisory lock, so that any
 * number of processes may start at the same time.
 */
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import type pg from 'pg';
import { codeOf, messageOf, wrongUse } from '../base/errors.ts';
import type { Queryable } from './queryable.ts';
import { inTransaction } from './transaction.ts';

export interface Migration {
  /** Unique within the room and never changed once released, such as `001-runs`. */
  readonly name: string;
  readonly sql: string;
}

/** Postgres' code for a table that does not exist. */
const NO_TABLE = '42P01';
const NO_PERMISSION = '42501';
const LOCK_KEY = 0x10c5; // any constant: it only has to be the same in every Lockstep process

/** The migrations in a folder of `.sql` files, in the order of their names. */
export async function readMigrations(folder: URL): Promise<readonly Migration[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.sql')).sort();
  return files.map((file) => ({
    name: file.slice(0, -'.sql'.length),
    // Read only if it has to run, which few starts find.
    get sql() {
      return readFileSync(new URL(file, folder), 'utf8');
    },
  }));
}

/**
 * Runs the migrations of `room` (also the name of its schema, which is created) that have not run yet.
 * @throws LockstepError SCHEMA_NEWER if a later version of Lockstep has migrated the tables, DATABASE_FORBIDDEN
 */
export function migrate(pool: pg.Pool, room: string, migrations: readonly Migration[]): Promise<void> {
  return explained(async () => {
    // Most starts find nothing to do: they need no lock, and wait for no other start.
    if (await hasRun(pool, room, migrations)) return;
    await inTransaction(pool, (db) => migrateAsUser(db, room, migrations));
  });
}

/** The same in the transaction of `db`. */
export function migrateIn(db: pg.PoolClient, room: string, migrations: readonly Migration[]): Promise<void> {
  return explained(() => migrateAsUser(db, room, migrations));
}

async function explained(migrating: () => Promise<void>): Promise<void> {
  await migrating().catch((cause: unknown) => {
    if (codeOf(cause) !== NO_PERMISSION) throw cause;
    const remedy = 'Make the user in DATABASE_URL (database.url) the owner of the database and of its tables';
    const message = `The tables cannot be created or updated: ${messageOf(cause)}. ${remedy}`;
    throw wrongUse(message, 'DATABASE_FORBIDDEN', cause);
  });
}

/** No other process makes tables until the transaction of `db` ends. */
export async function lockMigrations(db: pg.PoolClient): Promise<void> {
  await db.query('select pg_advisory_xact_lock($1)', [LOCK_KEY]);
}

async function migrateAsUser(db: pg.PoolClient, room: string, migrations: readonly Migration[]): Promise<void> {
  await lockMigrations(db);
  await db.query(
    `create table if not exists public.lockstep_migrations
       (room text, name text, at timestamptz not null default now(), primary key (room, name))`,
  );
  await db.query(`create schema if not exists ${room}`);
  const ran = await migrationsOf(db, room);
  refuseLater(room, ran, migrations);
  for (const { name, sql } of migrations) {
    if (ran.has(name)) continue;
    await db.query(sql);
    await db.query('insert into public.lockstep_migrations (room, name) values ($1, $2)', [room, name]);
  }
}

async function hasRun(db: Queryable, room: string, migrations: readonly Migration[]): Promise<boolean> {
  const ran = await migrationsOf(db, room).catch((error: unknown) => {
    if (codeOf(error) === NO_TABLE) return undefined;
    throw error;
  });
  if (ran) refuseLater(room, ran, migrations);
  return ran !== undefined && migrations.every(({ name }) => ran.has(name));
}

/** `ran`: of `migrationsOf`. @throws LockstepError SCHEMA_NEWER if a later version of Lockstep has migrated the tables */
export function refuseLater(room: string, ran: ReadonlySet<string>, known: readonly Migration[]): void {
  const names = new Set(known.map(({ name }) => name));
  const later = [...ran].filter((name) => !names.has(name)).sort();
  if (later.length === 0) return;
  const message = `The tables of this database were changed by a later version of Lockstep (${room}: ${later.join(', ')}). Install that version, or a later one`;
  throw wrongUse(message, 'SCHEMA_NEWER');
}

/** The names of the migrations that have run. */
export async function migrationsOf(db: Queryable, room: string): Promise<ReadonlySet<string>> {
  const done = await db.query<{ name: string }>('select name from public.lockstep_migrations where room = $1', [room]);
  return new Set(done.rows.map(({ name }) => name));
}
