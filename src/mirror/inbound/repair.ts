/** Sets an item to the state of its task: sends the delivery of that state again, under the same id. */
import type { TaskState } from '../../contract/target.ts';
import { addRows, nextNumber } from '../../engine/ledger/inputs.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { sourceIdOf } from '../links/item-links.ts';
import { deliveryId, queueDeliveries } from '../outbox/outbox.ts';
import { replay } from '../outbox/replay.ts';

/**
 * Must be called in a transaction. It sends the version that is known now, never an older one. If that version came
 * from the target itself, or from before the target was configured, it was never delivered to this target, and a
 * delivery is created. The task gets a row in the run, which is settled by the outcome.
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
  const { again } = await replay(db, { ids: [id] }, { events: [], versions: [] });
  // The run that first sent it has settled it; from now on it belongs to this run.
  if (again > 0) await db.query('update ledger.deliveries set run_id = $2 where id = $1', [id, runId]);
  else await queueDeliveries(db, [{ name: target, filter: undefined }], [change]);
  const n = await nextNumber(db, runId);
  const row = {
    n,
    sourceId: sourceIdOf(state),
    label: state.title || sourceIdOf(state),
    fields: { event: 'diverged' },
  };
  // The scan has counted it as unchanged.
  if ((await addRows(db, runId, [row])) === 1)
    await db.query('update ledger.runs set unchanged = greatest(0, unchanged - 1) where id = $1', [runId]);
}
