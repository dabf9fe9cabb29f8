import { type ListedRun, pageOfRuns } from '../../src/engine/ledger/views/run-list.ts';
import type { Queryable } from '../../src/storage/queryable.ts';

/** The newest runs first, each by itself. */
export async function listRuns(db: Queryable, limit: number): Promise<readonly ListedRun[]> {
  return (await pageOfRuns(db, {}, { limit, fold: false })).entries;
}
