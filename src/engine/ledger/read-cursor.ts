/** Reads the result of a large query in pages. */
import type pg from 'pg';
import type { Queryable } from '../../storage/queryable.ts';

const PAGE = 1_000;

/**
 * The pages of a result, in the transaction of `db`, which cannot read another one meanwhile. What is written meanwhile does
 * not change it. A cursor sorts once, while a query for each page would sort each time.
 */
export async function* readPages<T extends pg.QueryResultRow>(
  db: Queryable,
  sql: string,
  values: readonly unknown[],
): AsyncGenerator<readonly T[]> {
  await db.query('set local cursor_tuple_fraction = 1'); // all of it is read
  await db.query(`declare reader no scroll cursor for ${sql}`, [...values]);
  for (let count = PAGE; count === PAGE; ) {
    const { rows } = await db.query<T>(`fetch ${PAGE} from reader`);
    yield rows;
    count = rows.length;
  }
  await db.query('close reader');
}

/** All rows, over one connection that is held meanwhile. */
export async function* readCursor<T extends pg.QueryResultRow>(
  pool: pg.Pool,
  sql: string,
  values: readonly unknown[],
): AsyncGenerator<T> {
  const db = await pool.connect();
  try {
    await db.query('begin read only');
    // Statistics that are older than the run would suggest looking all of its rows up for each row.
    await db.query('set local enable_nestloop = off');
    for await (const rows of readPages<T>(db, sql, values)) yield* rows;
  } finally {
    const broken = await db.query('rollback').then(
      () => undefined,
      (error: Error) => error, // the reader has its own error; this connection is unusable
    );
    db.release(broken);
  }
}
