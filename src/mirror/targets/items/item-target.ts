/**
 * A target whose items have a state: it reads the item first, writes only if the state differs, and links a task without an
 * item with one that it finds or creates.
 */
import type {
  CallContext,
  Delivery,
  DeliveryOutcome,
  ItemRead,
  ItemState,
  Target,
  TargetFailure,
} from '../../../contract/target.ts';
import type { ItemSettings } from '../../../settings/target-items.ts';
import type { ReadFields } from './item-fields.ts';
import type { ItemNaming } from './item-naming.ts';
import { describeWanted, isInState, type Wanted, wantedState } from './wanted-state.ts';

export type Missing = { readonly status: 'missing'; readonly detail: string; readonly httpStatus?: number };
export type Asked<T> = { readonly status: 'ok'; readonly value: T } | Missing | TargetFailure;

type Skipped = Extract<DeliveryOutcome, { status: 'skipped' }>;
/** `to`: the new state of the item, for people. `shown`: the state that the answer shows, in the same words. */
export type Written = Asked<{ readonly to: string; readonly note?: string; readonly shown?: string }> | Skipped;
export type ItemFound<Item> =
  | { readonly status: 'ok'; readonly value: Item; readonly isNew?: boolean; readonly given?: ReadFields | undefined }
  | Missing
  | Skipped
  | TargetFailure;

/** `done`: what was written, for people. */
export interface Detailed {
  readonly done: readonly string[];
  readonly failure?: TargetFailure | undefined;
}

/** What a delivery writes besides the state of an item. */
export interface ItemDetails<Item> {
  /** The values of all fields for an item that is about to be created. */
  forCreation(delivery: Delivery): Promise<ReadFields | TargetFailure>;
  writeFields(delivery: Delivery, found: FoundItem<Item>): Promise<Detailed>;
  /** After the state and the fields. */
  writeComments(delivery: Delivery, found: FoundItem<Item>): Promise<Detailed>;
  commentGone(delivery: Delivery, item: Item): Promise<Detailed>;
}

interface FoundItem<Item> {
  readonly item: Item;
  readonly isNew: boolean;
  /** The fields that a new item was created with. */
  readonly given?: ReadFields | undefined;
}

/** The items of a system as one delivery reaches them. */
export interface Items<Item> {
  read(itemId: string): Promise<Asked<Item>>;
  /** For an item that is not in the wanted state. */
  write(item: Item, wanted: Wanted, delivery: Delivery): Promise<Written>;
  /** The item of a task without a link: created once, however often it is called. */
  findOrCreate(delivery: Delivery): Promise<ItemFound<Item>>;
  /** For systems whose items have fields and comments. */
  readonly details?: ItemDetails<Item>;
}

export interface ItemSystem<Item extends ItemState>
  extends Pick<ItemNaming, 'linkedBy' | 'isItemId' | 'howToLink' | 'howToCreate'> {
  /** What an item is, for people: "GitHub issue". */
  readonly noun: string;
  readonly settings: {
    readonly columns: Readonly<Record<string, string>>;
    readonly name: string;
    readonly create: boolean;
    /** Default: leave. */
    readonly whenGone?: ItemSettings['whenGone'];
  };
  /** The fields of a completed item cannot be changed. */
  readonly isFinalWhenCompleted?: boolean;
  /** A failure if the system cannot be used now, because that may be fixed while the delivery waits. */
  open(context: CallContext): Promise<Items<Item> | TargetFailure>;
  /** Whether the item's record says its state; default: every item's does. */
  saysState?(item: Item): boolean;
}

export function itemTarget<Item extends ItemState>(
  system: ItemSystem<Item>,
): Required<Pick<Target, 'deliver' | 'readItem'>> {
  return {
    async deliver(delivery, context) {
      const nothing = whyNothingToDo(system, delivery);
      if (nothing !== undefined) return nothing;
      const items = await system.open(context);
      if ('status' in items) return items;
      return new ItemDelivery(system, items, delivery).outcome(context);
    },

    async readItem(itemId, context): Promise<ItemRead> {
      const items = await system.open(context);
      if ('status' in items) return items;
      const found = await read(system, items, itemId);
      if (found.status === 'missing') return { status: 'missing' };
      if (found.status !== 'ok') return found;
      const { isCompleted, status, isAlwaysOpen } = found.value;
      const item = { itemId: found.value.itemId, isCompleted, status, ...(isAlwaysOpen && { isAlwaysOpen }) };
      return { status: 'found', item };
    },
  };
}

