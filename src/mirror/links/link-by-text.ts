/**
 * Delivers a task without a link to the item that its own text names, and links the two once the target has found the item.
 * An existing link always takes precedence.
 */
import { firstOf } from '../../base/counts.ts';
import { messageOf } from '../../base/errors.ts';
import type { CallContext, Delivery, DeliveryOutcome, Target } from '../../contract/target.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { keepItemLinks, linkKind, sourceIdOf } from './item-links.ts';
import { itemsNamedBy } from './named-items.ts';

/** How many of the items that a text names are listed in a message. */
const MOST_NAMED = 5;
const LEDGER_PAUSE_MS = 1_000;

/**
 * Delivers like the target, and returns `itemId` if the item was found by the task's text. `claimId`: the claim under
 * which the delivery is sent; `runId`: the run that the link belongs to.
 */
export type Linker = (
  target: Target,
  delivery: Delivery,
  how: CallContext & { readonly claimId: number; readonly runId: string | undefined },
) => Promise<DeliveryOutcome>;

/** For one target, by its name in the settings. */
export function createLinker({ db, target: name }: { readonly db: Queryable; readonly target: string }): Linker {
  const deliverTo = async (
    itemId: string,
    ...[target, delivery, how]: Parameters<Linker>
  ): Promise<DeliveryOutcome> => {
    const { account, task } = delivery;
    const source = sourceIdOf(task);
    const read = () => linksOf(db, name, { scope: account, source, itemId });
    const before = await read();
    if (before.status !== 'read') return before;
    const own = before.linked.find((link) => link.source === source);
    if (own !== undefined) return target.deliver({ ...delivery, itemId: own.itemId }, how); // linked after it was claimed
    if (before.linked[0] !== undefined) return taken(itemId, before.linked[0].source);
    const outcome = await target.deliver({ ...delivery, itemId }, how);
    if (outcome.status === 'refused' && outcome.reason === 'ITEM_MISSING') {
      const detail = `The text of ${source} names the item ${itemId}, which is deleted, or which the token may not see: correct the text, or give the token access, then replay`;
      return { ...outcome, detail };
    }
    // Other outcomes do not show whether the item exists.
    if (outcome.status !== 'delivered' && outcome.status !== 'already') return outcome;
    const after = await read();
    const other = after.status === 'read' ? after.linked.find((link) => link.source !== source) : undefined;
    if (other !== undefined) return taken(itemId, other.source); // it did not exist before: it was created for that task
    // Linked immediately and not with the outcome, because the next task that names the item must see its link. If this fails,
    // the link is still written with the outcome.
    const found = outcome.itemId ?? itemId;
    await keepItemLinks(db, name, [{ scope: account, task, itemId: found, runId: how.runId }]).catch(() => undefined);
    return { ...outcome, itemId: found };
  };

  return async (target, delivery, how) => {
    const { account, task, event } = delivery;
    if (target.itemsIn === undefined || delivery.itemId !== undefined || task.isGone || event === 'gone')
      return target.deliver(delivery, how);
    const named = itemsNamedBy(task, target.itemsIn);
    const [itemId] = named;
    if (itemId === undefined) return target.deliver(delivery, how);
    if (named.length > 1) return ambiguous(delivery, named);
    const claim = { target: name, scope: account, itemId, source: sourceIdOf(task), claimId: how.claimId };
    try {
      const holder = await claimItem(db, claim);
      if (holder !== claim.source) return taken(itemId, holder);
    } catch (error) {
      return ledgerAway(itemId, error);
    }
    try {
      return await deliverTo(itemId, target, delivery, how);
    } finally {
      await releaseItem(db, claim).catch(() => undefined); // it ends with the claim of the deliveries
    }
  };
}

/** Two tasks never share an item: the first one, of all processes, claims it until it is linked or its delivery has failed. */
interface ItemClaim {
  readonly target: string;
  readonly scope: string;
  readonly itemId: string;
  readonly source: string;
  readonly claimId: number;
}

/** The task that has the item now: this one, or another one. */
async function claimItem(db: Queryable, { target, scope, itemId, source, claimId }: ItemClaim): Promise<string> {
  const claimed = await db.query<{ source: string }>(
    `insert into ledger.item_claims as c (target, scope, item_id, source_id, claim_id) values ($1, $2, $3, $4, $5)
     on conflict (target, scope, item_id) do update set source_id = c.source_id returning source_id as source`,
    [target, scope, itemId, source, claimId],
  );
  return claimed.rows[0]?.source ?? source;
}

async function releaseItem(db: Queryable, { target, scope, itemId, claimId, source }: ItemClaim): Promise<void> {
  await db.query(
    `delete from ledger.item_claims
     where target = $1 and scope = $2 and item_id = $3 and claim_id = $4 and source_id = $5`,
    [target, scope, itemId, claimId, source],
  );
}

interface Linked {
  readonly source: string;
  readonly itemId: string;
}

/**
 * The links that the task or the item has now; an outcome if the ledger cannot be read. An item that was created for a task is
 * its item, although the link is only written when the delivery has ended.
 */
async function linksOf(
  db: Queryable,
  target: string,
  { scope, source, itemId }: Linked & { readonly scope: string },
): Promise<{ readonly status: 'read'; readonly linked: readonly Linked[] } | DeliveryOutcome> {
  try {
    const found = await db.query<Linked>(
      `select source_id as source, record_id as "itemId" from ledger.links
       where scope = $1 and kind = $2 and (source_id = $3 or record_id = $4)
       union all select c.source_id, c.result from ledger.creations c
       where c.scope = $1 and c.target = $5 and c.result = $4 and c.source_id <> $3
         and not exists (select from ledger.links l where l.scope = $1 and l.kind = $2 and l.source_id = c.source_id)`,
      [scope, linkKind(target), source, itemId, target],
    );
    return { status: 'read', linked: found.rows };
  } catch (error) {
    return ledgerAway(itemId, error);
  }
}

/** This is not a failure of the target: sending pauses for a moment, and no attempt is spent. */
function ledgerAway(itemId: string, error: unknown): DeliveryOutcome {
  const detail = `Lockstep could not check whether another task is linked with ${itemId}: ${messageOf(error)}`;
  return { status: 'later', reason: 'LEDGER_AWAY', detail, retryAfterMs: LEDGER_PAUSE_MS, isLimited: true };
}

function ambiguous({ id, task }: Delivery, named: readonly string[]): DeliveryOutcome {
  const which = firstOf(named.slice(0, MOST_NAMED), named.length);
  const remedy = `link it with one (\`lockstep links import\`), then: \`lockstep deliveries replay --id ${id}\``;
  const detail = `The text of ${sourceIdOf(task)} names several items, so it is unclear which one is meant: ${which}; ${remedy}`;
  return { status: 'skipped', reason: 'LINK_AMBIGUOUS', detail };
}

function taken(itemId: string, other: string): DeliveryOutcome {
  const remedy = 'name the item in the text of one task only, or link it with `lockstep links import --replace`';
  const detail = `The text names the item ${itemId}, which is already linked with ${other}; ${remedy}`;
  return { status: 'skipped', reason: 'LINK_TAKEN', detail };
}
