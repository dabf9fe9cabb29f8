/** A run together with the runs that work for it. */
import type { Queryable } from '../../storage/queryable.ts';
import type { Transactional } from '../../storage/transaction.ts';
import { endRun } from './run-status.ts';
import { type Run, readRun } from './runs.ts';

/** How long calls of the run or its parts have failed without a success; undefined if none failed. */
export async function failingFor(db: Queryable, id: string): Promise<number | undefined> {
  const found = await db.query<{ ms: number | null }>(
    `select (extract(epoch from clock_timestamp() - min(trouble_since)) * 1000)::float8 as ms from ledger.runs
     where (id = $1 or part_of = $1) and status = 'running'`,
    [id],
  );
  return found.rows[0]?.ms ?? undefined;
}

export async function runningPart(db: Queryable, id: string): Promise<Run | undefined> {
  const found = await db.query<{ id: string }>(
    `select id from ledger.runs where part_of = $1 and status = 'running' limit 1`,
    [id],
  );
  return found.rows[0] && readRun(db, found.rows[0].id);
}

export interface Calls {
  readonly calls: number;
  /** Whether more were made than these. */
  readonly callsMissed: boolean;
}

/** Calls that each of these runs and its parts have made. */
export async function callsWithParts(db: Queryable, ids: readonly string[]): Promise<ReadonlyMap<string, Calls>> {
  const found = await db.query<Calls & { id: string }>(
    `select a.id, sum(u.calls)::float8 as calls, bool_or(u.calls_missed) as "callsMissed"
     from unnest($1::text[]) a (id) join ledger.runs u on u.id = a.id or u.part_of = a.id group by 1`,
    [ids],
  );
  return new Map(found.rows.map(({ id, ...calls }) => [id, calls]));
}

/** Ends the run and its parts as failed, the parts first: otherwise the run would report their failure as its reason. */
export async function failRunAndParts(
  db: Transactional,
  id: string,
  error: { readonly code: string; readonly message: string },
): Promise<void> {
  const parts = await db.query<{ id: string }>(`select id from ledger.runs where part_of = $1`, [id]);
  for (const part of [...parts.rows, { id }]) await endRun(db, part.id, 'failed', error);
}
