/** Reads the result of a large query in pages. */
import type pg from 'pg';

const PAGE = 1_000;

/** All rows, over one connection that is held meanwhile: a cursor sorts once, while a query for each page would sort each time. */
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
    await db.query(`declare reader no scroll cursor for ${sql}`, [...values]);
    for (;;) {
      const found = await db.query<T>(`fetch ${PAGE} from reader`);
      yield* found.rows;
      if (found.rows.length < PAGE) return;
    }
  } finally {
    const broken = await db.query('rollback').then(
      () => undefined,
      (error: Error) => error, // the reader has its own error; this connection is unusable
    );
    db.release(broken);
  }
}
