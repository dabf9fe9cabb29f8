/** The check of a Postgres target: its table, the columns and the key of the table, and what its user may do. */
import type pg from 'pg';
import type { Finding } from '../../../contract/target.ts';
import { fine, problem } from '../findings.ts';
import type { TaskTable } from './postgres-table.ts';

interface Found {
  readonly exists: boolean;
  readonly mayWrite: boolean | null;
  readonly mayCreate: boolean | null;
  readonly hasKey: boolean;
  readonly missing: readonly string[];
}

export async function checkTable(pool: pg.Pool, table: TaskTable, createTable: boolean): Promise<readonly Finding[]> {
  const what = `table ${table.name}`;
  const { rows } = await pool.query<Found>(
    `select t.oid is not null as exists, (${table.findMissing}) as missing,
       (select bool_and(has_table_privilege(t.oid, r)) from unnest(string_to_array($4, ', ')) r) as "mayWrite",
       has_schema_privilege(to_regnamespace($1)::oid, 'create') as "mayCreate",
       exists (select from pg_index i where i.indrelid = t.oid and i.indisunique and i.indpred is null
         and (select array_agg(a.attname::text order by a.attname) from pg_attribute a
              where a.attrelid = t.oid and a.attnum = any(i.indkey)) = $3) as "hasKey"
     from (select to_regclass($2)::oid as oid) t`,
    [table.schema, table.name, table.key.split(', ').toSorted(), table.rights],
  );
  const [found] = rows;
  if (found === undefined) throw new TypeError('a select from one row answers one row');
  if (!found.exists) return [missingTable(what, table, createTable, found.mayCreate)];
  if (found.mayWrite !== true) {
    const grant = `grant ${table.rights} on ${table.name} to its user`;
    return [problem(what, 'the user may not read and write it', `run: ${grant}`)];
  }
  if (found.missing.length > 0) {
    const add = found.missing.map((column) => `add ${column}`).join(', ');
    return [problem(what, `it lacks ${found.missing.join(', ')}`, `run: alter table ${table.name} ${add}`)];
  }
  if (!found.hasKey) {
    const remedy = `run: alter table ${table.name} add primary key (${table.key})`;
    return [problem(what, `it has no key on ${table.key}`, remedy)];
  }
  return [fine(what, 'the user may read and write it, and it has all columns and its key')];
}

function missingTable(what: string, { create, schema }: TaskTable, createTable: boolean, mayCreate: boolean | null) {
  if (mayCreate === null) return problem(what, `there is no schema ${schema}`, `run: create schema ${schema}`);
  if (!createTable) return problem(what, 'it does not exist', `set createTable: true, or run: ${create}`);
  if (mayCreate) return fine(what, 'it does not exist yet: the first delivery creates it');
  const detail = `it does not exist, and the user may not create it in the schema ${schema}`;
  return problem(what, detail, `run: grant create on schema ${schema} to its user`);
}
