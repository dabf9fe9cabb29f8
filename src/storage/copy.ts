/** Copies all tables of some schemas into another Postgres, of any version that Lockstep runs on. */
import type pg from 'pg';
import { wrongUse } from '../base/errors.ts';
import { lockMigrations } from './migrate.ts';
import type { Queryable } from './queryable.ts';
import { inTransaction } from './transaction.ts';

export interface Copying {
  /** Opened with COPYING as its name. */
  readonly from: pg.Pool;
  readonly to: pg.Pool;
  /** Both databases, for messages. */
  readonly describe: { readonly from: string; readonly to: string };
  readonly schemas: readonly string[];
  /** Makes in the new database, in this transaction, the tables that the other one has. */
  readonly makeTables: (db: pg.PoolClient) => Promise<void>;
  /** Checks everything and counts the rows, but leaves the new database as it is. */
  readonly isDryRun: boolean;
  /** Called with each table, and with the rows of it that were copied so far. */
  readonly onProgress: (table: string, rows: number) => void;
}

export interface CopiedTable {
  readonly table: string;
  readonly rows: number;
}

/** The name of a copier's connections, by which it tells them from those of other processes. */
export const COPYING = 'lockstep data copy';
const ROWS_AT_A_TIME = 1_000;

/**
 * The new database has all rows afterwards, or is as it was. What others write meanwhile would be missing there, so none may be
 * connected. @throws LockstepError DATA_IN_USE, DATABASE_NOT_EMPTY; from `makeTables`; the errors of both databases
 */
export function copyTables(copying: Copying): Promise<readonly CopiedTable[]> {
  const { from, to, describe, schemas, makeTables, isDryRun } = copying;
  return inTransaction(from, async (source) => {
    await source.query('set transaction isolation level repeatable read, read only');
    await refuseOthers(source, describe.from);
    return inTransaction(to, async (target) => {
      await lockMigrations(target); // otherwise tables that another process makes now would lose their rows
      await refuseUsed(target, schemas, describe.to);
      await target.query('savepoint untouched');
      await makeTables(target);
      const copied = await copyAll(source, target, copying);
      await refuseOthers(source, describe.from);
      if (isDryRun) await target.query('rollback to savepoint untouched');
      return copied;
    });
  });
}

async function refuseOthers(source: Queryable, where: string): Promise<void> {
  // Within a transaction Postgres would show the same sessions again.
  await source.query('select pg_stat_clear_snapshot()');
  const { rows } = await source.query<{ pid: number }>(
    `select pid from pg_stat_activity where datname = current_database() and backend_type = 'client backend'
     and application_name is distinct from $1`,
    [COPYING],
  );
  if (rows.length === 0) return;
  const message = `Another process uses ${where}, and what it writes now would be missing from the copy. Stop all processes of Lockstep that use it, then start the same command again. Nothing was copied`;
  throw wrongUse(message, 'DATA_IN_USE');
}

async function refuseUsed(target: Queryable, schemas: readonly string[], where: string): Promise<void> {
  const { rows } = await target.query<{ nspname: string }>(
    'select nspname from pg_namespace where nspname = any($1) order by 1',
    [schemas],
  );
  if (rows.length === 0) return;
  const found = rows.map(({ nspname }) => nspname).join(', ');
  const message = `There are already tables of Lockstep (${found}) in ${where}, and a copy would mix two ledgers. If an earlier copy made them, it is complete, even if its command was killed. Otherwise name a new, empty database in DATABASE_URL (database.url). Nothing was copied`;
  throw wrongUse(message, 'DATABASE_NOT_EMPTY');
}

async function copyAll(source: pg.PoolClient, target: pg.PoolClient, copying: Copying): Promise<CopiedTable[]> {
  const { schemas, isDryRun, onProgress } = copying;
  const tables = await tablesOf(target, schemas);
  if (!isDryRun) {
    await target.query(`truncate ${tables.map(({ table }) => table).join(', ')}`); // migrations have put rows there
    await switchTriggers(target, tables, 'disable'); // the rows that they would add are copied, too
  }
  const copied: CopiedTable[] = [];
  for (const one of tables) {
    const { table } = one;
    onProgress(table, 0);
    const rows = isDryRun
      ? await count(source, table)
      : await copyTable(source, target, one, (done) => onProgress(table, done));
    copied.push({ table, rows });
  }
  if (!isDryRun) {
    await switchTriggers(target, tables, 'enable');
    await copySequences(source, target, schemas);
  }
  return copied;
}

