import type pg from 'pg';

/** Anything that can be queried: the pool, or one connection inside a transaction. */
export type Queryable = Pick<pg.Pool, 'query'>;

/** A row as SQL gives it: with null where something is absent. */
export type Stored<Row> = { readonly [K in keyof Row]: Row[K] | null };

/** The row with undefined where something is absent. Safe only if SQL says that the other columns are not null. Slow: not for every row of a run. */
export function withoutNulls<Row extends object>(row: Stored<Row>): Row {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, value ?? undefined])) as Row;
}
