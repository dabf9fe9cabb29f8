/** What people ask the ledger about runs beyond a single one: counts that outlive the rows. */
import { type Counts, countRows, VERDICTS, type Verdict } from '../engine/ledger/rows.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';

/**
 * Rows by verdict. A run that is done keeps its counts, because what was unchanged in older runs is let go; of any other
 * the rows are counted as they stand.
 */
export async function countsOf(db: Queryable, run: Run): Promise<Counts> {
  if (run.status !== 'done') return countRows(db, run.id);
  const kept = await db.query<{ counts: Partial<Record<Verdict, number>> | null }>(
    'select counts from ledger.runs where id = $1',
    [run.id],
  );
  const counts = kept.rows[0]?.counts ?? {};
  const byVerdict = Object.fromEntries(VERDICTS.map((verdict) => [verdict, counts[verdict] ?? 0]));
  const total = Object.values(byVerdict).reduce((sum, n) => sum + n, 0);
  return { in: total, ...byVerdict } as Counts; // safe: every verdict was put in above
}
