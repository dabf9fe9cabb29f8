/** A target that receives only the changes that its settings ask for. */
import type { Delivery, DeliveryOutcome, Target, TaskEvent, TaskState } from '../../contract/target.ts';

export interface Filter {
  readonly events?: readonly TaskEvent[] | undefined;
  /** The allowed values of each field. */
  readonly fields: Readonly<Partial<Record<keyof TaskState, readonly (string | boolean)[]>>>;
}

/** Changes that do not match are skipped as FILTERED; reads and calls back are not filtered. */
export function filtered(target: Target, filter: Filter): Target {
  return {
    ...target,
    deliver: async (delivery, context) => whyNot(delivery, filter) ?? target.deliver(delivery, context),
  };
}

function whyNot({ event, task }: Delivery, { events, fields }: Filter): DeliveryOutcome | undefined {
  if (events !== undefined && !events.includes(event)) {
    return skipped(`the event is ${event}, and this target receives ${events.join(', ')}`);
  }
  const own = new Map<string, unknown>(Object.entries(task));
  const failing = Object.entries(fields).find(([name, allowed]) => !allowed.some((value) => value === own.get(name)));
  return failing && skipped(`${failing[0]} is none of the values in the fields of this target`);
}

function skipped(detail: string): DeliveryOutcome {
  return { status: 'skipped', reason: 'FILTERED', detail };
}
