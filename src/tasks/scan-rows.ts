/** A run's rows around its scan: what has changed has one each, what has not is a number. */
import { nextNumber, sourceIds } from '../engine/ledger/inputs.ts';
import type { Queryable } from '../engine/ledger/runs.ts';
import type { Exclusive } from '../worker/exclusive.ts';
import { rowId, type Watching } from './watching.ts';

/**
 * Begins the scan, or begins it again: what a broken-off one has told stays true, and keeps its rows. Answers who gives
 * out the places after theirs.
 */
export async function beginScan(exclusive: Exclusive, runId: string): Promise<Watching['takePlaces']> {
  return exclusive.transaction(async (db) => {
    await db.query('update ledger.runs set rows_seen = 0, unchanged = 0 where id = $1', [runId]);
    let next = await nextNumber(db, runId);
    return (count) => {
      next += count;
      return next - count;
    };
  });
}

/** Keeps with the run how many of those seen have no row; answers how many rows there are. */
export async function countUnchanged(
  db: Queryable,
  { run, seen }: Pick<Watching, 'run' | 'seen'>,
  tasks: { has(id: string): boolean; readonly size: number },
): Promise<{ readonly changed: number }> {
  const isSeen = (id: string) => seen.has(id) || (id.startsWith(TASK) && tasks.has(id.slice(TASK.length)));
  let changed = 0;
  let seenAndChanged = 0;
  for await (const ids of sourceIds(db, run.id)) {
    changed += ids.length;
    seenAndChanged += ids.filter(isSeen).length;
  }
  const unchanged = tasks.size + seen.size - seenAndChanged;
  await db.query('update ledger.runs set unchanged = $2 where id = $1', [run.id, unchanged]);
  return { changed };
}

const TASK = rowId({ kind: 'task', id: '' });
