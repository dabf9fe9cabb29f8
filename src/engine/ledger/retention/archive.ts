/** Everything the ledger knows of runs, in the order they began, for an export. */
import type { Queryable } from '../../../storage/queryable.ts';
import { type Run, runsWhere } from '../runs.ts';

const PAGE = 500;

export interface ArchivedRun {
  readonly run: Run;
  /** Rows by verdict; null until the run has ended. */
  readonly counts: Readonly<Record<string, number>> | null;
}

/** Pages through the runs, all of them or those that began since a time. */
export async function* allRuns(db: Queryable, since?: Date): AsyncGenerator<ArchivedRun> {
  // The time as text, because a Date would round it.
  for (let [at, after] = [since?.toISOString() ?? '-infinity', '']; ; ) {
    const page = await db.query<{ id: string; counts: Record<string, number> | null; at: string }>(
      `select id, counts, created_at::text as at from ledger.runs
       where (created_at, id) > ($1::timestamptz, $2) order by created_at, id limit ${PAGE}`,
      [at, after],
    );
    const runs = await runsWhere(db, 'id = any($1)', [page.rows.map(({ id }) => id)]);
    const byId = new Map(runs.map((run) => [run.id, run]));
    for (const { id, counts } of page.rows) {
      const run = byId.get(id);
      if (run) yield { run, counts };
    }
    if (page.rows.length < PAGE) return;
    ({ at, id: after } = page.rows.at(-1) ?? { at, id: after });
  }
}

export interface HistoryEntry {
  readonly sync: string;
  /** `2026-11`. */
  readonly month: string;
  /** `calls`, a verdict, or `run: done`. */
  readonly what: string;
  readonly count: number;
}

/** The sums of runs that were deleted. */
export async function history(db: Queryable): Promise<readonly HistoryEntry[]> {
  const found = await db.query<HistoryEntry>(
    `select sync, to_char(month, 'YYYY-MM') as month, what, n::float8 as count from ledger.history order by 1, 2, 3`,
  );
  return found.rows;
}
