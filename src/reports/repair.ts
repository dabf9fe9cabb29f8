/** Brings an item back to what its task is: by the delivery that told it so, once more and under the same id. */
import { deliveryId, queueDeliveries } from '../deliveries/outbox.ts';
import { replay } from '../deliveries/replay.ts';
import { addRows, nextNumber } from '../engine/ledger/inputs.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import { sourceIdOf } from '../links/item-links.ts';
import type { TaskState } from '../targets/target.ts';

/**
 * To be called in a transaction. What is sent is the version that is known now, never an older one: a version that came
 * from the target itself, or of a time without this target, was never a delivery to it, and becomes one. The task gets a
 * row of the run, which is settled by what comes of it.
 */
export async function repairItem(
  db: Queryable,
  run: Run,
  target: string,
  { version, state }: { readonly version: number; readonly state: TaskState },
): Promise<void> {
  const { scope, sync, id: runId } = run;
  const change = { scope, sync, runId, task: state, event: 'changed', version, seenAt: new Date() } as const;
  const id = deliveryId(target, change);
  const { again } = await replay(db, { ids: [id] }, { tellsOldStates: [] });
  // The run that first sent it has settled it; from here on it is this one's.
  if (again > 0) await db.query('update ledger.deliveries set run_id = $2 where id = $1', [id, runId]);
  else await queueDeliveries(db, [target], [change]);
  const n = await nextNumber(db, runId);
  const row = {
    n,
    sourceId: sourceIdOf(state),
    label: state.title || sourceIdOf(state),
    fields: { event: 'diverged' },
  };
  // The scan has counted it among what has not changed.
  if ((await addRows(db, runId, [row])) === 1)
    await db.query('update ledger.runs set unchanged = greatest(0, unchanged - 1) where id = $1', [runId]);
}
