/** The check of a Postgres target: whether it could run the statement of a delivery. Postgres plans that statement, and writes nothing. */
import type pg from 'pg';
import { codeOf } from '../../../base/errors.ts';
import type { Finding } from '../../../contract/target.ts';
import { failedCheck, fine, problem } from '../findings.ts';
import { SAMPLE } from '../render.ts';
import { COLUMN_MISSING, postgresFailure } from './postgres-outcome.ts';
import { rowOf, type TaskTable } from './postgres-table.ts';

interface Place {
  readonly exists: boolean;
  /** Null if there is no such schema. */
  readonly mayCreate: boolean | null;
}

interface Checked {
  readonly createTable: boolean;
  /** Where the settings name the address. */
  readonly url: string;
}

export async function checkTable(
  pool: pg.Pool,
  table: TaskTable,
  { createTable, url }: Checked,
): Promise<readonly Finding[]> {
  const what = `table ${table.name}`;
  const { rows } = await pool.query<Place>(
    `select to_regclass($1) is not null as exists,
       has_schema_privilege(to_regnamespace($2)::oid, 'create') as "mayCreate"`,
    [table.name, table.schema],
  );
  const [place] = rows;
  if (place === undefined) throw new TypeError('a select without a from answers one row');
  if (!place.exists) return [missingTable(what, table, createTable, place.mayCreate)];
  try {
    await pool.query(`explain ${table.upsert}`, [...rowOf(table, SAMPLE).values]);
    return [fine(what, 'the user may read and write it, and it has all columns and its key')];
  } catch (error) {
    return [
      failedCheck(what, postgresFailure(error, table, { url, missing: await missingIn(pool, table, error) }), ''),
    ];
  }
}

/** The columns that the table lacks, if the error says that it lacks one. */
export async function missingIn(pool: pg.Pool, { findMissing }: TaskTable, error: unknown): Promise<readonly string[]> {
  if (codeOf(error) !== COLUMN_MISSING) return [];
  const found = await pool.query<{ missing: string[] }>(findMissing).catch(() => undefined);
  return found?.rows[0]?.missing ?? [];
}

function missingTable(what: string, { create, schema }: TaskTable, createTable: boolean, mayCreate: boolean | null) {
  if (mayCreate === null) return problem(what, `there is no schema ${schema}`, `run: create schema ${schema}`);
  if (!createTable) return problem(what, 'it does not exist', `set createTable: true, or run: ${create}`);
  if (mayCreate) return fine(what, 'it does not exist yet: the first delivery creates it');
  const detail = `it does not exist, and the user may not create it in the schema ${schema}`;
  return problem(what, detail, `run, with its user in place of USER: grant create on schema ${schema} to USER`);
}
