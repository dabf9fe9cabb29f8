/** A pool that explains each query over a run before it runs it, and notes how many rows a step has compared in vain. */
import type pg from 'pg';

export interface ComparedRows {
  readonly pool: pg.Pool;
  /** The most rows that a filter or a join of one query has removed. */
  readonly most: () => number;
}

export function comparedRows(real: pg.Pool): ComparedRows {
  let most = 0;
  const explaining = (db: pg.Pool | pg.PoolClient) => ({
    async query(text: string, values: readonly unknown[] = []) {
      if (/^\s*(select|with)\b/.test(text) && values.length > 0) {
        const { rows } = await db.query(`explain (analyze, format json) ${text}`, [...values]);
        const removed = JSON.stringify(rows).match(/(?<="Rows Removed by (?:Join )?Filter": ?)\d+/g) ?? [];
        most = Math.max(most, ...removed.map(Number));
      }
      return db.query(text, [...values]);
    },
  });
  const pool = {
    ...explaining(real),
    async connect() {
      const client = await real.connect();
      return { ...explaining(client), release: client.release.bind(client) };
    },
  };
  return { pool: pool as unknown as pg.Pool, most: () => most };
}
