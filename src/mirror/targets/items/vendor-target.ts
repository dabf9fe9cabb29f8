/**
 * A target with the items of a vendor, reached by its HTTP API with a token.
 *
 * Creating is the one call that cannot simply be repeated. So an item carries a marker of its task, is searched for before
 * it is created, and a creation without a clear answer is retried only after the vendor's own search must show the item.
 */
import type {
  CallContext,
  Delivery,
  ItemState,
  NewItem,
  Target,
  TargetFailure,
  UnreadItem,
} from '../../../contract/target.ts';
import type { ItemSettings } from '../../../settings/target-items.ts';
import { createUnlessUnseen, unseen } from './create-once.ts';
import type { LoggedCreation } from './creation-log.ts';
import { type NamedValues, valueResolver } from './custom-fields.ts';
import { type Calls, connect, type ItemNeeds, isoSeconds, mapAsked } from './item-calls.ts';
import { type DetailItems, type Details, openDetails } from './item-details.ts';
import type { FieldValues, LabelChange } from './item-fields.ts';
import type { ItemNaming } from './item-naming.ts';
import type { VendorAnswers } from './item-outcome.ts';
import { type Page, readChanges } from './item-pages.ts';
import { type Asked, type ItemFound, type ItemSystem, type Items, itemTarget, type Missing } from './item-target.ts';
import { markerAtEnd } from './marker.ts';
import { type AdminSettings, type VendorAdmin, withAdmin } from './vendor-admin.ts';
import { isSameName } from './wanted-state.ts';

export interface Vendor<Item extends ItemState> extends VendorAnswers, ItemNaming, Pick<ItemSystem<Item>, 'noun'> {
  headersOf(token: string): Readonly<Record<string, string>>;
  itemsBy(calls: Calls): VendorItems<Item>;
  /** Reads many items in few calls, at most `most` at once. It may leave items out, which are then read one by one. */
  readonly readMany?: {
    readonly most: number;
    read(calls: Calls, itemIds: readonly string[]): Promise<Asked<readonly ItemState[]>>;
  };
  /** Where items are created, for messages: "project ABC". */
  readonly container: string;
  /** How long an item may exist before `find` shows it; 0 if a repeated creation creates nothing. */
  readonly settleMs: number;
  readonly readHook?: Target['readHook'];
  readonly admin?: VendorAdmin;
}

/** A vendor whose items have fields and comments. */
export interface DetailVendor<Item extends ItemState>
  extends Vendor<Item>,
    Pick<ItemSystem<Item>, 'isFinalWhenCompleted'> {
  itemsBy(calls: Calls): DetailedItems<Item>;
  /**
   * Items that have changed since then by the vendor's clock, or more of them; Lockstep's own only if they show a marker. They come
   * in the order of their changes if they say when they changed.
   */
  newItems(calls: Calls, since: Date, cursor: string | undefined): Promise<Asked<Page<MarkedItem | UnreadItem>>>;
  readonly named?: NamedValues;
  /** Its priorities by their common names; undefined: they are texts. */
  readonly priorities?: Readonly<Record<string, number>>;
}

export interface MarkedItem extends NewItem {
  /** Not more exact than the times that the vendor's list can be asked for. */
  readonly changedAt?: Date;
  /** It is completed, or no item at all. */
  readonly isLeftOut?: boolean;
  readonly labels?: readonly string[];
  /** The text, or the label, that ends with the marker of an item that Lockstep created. */
  readonly marked?: string | null | undefined;
}

export interface VendorItems<Item> extends Pick<Items<Item>, 'read' | 'write' | 'details'> {
  /**
   * The item that an earlier attempt created; undefined if there is none, `missing` if its project is missing. It looks at what
   * `add` needs, too: a failure of `add` counts as a creation without an answer. `begunAt`: when
   * the last attempt began whose outcome is unknown, so the item may exist: a failure if it cannot be known.
   */
  find(delivery: Delivery, begunAt?: Date): Promise<Asked<Item | undefined>>;
  /** Creates it, and returns its id; `missing` if its project is missing. */
  add(delivery: Delivery, values: FieldValues): Promise<Asked<string>>;
}

