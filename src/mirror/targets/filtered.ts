/** A target that receives only the changes that its settings ask for. */
import type { Delivery, DeliveryOutcome, Target } from '../../contract/target.ts';
import type { ChangeFilter } from '../../settings/target-events.ts';

type Skipped = Extract<DeliveryOutcome, { status: 'skipped' }>;

/**
 * Changes that do not match are skipped as FILTERED; reads and calls back are not filtered. The outbox has skipped most of
 * them already; a change that was queued under other settings, or is replayed, is checked here.
 */
export function filtered(target: Target, filter: ChangeFilter): Target {
  return {
    ...target,
    deliver: async (delivery, context) => whyFiltered(delivery, filter) ?? target.deliver(delivery, context),
  };
}

/** Undefined if the target receives the change. */
export function whyFiltered(
  { event, task }: Pick<Delivery, 'event' | 'task'>,
  { events, fields }: ChangeFilter,
): Skipped | undefined {
  if (events !== undefined && !events.includes(event)) {
    return skipped(`the event is ${event}, and this target receives ${events.join(', ')}`);
  }
  const own = new Map<string, unknown>(Object.entries(task));
  const failing = Object.entries(fields).find(([name, allowed]) => !allowed.some((value) => value === own.get(name)));
  return failing && skipped(`${failing[0]} is none of the values in the fields of this target`);
}

function skipped(detail: string): Skipped {
  return { status: 'skipped', reason: 'FILTERED', detail };
}
