/** Empties the tables of ledger and service between two tests. */
import type pg from 'pg';

/** What the open parts of a harness hold in memory, and tables whose one row their migration makes. */
const KEPT = [
  ...['service.tenants', 'service.keys', 'ledger.scopes', 'ledger.identities', 'ledger.accounts'],
  ...['ledger.fingerprint_key', 'ledger.clock'],
];

/** Empties all tables but those, and resets their ids. Reads the catalogue once, at the first call. */
export function emptyingOf(pool: pg.Pool): () => Promise<void> {
  let statement: Promise<string> | undefined;
  return async () => {
    statement ??= truncation(pool);
    await pool.query(await statement);
  };
}

async function truncation(pool: pg.Pool): Promise<string> {
  const found = await pool.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname in ('ledger', 'service')`,
  );
  const names = found.rows.map(({ name }) => name).filter((name) => !KEPT.includes(name));
  return `truncate ${names.join(', ')} restart identity`;
}