export type DetailedItems<Item> = VendorItems<Item> & DetailItems<Item>;

interface VendorSettings extends AdminSettings {
  readonly create: boolean;
  readonly columns: Readonly<Record<string, string>>;
  readonly whenGone?: ItemSettings['whenGone'];
}

/** A read may miss an item for so long, also where a repeated creation creates nothing. */
const SHOWN_WITHIN_MS = 60_000;

const NOTHING = { items: [], until: undefined };

function idOf(item: MarkedItem | UnreadItem): string {
  return 'unreadId' in item ? item.unreadId : item.itemId;
}

/** A target of a vendor whose items have fields and comments. */
export function detailTarget<Item extends ItemState>(
  settings: VendorSettings & Details,
  needs: ItemNeeds,
  vendor: DetailVendor<Item>,
): Target {
  const { settleMs, priorities } = vendor;
  const detailsOf = openDetails<Item>(settings, { log: needs.log, settleMs, priorities });
  const { now } = needs;
  const resolver = vendor.named && valueResolver(vendor.named, settings.name, now);
  const target = vendorTarget<Item>(settings, needs, {
    ...vendor,
    itemsBy(calls) {
      const items = vendor.itemsBy(calls);
      const resolve = resolver && ((values: FieldValues) => resolver(calls, values));
      const details = detailsOf({ ...items, ...(resolve && { resolve }) });
      return { ...items, details };
    },
  });

  const { createTasks } = settings;
  if (createTasks === false) return target;
  const wanted = createTasks === true ? [] : createTasks.labels;
  return {
    ...target,
    nameOf: (itemId) => `${vendor.prefix}${itemId}`,
    async newItems(times, context) {
      const calls = await connect(vendor, settings.token, needs, context);
      if ('status' in calls) return calls;
      const read = (since: Date, cursor?: string) => vendor.newItems(calls, since, cursor);
      const asked = times ? await readChanges(read, times.since, idOf) : await mapAsked(read(now()), () => NOTHING);
      if (asked.status === 'missing') return containerMissing(vendor, asked, '');
      if (asked.status !== 'ok') return asked;
      const isNew = ({ createdAt, labels = [], marked, isLeftOut }: MarkedItem) =>
        times !== undefined &&
        isLeftOut !== true &&
        createdAt >= times.baseline &&
        wanted.every((name) => labels.some((label) => isSameName(label, name))) &&
        markerAtEnd(marked ?? '') === undefined;
      const { items: all, until } = asked.value;
      const items = all.flatMap((item) => ('unreadId' in item || !isNew(item) ? [] : [item]));
      const unread = all.flatMap((item) => ('unreadId' in item ? [item] : []));
      return { status: 'read', items, unread, at: calls.vendorTime() ?? now(), until };
    },
  };
}