/** What one delivery does with the items of an open system. */
class ItemDelivery<Item extends ItemState> {
  readonly #system: ItemSystem<Item>;
  readonly #items: Items<Item>;
  readonly #delivery: Delivery;

  constructor(system: ItemSystem<Item>, items: Items<Item>, delivery: Delivery) {
    this.#system = system;
    this.#items = items;
    this.#delivery = delivery;
  }

  async outcome({ mayOverwrite }: CallContext): Promise<DeliveryOutcome> {
    const { itemId } = this.#delivery;
    const found: ItemFound<Item> =
      itemId === undefined
        ? await this.#items.findOrCreate(this.#delivery)
        : await read(this.#system, this.#items, itemId);
    if (found.status === 'missing') return this.#missing(found);
    if (found.status !== 'ok') return found;
    if (isGone(this.#delivery)) return this.#afterGone(found.value);
    const outcome = await this.#write(found, mayOverwrite);
    // A linked item that was moved has another id now.
    return itemId === found.value.itemId ? outcome : this.#withLink(outcome, found.value, found.isNew);
  }

  async #afterGone(item: Item): Promise<DeliveryOutcome> {
    if (this.#system.settings.whenGone === 'close') return this.#align(item, { status: 'cancelled' });
    const unchanged = { status: 'already', detail: `${item.itemId} is ${item.status}` } as const;
    const commented = await this.#items.details?.commentGone(this.#delivery, item);
    return commented === undefined ? unchanged : withDetails(unchanged, [commented]);
  }

  /**
   * The state and, for systems that have them, the fields and comments. Fields are written while the item is open: a system may
   * not let a completed one be changed. A field that is refused stops neither the state nor the other fields.
   */
  async #write(
    { value: item, isNew = false, given }: Extract<ItemFound<Item>, { status: 'ok' }>,
    mayOverwrite: CallContext['mayOverwrite'],
  ): Promise<DeliveryOutcome> {
    const delivery = this.#delivery;
    const wanted = wantedState(delivery.task, this.#system.settings.columns);
    const { details } = this.#items;
    const alignOwn = () => this.#align(item, wanted, mayOverwrite);
    if (details === undefined) return alignOwn();
    const found = { item, isNew, given };
    const early = item.isCompleted ? undefined : await details.writeFields(delivery, found);
    if (early?.failure !== undefined && early.failure.status !== 'refused') return early.failure;
    const outcome = await alignOwn();
    if (outcome.status !== 'delivered' && outcome.status !== 'already') return outcome;
    const staysCompleted = item.isCompleted && (wanted.status === 'completed' || outcome.status === 'already');
    const isFinal = staysCompleted && this.#system.isFinalWhenCompleted === true;
    const fields = early ?? (isFinal ? { done: [] } : await details.writeFields(delivery, found));
    return withDetails(outcome, [fields, await details.writeComments(delivery, found)]);
  }

  async #align(item: Item, wanted: Wanted, mayOverwrite?: CallContext['mayOverwrite']): Promise<DeliveryOutcome> {
    const { itemId, status: from } = item;
    const isSure = this.#system.saysState?.(item) !== false;
    if (isSure && isInState(item, wanted)) {
      return { status: 'already', detail: `${itemId} is ${from}, which is ${describeWanted(wanted)}` };
    }
    const overwriting = isSure && !item.isAlwaysOpen ? await mayOverwrite?.(item) : undefined;
    if (overwriting === 'no') {
      const detail = `${itemId} is ${from}: it was changed there after Lockstep last saw it, so Lockstep keeps its state and changes the task`;
      return { status: 'already', detail };
    }
    const written = await this.#items.write(item, wanted, this.#delivery);
    if (written.status === 'missing') return this.#missing(written);
    if (written.status !== 'ok') return written;
    const { to, note, shown = to } = written.value;
    if (shown !== to) {
      const detail = `${itemId}: the target accepted the call and left the ${this.#system.noun} ${shown} instead of ${to}: set it there by hand, or give the token the permission, then replay`;
      return { status: 'refused', reason: 'STATE_KEPT', detail };
    }
    const doubt = overwriting === 'unsure' ? `an earlier delivery or a person had set it to ${from}` : undefined;
    const details = [`${itemId}: ${from} → ${to}`, note, doubt].filter((one) => one !== undefined);
    return { status: 'delivered', detail: details.join('; ') };
  }

  /** The link is written with the outcome, also of a failure; if that fails, the next attempt finds the item and links it. */
  #withLink(outcome: DeliveryOutcome, { itemId, status }: Item, isNew = false): DeliveryOutcome {
    if (outcome.status === 'skipped') return outcome;
    if (!isNew || (outcome.status !== 'delivered' && outcome.status !== 'already')) return { ...outcome, itemId };
    const now = outcome.status === 'already' ? `${itemId} is ${status}` : outcome.detail;
    return { status: 'delivered', itemId, detail: `${this.#system.noun} created; ${now}` };
  }

  /** An item that is not shown may still exist. So no other one is created until a person says that it is gone. */
  #missing({ detail }: Missing): DeliveryOutcome {
    const { noun, howToLink, settings } = this.#system;
    const { account, task } = this.#delivery;
    const remove = `lockstep links remove --target ${settings.name} --account ${account} --task ${task.kind}:${task.id}`;
    const other = settings.create
      ? 'and replay: then Lockstep creates another one'
      : `and link the task with another one (${howToLink}), then replay`;
    const ifDeleted = isGone(this.#delivery) ? 'nothing is left to do' : `run \`${remove}\`, ${other}`;
    const remedy = `the ${noun} is deleted, or the token may not see it: give the token access, and replay; if it is deleted, ${ifDeleted}`;
    return { status: 'refused', reason: 'ITEM_MISSING', detail: `${detail}; ${remedy}` };
  }
}

function whyNothingToDo<Item extends ItemState>(
  { noun, howToLink, howToCreate = 'set create: true for this target', settings }: ItemSystem<Item>,
  delivery: Delivery,
): DeliveryOutcome | undefined {
  const { task, itemId } = delivery;
  if (isGone(delivery)) {
    if (itemId !== undefined && (settings.whenGone ?? 'leave') !== 'leave') return undefined;
    const left = itemId === undefined ? `no ${noun} is linked with it` : `${itemId} was not changed`;
    const detail = `The ${task.kind} is no longer at the service and ${left}: close the ${noun} by hand if it is no longer needed`;
    return { status: 'skipped', reason: 'TASK_GONE', detail };
  }
  if (itemId !== undefined || settings.create) return undefined;
  const detail = `No ${noun} is linked with this ${task.kind}: ${howToLink}; or ${howToCreate}`;
  return { status: 'skipped', reason: 'NOT_LINKED', detail };
}

function isGone({ task, event }: Delivery): boolean {
  return task.isGone || event === 'gone';
}

async function read<Item extends ItemState>(
  { isItemId, noun, linkedBy }: ItemSystem<Item>,
  items: Items<Item>,
  itemId: string,
): Promise<Asked<Item>> {
  if (isItemId(itemId)) return items.read(itemId);
  const detail = `"${itemId}" does not name a ${noun}: link it by ${linkedBy}`;
  return { status: 'refused', reason: 'ITEM_ID_INVALID', detail };
}

function withDetails(
  outcome: DeliveryOutcome & { readonly detail?: string },
  written: readonly Detailed[],
): DeliveryOutcome {
  const { detail = '' } = outcome;
  const done = written.flatMap((each) => each.done);
  const failure = written.find((each) => each.failure !== undefined)?.failure;
  const all = [detail, ...done].join('; ');
  if (failure !== undefined) return { ...failure, detail: `${all}; ${failure.detail}` };
  return done.length === 0 ? outcome : { ...outcome, status: 'delivered', detail: all };
}
