/** `lockstep data copy`: from the embedded Postgres to another one. */
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { allMigrations } from '../../src/cli/workspace/all-migrations.ts';
import { markFailing } from '../../src/engine/ledger/runs.ts';
import { suspendAccount } from '../../src/engine/ledger/scopes/suspensions.ts';
import { initSettings } from '../../src/settings/load.ts';
import { COPYING, copyTables } from '../../src/storage/copy.ts';
import { migrateIn } from '../../src/storage/migrate.ts';
import { type Database, openDatabase } from '../../src/storage/open.ts';
import type { Queryable } from '../../src/storage/queryable.ts';
import { aRun, putRows } from '../engine/ledger/fresh-ledger.ts';
import { emptyDatabase } from '../support/database.ts';
import { command, databaseUrl } from './command.ts';

const cwd = await mkdtemp(path.join(os.tmpdir(), 'lockstep-copy-'));
afterAll(() => rm(cwd, { recursive: true, force: true }));
await initSettings({ cwd });
const dataDir = path.join(cwd, '.lockstep');
const rooms = Object.entries(await allMigrations());
const schemas = rooms.map(([room]) => room);

// Records of every kind, and texts that a row may have and a way of writing rows may break.
await command(['service', 'seed', '--tenant', 'demo', '--contacts', '1500'], { cwd });
await command(['runs', '--init'], { cwd });
const HOSTILE = ['a "b" \\c, (d)', '', '{}', 'NULL', '\\N', 'line\nbreak\ttab', 'Ünïcödé 蓮 \u{1f600}', "it's"];
await embedded(async (db) => {
  const run = await aRun(db, { sync: 'nightly', account: 'demo', resource: 'customers' });
  const rows = HOSTILE.map((label, n) => ({
    source_id: `${n}`,
    label,
    verdict: 'created' as const,
    record_id: `${n}`,
  }));
  await putRows(db, run, rows);
  // Rows that triggers add to others, which the copy has already.
  await markFailing(db.pool, run.id, true);
  await suspendAccount(db.pool, run.scope, 'The key is refused.');
});

function embedded<T>(work: (db: Database) => Promise<T>, applicationName?: string) {
  return openDatabase({ url: 'embedded', dataDir, ...(applicationName && { applicationName }) }).then(async (db) => {
    try {
      return await work(db);
    } finally {
      await db.close();
    }
  });
}

async function newDatabase() {
  const database = await emptyDatabase();
  onTestFinished(() => database.close());
  return { ...database, env: { DATABASE_URL: databaseUrl(database.connection) } };
}

/** A hash of the rows of each table, and the next id of each sequence. */
async function contentOf(db: Queryable): Promise<ReadonlyMap<string, unknown>> {
  const { rows } = await db.query<{ name: string; kind: string }>(
    `select format('%I.%I', nspname, relname) as name, relkind as kind from pg_class c join pg_namespace n on n.oid = relnamespace
     where nspname = any($1) and relkind in ('r', 'S') order by 1`,
    [schemas],
  );
  const content = new Map<string, unknown>();
  for (const { name, kind } of rows) {
    const of =
      kind === 'S'
        ? `select last_value, is_called from ${name}`
        : `select count(*) as n, md5(string_agg(t::text, '|' order by t::text collate "C")) as hash from ${name} t`;
    content.set(name, (await db.query(of)).rows[0]);
  }
  return content;
}

async function schemasIn(db: Queryable): Promise<readonly string[]> {
  const { rows } = await db.query('select nspname from pg_namespace where nspname = any($1)', [schemas]);
  return rows.map(({ nspname }) => nspname);
}

