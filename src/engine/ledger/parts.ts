/** A run together with the runs that work for it. */
import { endRun, type Queryable } from './runs.ts';

/** For how long calls of the run, or of a part of it, have failed without one success between; undefined where none has. */
export async function troubleOf(db: Queryable, id: string): Promise<number | undefined> {
  const found = await db.query<{ ms: number | null }>(
    `select (extract(epoch from clock_timestamp() - min(trouble_since)) * 1000)::float8 as ms from ledger.runs
     where (id = $1 or part_of = $1) and status = 'running'`,
    [id],
  );
  return found.rows[0]?.ms ?? undefined;
}

/** Ends them as failed, the parts first: the run must not take their failure for its own reason. */
export async function failRunAndParts(
  db: Queryable,
  id: string,
  error: { readonly code: string; readonly message: string },
): Promise<void> {
  const parts = await db.query<{ id: string }>(`select id from ledger.runs where part_of = $1`, [id]);
  for (const part of [...parts.rows, { id }]) await endRun(db, part.id, 'failed', error);
}