/** Without those of foreign keys. */
async function switchTriggers(db: Queryable, tables: readonly Table[], how: 'disable' | 'enable'): Promise<void> {
  for (const { table } of tables) await db.query(`alter table ${table} ${how} trigger user`);
}

interface Table {
  /** With its schema, as SQL writes it. */
  readonly table: string;
  /** In their order, as SQL writes them. */
  readonly columns: readonly { readonly name: string; readonly isGenerated: boolean }[];
  /** The tables whose rows its rows refer to. */
  readonly needs: readonly string[];
}

/** The tables of these schemas, each after those that it needs. */
async function tablesOf(db: Queryable, schemas: readonly string[]): Promise<readonly Table[]> {
  const { rows } = await db.query<Table>(
    `select format('%I.%I', nspname, relname) as table,
       (select json_agg(json_build_object('name', quote_ident(attname), 'isGenerated', attgenerated <> '') order by attnum)
        from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) as columns,
       array(select distinct format('%I.%I', other.relnamespace::regnamespace, other.relname)
        from pg_constraint join pg_class other on other.oid = confrelid
        where contype = 'f' and conrelid = c.oid and confrelid <> conrelid) as needs
     from pg_class c join pg_namespace n on n.oid = relnamespace where nspname = any($1) and relkind = 'r' order by 1`,
    [schemas],
  );
  const ordered = new Map<string, Table>();
  for (let left = rows; left.length > 0; left = left.filter(({ table }) => !ordered.has(table))) {
    const next = left.filter(({ needs }) => needs.every((needed) => ordered.has(needed)));
    if (next.length === 0) throw new Error('some tables refer to one another in a circle');
    for (const one of next) ordered.set(one.table, one);
  }
  return [...ordered.values()];
}

async function count(source: Queryable, table: string): Promise<number> {
  const { rows } = await source.query<{ n: number }>(`select count(*)::float8 as n from ${table}`);
  return rows[0]?.n ?? 0;
}

/** A row travels as one text, which Postgres writes and reads without loss. A generated column is made again. */
async function copyTable(
  source: pg.PoolClient,
  target: pg.PoolClient,
  { table, columns }: Table,
  onProgress: (rows: number) => void,
): Promise<number> {
  const read = columns.map(({ name, isGenerated }) => (isGenerated ? 'null' : name)).join(', ');
  const written = columns.flatMap(({ name, isGenerated }) => (isGenerated ? [] : [name])).join(', ');
  await source.query(`declare reading no scroll cursor for select row(${read})::text from ${table}`);
  const fetch = async () => {
    const page = await source.query<string[]>({ text: `fetch ${ROWS_AT_A_TIME} from reading`, rowMode: 'array' });
    return page.rows.flat();
  };
  const insert = `insert into ${table} (${written}) overriding system value select ${written} from unnest($1::${table}[])`;
  let rows = 0;
  for (let page = await fetch(); page.length > 0; ) {
    const [next, { rowCount }] = await Promise.all([fetch(), target.query(insert, [page])]);
    rows += rowCount ?? 0;
    onProgress(rows);
    page = next;
  }
  await source.query('close reading');
  return rows;
}

/** The next ids follow those of the copied rows. */
async function copySequences(source: Queryable, target: Queryable, schemas: readonly string[]): Promise<void> {
  const { rows } = await source.query<{ sequence: string }>(
    `select format('%I.%I', nspname, relname) as sequence from pg_class join pg_namespace n on n.oid = relnamespace
     where nspname = any($1) and relkind = 'S'`,
    [schemas],
  );
  for (const { sequence } of rows) {
    const at = await source.query<{ last: string; called: boolean }>(
      `select last_value::text as last, is_called as called from ${sequence}`,
    );
    await target.query('select setval($1::regclass, $2::bigint, $3)', [sequence, at.rows[0]?.last, at.rows[0]?.called]);
  }
}
