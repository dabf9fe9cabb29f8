/** Files of a watched folder as rows of the run that watches it: what became of each, counted like anything else. */
import type { Verdict } from '../engine/ledger/rows.ts';
import { type Queryable, recordProgress } from '../engine/ledger/runs.ts';
import { visible } from '../visible.ts';
import { storable } from './fields.ts';

export interface FileVerdict {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly detail: string;
}

/** One row for each time that a file was put away. */
export async function settleFile(
  db: Queryable,
  runId: string,
  name: string,
  { verdict, reason, detail }: FileVerdict,
): Promise<void> {
  await db.query(
    `insert into ledger.rows (run_id, source_id, n, label, state, verdict, reason, detail)
     select $1, format('%s %s', n, $2::text), n, $2, 'settled', $3, $4, $5
     from (select count(*) as n from ledger.rows where run_id = $1) before`,
    [runId, storable(name), verdict, reason, storable(visible(detail))],
  );
  await recordProgress(db, runId, { rowsSeen: 1, rowsSettled: 1 });
}
