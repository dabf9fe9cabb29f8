/**
 * A target made of an outside system whose items have a state: reads the item first, writes only where it differs, and
 * creates the missing item once, however often it is asked to.
 *
 * Creating is the one call that cannot simply be repeated. So an item carries a marker of its task, is looked for before
 * it is created, and a creation without a clear answer is tried again no sooner than the vendor's own search shows it.
 */
import { type Calls, type Connection, connect, type TargetNeeds } from './item-calls.ts';
import { type ItemFailure, type Missing, mayHaveHappened } from './item-outcome.ts';
import type { Delivery, DeliveryOutcome, ItemRead, ItemState, Target } from './target.ts';
import { describeWanted, isInState, type Wanted, wantedState } from './wanted.ts';

export type Read<Item> = { readonly status: 'found'; readonly item: Item } | Missing | ItemFailure;

export type Written =
  /** `to`: the state it is in now, for people. */
  | { readonly status: 'written'; readonly to: string; readonly note?: string }
  | Extract<DeliveryOutcome, { status: 'skipped' }>
  | Missing
  | ItemFailure;

export interface ItemSystem<Item extends ItemState> {
  readonly connection: Connection;
  /** What an item is, for people: "GitHub issue". */
  readonly noun: string;
  /** How people link a task with one. */
  readonly howToLink: string;
  readonly columns: Readonly<Record<string, string>>;
  read(calls: Calls, itemId: string): Promise<Read<Item>>;
  /** Of an item that is not in the wanted state. */
  write(calls: Calls, item: Item, wanted: Wanted, delivery: Delivery): Promise<Written>;
  /** Where the settings ask for it. */
  readonly creation?: Creation<Item> | undefined;
}

export interface Creation<Item> {
  /** How long an item may exist before `find` shows it. */
  readonly settleMs: number;
  /** The item that an earlier attempt created; missing where there is none. */
  find(calls: Calls, delivery: Delivery): Promise<Read<Item>>;
  add(calls: Calls, delivery: Delivery): Promise<{ readonly status: 'added'; readonly itemId: string } | ItemFailure>;
}

type OwnMethods = Pick<Target, 'itemsIn' | 'readHook'>;

/** Items that were created while their link is not known to be kept; more than this are found by their marker. */
const MAX_REMEMBERED = 1000;

export function itemTarget<Item extends ItemState>(
  system: ItemSystem<Item>,
  needs: TargetNeeds,
  own: OwnMethods,
): Target {
  /** By account, kind and id of the task. Spares the vendor's search, which may lag behind. */
  const added = new Map<string, string>();

  return {
    async deliver(delivery, context) {
      const beforehand = whyNothingToDo(system, delivery);
      if (beforehand !== undefined) return beforehand;
      const calls = await connect(system.connection, needs, context);
      if ('status' in calls) return calls;
      const link = delivery.itemId ?? added.get(keyOf(delivery));
      const linked =
        link === undefined ? await findOrAdd(system, calls, delivery, added) : await system.read(calls, link);
      if (linked.status === 'missing') {
        added.delete(keyOf(delivery));
        return itemMissing(system, linked);
      }
      if (linked.status !== 'found') return linked;
      const outcome = await align(system, calls, delivery, linked.item);
      const isNew = 'isNew' in linked;
      return delivery.itemId === undefined ? withLink(system, outcome, linked.item, isNew) : outcome;
    },

    async readItem(itemId, context): Promise<ItemRead> {
      const calls = await connect(system.connection, needs, context);
      if ('status' in calls) return calls;
      const read = await system.read(calls, itemId);
      if (read.status === 'missing') return { status: 'missing' };
      if (read.status !== 'found') return read;
      const { isCompleted, status } = read.item;
      return { status: 'found', item: { itemId: read.item.itemId, isCompleted, status } };
    },

    ...own,
    close: () => needs.caller.close(),
  };
}

