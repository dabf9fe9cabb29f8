/**
 * Keeps a delivery from overwriting a change at the target that no call has reported yet, and that no run has read: the change
 * becomes a report, and the task follows it. Where changes at a target are not applied to tasks, the task's state is written.
 */
import type pg from 'pg';
import type { TasksSync } from '../../settings/settings.ts';
import type { MayOverwrite } from '../outbox/delivery-source.ts';
import { keepReports } from './inbox.ts';
import { REPORTED, readSides, stateBefore } from './sides.ts';

export interface ChangedThereNeeds {
  readonly pool: pg.Pool;
  readonly syncs: readonly TasksSync[];
  /** Whether the target reports changes by calls. */
  readonly hasHook: (target: string) => boolean;
}

export function overwriting({ pool, syncs, hasHook }: ChangedThereNeeds): MayOverwrite {
  function takesChanges(target: string, sync: string): boolean {
    const options = syncs.find(({ name }) => name === sync)?.options;
    return (
      options !== undefined && (options.poll.includes(target) || options.onConflict === 'target' || hasHook(target))
    );
  }

  return async (target, sync, { account, task, sequence }, item) => {
    if (task.kind !== 'task' || !takesChanges(target, sync)) return 'yes';
    const { itemId, isCompleted } = item;
    const sides = await readSides(
      pool,
      { target, itemId },
      { scope: account, sync, kind: task.kind, id: task.id },
      REPORTED,
    );
    const { known } = sides;
    // The change was applied meanwhile, and the next delivery has it.
    if (known && known.version > sequence && known.state.isCompleted === isCompleted) return 'no';
    if (stateBefore(sides, isCompleted) !== task.isCompleted)
      return sides.maybeTold.includes(isCompleted) ? 'unsure' : 'yes';
    await keepReports(pool, target, [item], 'read');
    return 'no';
  };
}
