/**
 * Delivers a task that is linked with no item to the one that its own text names, and links the two once the target has
 * found the item. A link that is kept already always comes first.
 */

import type { Queryable } from '../engine/ledger/runs.ts';
import { messageOf } from '../errors.ts';
import type { CallContext, Delivery, DeliveryOutcome, Target } from '../targets/target.ts';
import { keepItemLinks, linkKind, sourceIdOf } from './item-links.ts';
import { itemsNamedBy } from './named-items.ts';

/** Of the items that a text names, those that a message names. */
const MOST_NAMED = 5;
const LEDGER_PAUSE_MS = 1_000;

export interface LinkerNeeds {
  readonly db: Queryable;
  /** The target's name in the settings. */
  readonly target: string;
}

export interface Linker {
  /** As the target delivers it; with `itemId` where the item was found by the task's text. `runId`: who gets the link. */
  deliver(
    target: Target,
    delivery: Delivery,
    how: CallContext & { readonly runId: string | undefined },
  ): Promise<DeliveryOutcome>;
}

/** For one target, in one process. */
export function createLinker({ db, target: name }: LinkerNeeds): Linker {
  /** The items that deliveries without a link are on their way to, each with its task: two tasks never share one. */
  const onTheirWay = new Map<string, string>();

  const deliverTo = async (
    itemId: string,
    ...[target, delivery, how]: Parameters<Linker['deliver']>
  ): Promise<DeliveryOutcome> => {
    const { account, task } = delivery;
    const source = sourceIdOf(task);
    const asked = await linksOf(db, name, { scope: account, source, itemId });
    if (asked.status !== 'read') return asked;
    const { linked } = asked;
    const own = linked.find((link) => link.source === source);
    if (own !== undefined) return target.deliver({ ...delivery, itemId: own.itemId }, how); // made since it was claimed
    if (linked[0] !== undefined) return taken(itemId, linked[0].source);
    const outcome = await target.deliver({ ...delivery, itemId }, how);
    // Of any other outcome nobody knows whether there is such an item.
    if (outcome.status !== 'delivered' && outcome.status !== 'already') return outcome;
    // Now and not with the outcome: the next task that names the item must see whose it is. Where that fails, it still is
    // kept with the outcome.
    await keepItemLinks(db, name, [{ scope: account, task, itemId, runId: how.runId }]).catch(() => undefined);
    return { ...outcome, itemId };
  };

  return {
    async deliver(target, delivery, how) {
      const { account, task, event } = delivery;
      if (target.itemsIn === undefined || delivery.itemId !== undefined || task.isGone || event === 'gone')
        return target.deliver(delivery, how);
      const named = itemsNamedBy(task, target.itemsIn);
      const [itemId] = named;
      if (itemId === undefined) return target.deliver(delivery, how);
      if (named.length > 1) return ambiguous(delivery, named);
      const key = JSON.stringify([account, itemId]);
      const source = sourceIdOf(task);
      const other = onTheirWay.get(key);
      if (other !== undefined && other !== source) return taken(itemId, other);
      onTheirWay.set(key, source);
      try {
        return await deliverTo(itemId, target, delivery, how);
      } finally {
        onTheirWay.delete(key);
      }
    },
  };
}

interface Linked {
  readonly source: string;
  readonly itemId: string;
}

/** The links that the task or the item has now; an outcome where the ledger cannot be asked. */
async function linksOf(
  db: Queryable,
  target: string,
  { scope, source, itemId }: Linked & { readonly scope: string },
): Promise<{ readonly status: 'read'; readonly linked: readonly Linked[] } | DeliveryOutcome> {
  try {
    const found = await db.query<Linked>(
      `select source_id as source, record_id as "itemId" from ledger.links
       where scope = $1 and kind = $2 and (source_id = $3 or record_id = $4)`,
      [scope, linkKind(target), source, itemId],
    );
    return { status: 'read', linked: found.rows };
  } catch (error) {
    // No fault of the target: nothing is sent for a moment, and no attempt is spent.
    const detail = `whether ${itemId} is linked with another task could not be read: ${messageOf(error)}`;
    return { status: 'later', reason: 'LEDGER_AWAY', detail, retryAfterMs: LEDGER_PAUSE_MS, isLimited: true };
  }
}

function ambiguous({ id, task }: Delivery, named: readonly string[]): DeliveryOutcome {
  const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : '';
  const which = `${named.slice(0, MOST_NAMED).join(', ')}${more}`;
  const remedy = `link it with one (lockstep links import), then: lockstep deliveries replay --id ${id}`;
  const detail = `The text of ${sourceIdOf(task)} names several items, and nobody can say which one it is: ${which}; ${remedy}`;
  return { status: 'skipped', reason: 'LINK_AMBIGUOUS', detail };
}

function taken(itemId: string, other: string): DeliveryOutcome {
  const remedy = 'name the item in the text of one task only, or say whose it is with lockstep links import --replace';
  const detail = `The text names ${itemId}, which is linked with ${other} already; ${remedy}`;
  return { status: 'skipped', reason: 'LINK_TAKEN', detail };
}