test('every row and the next id of every table is the same in the copy, and commands work on it', async () => {
  const { pool, env } = await newDatabase();
  const planned = await command(['data', 'copy', '--dry-run', '--json'], { cwd, env });
  expect([planned.code, planned.json.dryRun, await schemasIn(pool)]).toEqual([0, true, []]);

  const copied = await command(['data', 'copy', '--json'], { cwd, env });
  expect([copied.code, copied.stderr]).toEqual([0, '']);
  expect(copied.json).toMatchObject({ dryRun: false, rows: planned.json.rows, tables: planned.json.tables });
  expect(copied.json.tables).toContainEqual({ table: 'service.contacts', rows: 1500 });
  expect(copied.json.tables).toContainEqual({ table: 'ledger.inputs', rows: HOSTILE.length });
  expect(await contentOf(pool)).toEqual(await embedded((db) => contentOf(db.pool)));
  const { rows: disabled } = await pool.query(`select tgname from pg_trigger where tgenabled = 'D'`);
  expect(disabled).toEqual([]);

  const runs = await command(['runs', '--json'], { cwd, env });
  expect(runs.json.runs).toHaveLength(1);
  const added = await command(['service', 'tenants', 'add', 'next', '--json'], { cwd, env });
  expect(added.json.tenant.id).toBe(2);
});

/** Copies as the command does, and interferes. */
function copying(
  to: pg.Pool,
  how: { withSource?: (source: pg.PoolConfig) => Promise<void>; on?: (table: string) => void },
) {
  const copy = async (from: Database) =>
    copyTables({
      from: from.pool,
      to,
      describe: { from: 'one', to: 'another' },
      schemas,
      makeTables: async (db) => {
        for (const [room, migrations] of rooms) await migrateIn(db, room, migrations);
        await how.withSource?.(from.connection);
      },
      isDryRun: false,
      onProgress: (table, rows) => void (rows > 0 && how.on?.(table)),
    });
  return embedded(copy, COPYING);
}

test('a copy that fails leaves the new database as it was', async () => {
  const { pool } = await newDatabase();
  const on = (table: string) => {
    if (table === 'service.contacts') throw new Error('the disk is full');
  };
  await expect(copying(pool, { on })).rejects.toThrow('the disk is full');
  expect(await schemasIn(pool)).toEqual([]);
});

test('nothing is copied while another process uses the embedded Postgres', async () => {
  const { env } = await newDatabase();
  const refused = await embedded(() => command(['data', 'copy', '--json'], { cwd, env }));
  expect([refused.code, refused.json.error.code]).toEqual([2, 'DATA_IN_USE']);
});

test('nothing is copied if another process begins to use the embedded Postgres meanwhile', async () => {
  const { pool } = await newDatabase();
  const withSource = async (source: pg.PoolConfig) => {
    const other = new pg.Client({ ...source, application_name: 'lockstep' });
    other.on('error', () => undefined); // the embedded Postgres may stop first
    await other.connect();
    onTestFinished(() => other.end());
  };
  await expect(copying(pool, { withSource })).rejects.toMatchObject({ code: 'DATA_IN_USE' });
  expect(await schemasIn(pool)).toEqual([]);
});

test('a database that has tables of Lockstep is refused, and keeps them', async () => {
  const { env } = await newDatabase();
  await command(['runs'], { cwd, env });
  const refused = await command(['data', 'copy', '--dry-run', '--json'], { cwd, env });
  expect([refused.code, refused.json.error.code]).toEqual([2, 'DATABASE_NOT_EMPTY']);
  expect(refused.json.error.message).toMatch(
    /already tables of Lockstep \(ledger\).*If an earlier copy made them, it is complete/,
  );
});

test('of two copies into one database at once, the second is refused', async () => {
  const { pool } = await newDatabase();
  let second: Promise<unknown> = Promise.resolve();
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const withSource = async () => {
    second = copying(pool, {}).catch((error: unknown) => error);
    await vi.waitUntil(async () => (await pool.query(waiting)).rowCount === 1, { timeout: 20_000 });
  };
  await copying(pool, { withSource });
  expect(await second).toMatchObject({ code: 'DATABASE_NOT_EMPTY' });
});

test('what is missing is named: the new database, or the embedded Postgres', async () => {
  const unnamed = await command(['data', 'copy', '--json'], { cwd });
  expect([unnamed.code, unnamed.json.error.code]).toEqual([2, 'DATABASE_NOT_NAMED']);
  const { env } = await newDatabase();
  const nothing = await command(['data', 'copy', '--data', 'elsewhere', '--json'], { cwd, env });
  expect([nothing.code, nothing.json.error.code]).toEqual([2, 'DATA_MISSING']);
  expect(existsSync(path.join(cwd, 'elsewhere'))).toBe(false);
});
