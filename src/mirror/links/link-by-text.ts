/**
 * Delivers a task without a link to the item that its own text names, and links the two once the target has found the item.
 * An existing link always takes precedence.
 */

import { messageOf } from '../../base/errors.ts';
import type { CallContext, Delivery, DeliveryOutcome, Target } from '../../contract/target.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { keepItemLinks, linkKind, sourceIdOf } from './item-links.ts';
import { itemsNamedBy } from './named-items.ts';

/** How many of the items that a text names are listed in a message. */
const MOST_NAMED = 5;
const LEDGER_PAUSE_MS = 1_000;

/**
 * Delivers like the target, and returns `itemId` if the item was found by the task's text. `runId`: the run that the
 * link belongs to.
 */
export type Linker = (
  target: Target,
  delivery: Delivery,
  how: CallContext & { readonly runId: string | undefined },
) => Promise<DeliveryOutcome>;

/** For one target, by its name in the settings, in one process. */
export function createLinker({ db, target: name }: { readonly db: Queryable; readonly target: string }): Linker {
  /** The items to which deliveries without a link are on their way, each with its task: two tasks never share one. */
  const onTheirWay = new Map<string, string>();

  const deliverTo = async (
    itemId: string,
    ...[target, delivery, how]: Parameters<Linker>
  ): Promise<DeliveryOutcome> => {
    const { account, task } = delivery;
    const source = sourceIdOf(task);
    const asked = await linksOf(db, name, { scope: account, source, itemId });
    if (asked.status !== 'read') return asked;
    const { linked } = asked;
    const own = linked.find((link) => link.source === source);
    if (own !== undefined) return target.deliver({ ...delivery, itemId: own.itemId }, how); // linked after it was claimed
    if (linked[0] !== undefined) return taken(itemId, linked[0].source);
    const outcome = await target.deliver({ ...delivery, itemId }, how);
    // Other outcomes do not show whether the item exists.
    if (outcome.status !== 'delivered' && outcome.status !== 'already') return outcome;
    // Linked immediately and not with the outcome, because the next task that names the item must see its link. If this fails,
    // the link is still written with the outcome.
    await keepItemLinks(db, name, [{ scope: account, task, itemId, runId: how.runId }]).catch(() => undefined);
    return { ...outcome, itemId };
  };

  return async (target, delivery, how) => {
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
  };
}

interface Linked {
  readonly source: string;
  readonly itemId: string;
}

/** The links that the task or the item has now; an outcome if the ledger cannot be read. */
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
    // This is not a failure of the target: sending pauses for a moment, and no attempt is spent.
    const detail = `whether ${itemId} is linked with another task could not be read: ${messageOf(error)}`;
    return { status: 'later', reason: 'LEDGER_AWAY', detail, retryAfterMs: LEDGER_PAUSE_MS, isLimited: true };
  }
}

function ambiguous({ id, task }: Delivery, named: readonly string[]): DeliveryOutcome {
  const more = named.length > MOST_NAMED ? ` and ${named.length - MOST_NAMED} more` : '';
  const which = `${named.slice(0, MOST_NAMED).join(', ')}${more}`;
  const remedy = `link it with one (\`lockstep links import\`), then: \`lockstep deliveries replay --id ${id}\``;
  const detail = `The text of ${sourceIdOf(task)} names several items, so it is unclear which one is meant: ${which}; ${remedy}`;
  return { status: 'skipped', reason: 'LINK_AMBIGUOUS', detail };
}

function taken(itemId: string, other: string): DeliveryOutcome {
  const remedy = 'name the item in the text of one task only, or link it with `lockstep links import --replace`';
  const detail = `The text names ${itemId}, which is already linked with ${other}; ${remedy}`;
  return { status: 'skipped', reason: 'LINK_TAKEN', detail };
}
