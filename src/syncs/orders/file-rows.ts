/** Files of a watched folder as rows of the run that watches it, with their outcomes and counts. */

import type { Facts } from '../../base/reasons/reason.ts';
import { addRows, nextNumber } from '../../engine/ledger/inputs.ts';
import type { Verdict } from '../../engine/ledger/rows.ts';
import { recordProgress } from '../../engine/ledger/runs.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { storable, storableFacts } from './fields.ts';

export interface FileVerdict {
  readonly verdict: Verdict;
  readonly reason: string;
  readonly facts: Facts;
}

/** One row for each time that a file was put away. */
export async function settleFile(
  db: Queryable,
  runId: string,
  name: string,
  { facts, ...fate }: FileVerdict,
): Promise<void> {
  const n = await nextNumber(db, runId);
  const label = storable(name);
  await addRows(db, runId, [{ n, sourceId: `${n} ${label}`, label, ...fate, facts: storableFacts(facts) }]);
  await recordProgress(db, runId, { rowsSeen: 1, rowsSettled: 1 });
}
