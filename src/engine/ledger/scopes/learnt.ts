/** What was learnt about a scope's service and outlives a run: small named JSON values. */
import type { Queryable } from '../../../storage/queryable.ts';

/** All values by their names, as `keepLearnt` stored them. */
export async function readLearnt(db: Queryable, scope: string): Promise<ReadonlyMap<string, unknown>> {
  const found = await db.query<{ name: string; value: unknown }>(
    'select name, value from ledger.learnt where scope = $1',
    [scope],
  );
  return new Map(found.rows.map(({ name, value }) => [name, value]));
}

export async function keepLearnt(db: Queryable, scope: string, name: string, value: unknown): Promise<void> {
  await db.query(
    `insert into ledger.learnt (scope, name, value) values ($1, $2, $3)
     on conflict (scope, name) do update set value = excluded.value, at = now()
       where ledger.learnt.value is distinct from excluded.value`,
    [scope, name, JSON.stringify(value)],
  );
}

/** Forgets the values whose names start with `beginning`, so that they are learnt again. */
export async function forgetLearnt(db: Queryable, scope: string, beginning: string): Promise<void> {
  await db.query('delete from ledger.learnt where scope = $1 and starts_with(name, $2)', [scope, beginning]);
}
