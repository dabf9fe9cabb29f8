/** The input of a run: its rows, inserted once. */
import type { Facts } from '../../base/reasons/reason.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Verdict } from './rows.ts';

export interface NewRow {
  /** Row number, ascending in the run; for a file, the line. */
  readonly n: number;
  /** Id at the source; default: `n`. */
  readonly sourceId?: string;
  readonly label: string;
  readonly fields?: Facts;
  /** Set if nothing is left to decide. */
  readonly verdict?: Verdict;
  readonly reason?: string;
  readonly facts?: Facts;
}

/**
 * Adds rows to a run and skips rows whose source id the run already has. The text must be valid for Postgres. Returns
 * how many were added.
 */
export async function addRows(db: Queryable, runId: string, rows: readonly NewRow[]): Promise<number> {
  if (rows.length === 0) return 0;
  const added = await db.query<{ n: number }>(
    `with t as materialized (
       select * from json_to_recordset($2) t (n bigint, "sourceId" text, label text, fields jsonb, verdict text, reason text, facts jsonb)
     ), added as (
       insert into ledger.inputs (run_id, n, source_id, label, fields)
       select $1, n, nullif("sourceId", n::text), label, fields from t on conflict do nothing returning n
     ), settled as (
       insert into ledger.verdicts (run_id, n, verdict, reason, facts)
       select $1, n, verdict, reason, facts from t join added using (n) where verdict is not null
     )
     select count(*)::int as n from added`,
    [runId, JSON.stringify(rows)],
  );
  return added.rows[0]?.n ?? 0;
}

export async function nextNumber(db: Queryable, runId: string): Promise<number> {
  const found = await db.query<{ next: number }>(
    'select coalesce(max(n), 0)::float8 + 1 as next from ledger.inputs where run_id = $1',
    [runId],
  );
  return found.rows[0]?.next ?? 1;
}

/** The source ids of the rows of a run, in order, 5,000 at a time. */
export async function* sourceIds(db: Queryable, runId: string): AsyncGenerator<readonly string[]> {
  const BATCH = 5_000;
  for (let after = -1; ; ) {
    const found = await db.query<{ id: string; n: number }>(
      `select coalesce(i.source_id, i.n::text) as id, i.n::float8 as n from ledger.inputs i
       where i.run_id = $1 and i.n > $2 order by i.n limit ${BATCH}`,
      [runId, after],
    );
    if (found.rows.length > 0) yield found.rows.map(({ id }) => id);
    if (found.rows.length < BATCH) return;
    after = found.rows.at(-1)?.n ?? after;
  }
}