function whyNothingToDo<Item extends ItemState>(
  { noun, howToLink, creation }: ItemSystem<Item>,
  { task, event, itemId }: Delivery,
): DeliveryOutcome | undefined {
  if (task.isGone || event === 'gone') {
    const left = itemId === undefined ? `no ${noun} is linked with it` : `${itemId} was left as it is`;
    const detail = `The ${task.kind} is no longer at the service and ${left}: close the ${noun} by hand if it is not needed any more`;
    return { status: 'skipped', reason: 'TASK_GONE', detail };
  }
  if (itemId !== undefined || creation !== undefined) return undefined;
  const detail = `No ${noun} is linked with this ${task.kind}: ${howToLink}; or set create: true for this target`;
  return { status: 'skipped', reason: 'NOT_LINKED', detail };
}

async function findOrAdd<Item extends ItemState>(
  { creation, noun, read }: ItemSystem<Item>,
  calls: Calls,
  delivery: Delivery,
  added: Map<string, string>,
): Promise<Read<Item> | { readonly status: 'found'; readonly item: Item; readonly isNew: true }> {
  if (creation === undefined) throw new Error('unreachable: without creating there is nothing to link');
  const found = await creation.find(calls, delivery);
  if (found.status !== 'missing') return found;
  const made = await creation.add(calls, delivery);
  if (made.status !== 'added') return mayHaveHappened(made) ? afterSettling(made, noun, creation.settleMs) : made;
  remember(added, keyOf(delivery), made.itemId);
  const item = await read(calls, made.itemId);
  if (item.status === 'found') return { ...item, isNew: true };
  if (item.status !== 'missing') return item;
  const detail = `${made.itemId} was created and is not shown yet`;
  return { status: 'later', reason: 'NOT_SHOWN_YET', detail, retryAfterMs: creation.settleMs };
}

function afterSettling(failure: ItemFailure, noun: string, settleMs: number): ItemFailure {
  if (failure.status !== 'later') return failure;
  const detail = `${failure.detail}; the ${noun} may have been created, and is looked for before another one is`;
  return { ...failure, detail, retryAfterMs: Math.max(failure.retryAfterMs ?? 0, settleMs) };
}

async function align<Item extends ItemState>(
  system: ItemSystem<Item>,
  calls: Calls,
  delivery: Delivery,
  item: Item,
): Promise<DeliveryOutcome> {
  const wanted = wantedState(delivery.task, system.columns);
  const { itemId, status: from } = item;
  if (isInState(item, wanted)) {
    return { status: 'already', detail: `${itemId} is ${from}, which is ${describeWanted(wanted)}` };
  }
  const written = await system.write(calls, item, wanted, delivery);
  if (written.status === 'missing') return itemMissing(system, written);
  if (written.status !== 'written') return written;
  const note = written.note === undefined ? '' : `; ${written.note}`;
  return { status: 'delivered', detail: `${itemId}: ${from} → ${written.to}${note}` };
}

/** The link is told with the outcome that is to be kept; a failure leaves it to the next attempt, which finds the item. */
function withLink<Item extends ItemState>(
  { noun }: ItemSystem<Item>,
  outcome: DeliveryOutcome,
  { itemId, status }: Item,
  isNew: boolean,
): DeliveryOutcome {
  if (outcome.status !== 'delivered' && outcome.status !== 'already') return outcome;
  if (outcome.status === 'already' && !isNew) return { ...outcome, itemId };
  const detail = isNew
    ? `${noun} created; ${outcome.status === 'already' ? `${itemId} is ${status}` : outcome.detail}`
    : outcome.detail;
  return { status: 'delivered', itemId, ...(detail !== undefined && { detail }) };
}

function itemMissing<Item extends ItemState>(
  { noun, howToLink }: ItemSystem<Item>,
  { detail }: Missing,
): DeliveryOutcome {
  const remedy = `the linked ${noun} is deleted, or the token may not see it: ${howToLink}`;
  return { status: 'refused', reason: 'ITEM_MISSING', detail: `${detail}; ${remedy}` };
}

function remember(added: Map<string, string>, key: string, itemId: string): void {
  const [oldest] = added.keys();
  if (added.size >= MAX_REMEMBERED && oldest !== undefined) added.delete(oldest);
  added.set(key, itemId);
}

function keyOf({ account, task }: Delivery): string {
  return `${account}/${task.kind}/${task.id}`;
}
