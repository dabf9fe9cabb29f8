/** Notes that arise between the runs of a sync are added to its next run, because people look at runs. */
import { addNote, type Run } from '../../engine/ledger/runs.ts';
import type { TaskScope } from '../../engine/ledger/tasks/task-versions.ts';
import type { Queryable } from '../../storage/queryable.ts';

/** A run lists this many notes, and counts the others. */
const MOST_TOLD = 20;

export async function leaveNote(db: Queryable, { scope, sync }: TaskScope, note: string): Promise<void> {
  await db.query('insert into ledger.sync_notes (scope, sync, note) values ($1, $2, $3)', [scope, sync, note]);
}

/** Moves the notes that wait for this sync to its run; must be called in a transaction. */
export async function tellNotes(db: Queryable, run: Run): Promise<void> {
  if (run.dryRun) return;
  const taken = await db.query<{ id: number; note: string }>(
    'delete from ledger.sync_notes where scope = $1 and sync = $2 returning id, note',
    [run.scope, run.sync],
  );
  const notes = taken.rows.toSorted((a, b) => a.id - b.id).map(({ note }) => note);
  for (const note of notes.slice(0, MOST_TOLD)) await addNote(db, run.id, note);
  if (notes.length > MOST_TOLD) await addNote(db, run.id, `more notes were left out (${notes.length - MOST_TOLD})`);
}