export function vendorTarget<Item extends ItemState>(
  settings: VendorSettings,
  needs: ItemNeeds,
  vendor: Vendor<Item>,
): Target {
  const { log, now } = needs;
  const { settleMs, noun } = vendor;

  async function findOrCreate(items: VendorItems<Item>, delivery: Delivery): Promise<ItemFound<Item>> {
    const last = await log.lastOf(delivery);
    if (typeof last?.result === 'string') return readCreated(items, last.result, last.agoMs);
    const found = await find(items, delivery, last);
    if (found.status === 'missing') return containerMissing(vendor, found);
    if (found.status !== 'ok') return found;
    if (found.value !== undefined) return { status: 'ok', value: found.value };
    const given = await items.details?.forCreation(delivery);
    if (given !== undefined && given.status !== 'ok') return given;
    const send = () => items.add(delivery, given?.values ?? {});
    const creation = { what: delivery, noun: `the ${noun}`, last, send, resultOf: (itemId: string) => itemId };
    const added = await createUnlessUnseen(creation, { log, settleMs });
    if (added.status === 'missing') return containerMissing(vendor, added);
    if (added.status !== 'ok') return added;
    const item = await readCreated(items, added.value, 0);
    return item.status === 'ok' ? { ...item, isNew: true, given } : item;
  }

  /** The ledger keeps the id of what a creation without an answer has created: such an item was open at first. */
  async function find(items: VendorItems<Item>, delivery: Delivery, last: LoggedCreation | undefined) {
    const found = await items.find(delivery, last && new Date(now().getTime() - last.agoMs));
    if (last !== undefined && found.status === 'ok' && found.value !== undefined)
      await log.noteTaken(delivery, found.value.itemId);
    return found;
  }

  /** By its id, because the vendor's search may lag behind; so may even this. */
  async function readCreated(items: VendorItems<Item>, itemId: string, agoMs: number): Promise<Asked<Item>> {
    const item = await items.read(itemId);
    const waitMs = Math.max(settleMs, SHOWN_WITHIN_MS) - agoMs;
    return item.status === 'missing' && waitMs > 0 ? unseen(`${item.detail}; the ${noun} ${itemId}`, waitMs) : item;
  }

  const system: ItemSystem<Item> = {
    ...vendor,
    settings,
    async open(context) {
      const calls = await connect(vendor, settings.token, needs, context);
      if ('status' in calls) return calls;
      const items = vendor.itemsBy(calls);
      return { ...items, findOrCreate: (delivery) => findOrCreate(items, delivery) };
    },
  };
  const { itemsIn, isItemId, readHook, readMany } = vendor;
  const readItems = readMany && {
    most: readMany.most,
    async read(itemIds: readonly string[], context: CallContext) {
      const calls = await connect(vendor, settings.token, needs, context);
      if ('status' in calls) return calls;
      const asked = await readMany.read(calls, itemIds.filter(isItemId));
      return asked.status === 'ok' ? asked.value : asked.status === 'missing' ? [] : asked;
    },
  };
  const target: Target = {
    ...itemTarget(system),
    itemsIn,
    ...(readItems && { readItems }),
    ...(readHook && { readHook }),
    close: () => needs.caller.close(),
  };
  return vendor.admin === undefined ? target : withAdmin(target, vendor, settings, needs, vendor.admin);
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** An item that was not changed for longer is not searched for, unless its creation was not answered. */
const FIND_WITHIN_MS = 30 * DAY_MS;

/** An item that was created by an attempt that began then is not older than this, whatever the clocks show. */
export function earliestOf(begunAt: Date): Date {
  return new Date(begunAt.getTime() - DAY_MS);
}

/** Items that were not changed since then need not be searched. */
export function searchedSince({ seenAt }: Delivery, begunAt: Date | undefined): string {
  const usualMs = seenAt.getTime() - FIND_WITHIN_MS;
  return isoSeconds(new Date(begunAt === undefined ? usualMs : Math.min(usualMs, earliestOf(begunAt).getTime())));
}

/** More items than can be searched, so a second item could be created. `which`: those that are too many. */
export function tooMany(which: string): TargetFailure {
  const detail = `${which} are too many to search for an item that an earlier attempt created: link the task by hand, or give this target a project or repository of its own`;
  return { status: 'refused', reason: 'TOO_MANY_ITEMS', detail };
}

/** The labels that an item has afterwards: those that a person has added stay. A vendor may show them in another case. */
export function withLabels(current: readonly string[], { add, remove }: LabelChange): readonly string[] {
  const isAmong = (names: readonly string[]) => (label: string) => names.some((name) => isSameName(name, label));
  const kept = current.filter((label) => !isAmong(remove)(label));
  return [...kept, ...new Set(add.filter((label) => !isAmong(kept)(label)))];
}

function containerMissing<Item extends ItemState>(
  { name, container }: Vendor<Item>,
  { detail, httpStatus }: Missing,
  then = ', then replay',
): TargetFailure {
  const why =
    httpStatus === 410
      ? `${name} no longer has ${container}, or no longer offers this call: correct the settings, or update Lockstep`
      : `${name} has no ${container}, or the token may not see it: correct the settings or the token`;
  return { status: 'refused', reason: 'PLACE_MISSING', detail: `${detail}; ${why}${then}` };
}
