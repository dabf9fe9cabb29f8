/** A run's rows during its scan: each changed task has a row, unchanged tasks are only counted. */
import { nextNumber, sourceIds } from '../../engine/ledger/inputs.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { sourceIdOf } from '../links/item-links.ts';
import type { Watching } from './watching.ts';

/**
 * Begins the scan, or begins it again: the changes that an interrupted scan has written stay valid, and keep their rows.
 * Returns the function that assigns the ordinals after theirs.
 */
export async function beginScan(exclusive: Exclusive, runId: string): Promise<Watching['takeOrdinals']> {
  return exclusive.transaction(async (db) => {
    await db.query('update ledger.runs set rows_seen = 0, unchanged = 0 where id = $1', [runId]);
    let next = await nextNumber(db, runId);
    return (count) => {
      next += count;
      return next - count;
    };
  });
}

/** Stores with the run how many of the seen tasks have no row; returns the number of rows. */
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

const TASK = sourceIdOf({ kind: 'task', id: '' });
