/** Empties the tables of ledger and service between two tests. */
import type pg from 'pg';
import { codeOf } from '../../../src/base/errors.ts';

/** Tables that keep their rows: open parts of a harness hold them in memory, or a migration wrote the only row. */
const KEPT = [
  ...['service.tenants', 'service.keys', 'ledger.scopes', 'ledger.identities', 'ledger.accounts'],
  ...['ledger.fingerprint_key', 'ledger.clock'],
];

/** Empties all other tables, and resets their ids. Reads the catalogue once, at the first call. */
export function emptyingOf(pool: pg.Pool): () => Promise<void> {
  let statement: Promise<string> | undefined;
  return async () => {
    statement ??= emptying(pool);
    const sql = await statement;
    const empty = async (): Promise<void> => {
      // A worker that still maintains the ledger reads these tables, in another order.
      await pool.query(sql).catch((error: unknown) => {
        if (codeOf(error) !== DEADLOCK) throw error;
        return empty();
      });
    };
    await empty();
  };
}

const DEADLOCK = '40P01';

/** Deleting the few rows of a test is cheaper than truncating, which makes new files. The locks wait for those who still write. */
async function emptying(pool: pg.Pool): Promise<string> {
  const found = await pool.query<{ name: string; sequences: readonly string[] }>(
    `select t.oid::regclass::text as name, array(
       select d.objid::regclass::text from pg_depend d join pg_class s on s.oid = d.objid and s.relkind = 'S'
       where d.refclassid = 'pg_class'::regclass and d.refobjid = t.oid) as sequences
     from pg_class t where t.relkind in ('r', 'p') and not t.relispartition
       and t.relnamespace::regnamespace::text in ('ledger', 'service')`,
  );
  const tables = found.rows.filter(({ name }) => !KEPT.includes(name));
  const deletes = tables.map(({ name }) => `delete from ${name};`);
  const restarts = tables.flatMap(({ sequences }) => sequences.map((name) => `perform setval('${name}', 1, false);`));
  return `do $$ begin
    set local session_replication_role = replica; -- in any order: no trigger, no foreign key
    lock table ${tables.map(({ name }) => name).join(', ')} in exclusive mode;
    ${[...deletes, ...restarts].join('\n')}
  end $$`;
}
