/** Shared by tests of targets with items: deliveries to make, and a target over a stand-in of its vendor. */
import { LockstepError } from '../../src/base/errors.ts';
import type { CallContext, Delivery, Target, TaskState } from '../../src/contract/target.ts';
import { openCaller } from '../../src/mirror/targets/calls/caller.ts';
import type { Creating, DetailLog } from '../../src/mirror/targets/items/creation-log.ts';
import type { ItemNeeds } from '../../src/mirror/targets/items/item-calls.ts';
import type { SecretRef } from '../../src/settings/fields.ts';
import { Hidden } from '../../src/settings/hidden.ts';
import type { ItemField, ItemSettings } from '../../src/settings/target-items.ts';
import { type FreeBudget, freeBudget } from './free-budget.ts';
import type { Reply, SeenRequest } from './http-server.ts';
import type { VendorStandin } from './vendor-standin.ts';

export const TOKEN = 'canary-token-7f3a9c51';
export const HOOK_SECRET = 'canary-hook-secret-5d2e8b';
export const SEEN_AT = new Date('2026-03-01T12:00:00Z');

/** A vendor with items in memory, as the suite of all such targets uses it. */
export interface ItemVendor {
  readonly vendor: VendorStandin;
  readonly openTarget: (needs: ItemNeeds, settings: { readonly create: boolean }) => Target;
  /** Adds an item and returns its id. */
  put(isCompleted: boolean, labels?: readonly string[]): string;
  isCompleted(itemId: string): boolean;
  count(): number;
  /** Does the request change the state of an item? */
  isWrite(request: SeenRequest): boolean;
  isCreation(request: SeenRequest): boolean;
  /** The setting that lets the target create items. Default: create: true. */
  readonly create?: string;
  /** The answer for an item that does not exist. */
  readonly missing: Reply;
}

/** A vendor whose items have fields and comments. */
export interface DetailedVendor extends ItemVendor {
  readonly openTarget: (needs: ItemNeeds, settings: { readonly create: boolean } & Partial<ItemSettings>) => Target;
  /** A field of an item as the vendor has it. */
  field(itemId: string, name: ItemField): unknown;
  readonly comments: VendorComment[];
  isComment(request: SeenRequest): boolean;
  /** Does the request change fields of an item? */
  isUpdate(request: SeenRequest): boolean;
  /** Something in an item changes at this time. */
  touch(itemId: string, at: Date): void;
}

export interface VendorComment {
  /** An id of our choice, or the vendor's. */
  readonly id: string;
  readonly itemId: string;
  readonly text: string;
}

/** What the settings of every vendor have in tests. */
export const USUAL = { name: 'outside', create: true, columns: {}, timeoutMs: 15_000, allowPrivate: false } as const;

/** As in settings without these keys. */
export const NO_DETAILS: ItemSettings = {
  fields: {},
  people: {},
  onChange: [],
  comment: false,
  createTasks: false,
  whenGone: 'leave',
};

/** A ledger's log in memory: it is kept while targets are opened again. */
export interface FakeLog extends DetailLog {
  /** What `lastDelivered` answers. */
  delivered: Pick<Delivery, 'id' | 'task'> | undefined;
  /** Makes everything recorded so much older. */
  age(ms: number): void;
}

export function fakeLog(): FakeLog {
  const created = new Map<string, { at: string; agoMs: number; isTaken: boolean; result?: string; by?: Delivery }>();
  const keyOf = ({ account, task }: Creating) => `${account}/${task.kind}:${task.id}`;
  let count = 0;
  return {
    delivered: undefined,
    age(ms) {
      for (const each of created.values()) each.agoMs += ms;
    },
    async lastDelivered(delivery) {
      return this.delivered ?? created.get(keyOf(delivery))?.by;
    },
    lastOf: async (what) => created.get(keyOf(what)),
    async begin(what, last) {
      if (created.get(keyOf(what))?.at !== last?.at) return undefined;
      const by = 'sequence' in what ? (what as Delivery) : undefined; // safe: only deliveries have one
      created.set(keyOf(what), { at: String(++count), agoMs: 0, isTaken: false, ...(by && { by }) });
      return String(count);
    },
    async noteTaken(what, result) {
      const known = created.get(keyOf(what));
      if (known) Object.assign(known, { isTaken: true, result });
    },
    async lastCreated(agoMs) {
      const last = [...created.values()].findLast((each) => each.agoMs >= agoMs && each.by && each.result);
      return last?.by && { account: last.by.account, task: last.by.task, itemId: last.result ?? '' };
    },
    async forget(what, at) {
      if (at === undefined || created.get(keyOf(what))?.at === at) created.delete(keyOf(what));
    },
  };
}

export function secretRef(text: string, where = 'targets.outside.token'): SecretRef {
  return { from: 'literal', value: new Hidden(text), where };
}

export function needsOf(
  vendor: Pick<VendorStandin, 'url'>,
  given: { allowPrivate?: boolean; path?: string; log?: DetailLog } = {},
): ItemNeeds & { readonly budget: FreeBudget } {
  const budget = freeBudget();
  const caller = openCaller({
    name: 'outside',
    baseUrl: `${vendor.url}${given.path ?? ''}`,
    allowPrivate: given.allowPrivate ?? true,
    timeoutMs: 5_000,
    take: (signal) => budget.take({ lane: 'batch', signal }),
  });
  return { caller, readSecret, now: () => SEEN_AT, budget, log: given.log ?? fakeLog() };
}

export async function readSecret(ref: SecretRef): Promise<string> {
  if (ref.from === 'literal') return ref.value.reveal();
  throw new LockstepError('SECRET_MISSING', `The secret for ${ref.where} is missing`, { exitCode: 2 });
}

export function context(): CallContext {
  return { signal: new AbortController().signal };
}

export function deliveryOf(task: Partial<TaskState> = {}, given: Partial<Omit<Delivery, 'task'>> = {}): Delivery {
  const isCompleted = task.isCompleted ?? false;
  return {
    id: 'msg_abcdefghijklmnopqrstuvwx',
    account: 'demo',
    sequence: 2,
    event: isCompleted ? 'completed' : 'reopened',
    seenAt: SEEN_AT,
    itemId: undefined,
    ...given,
    task: {
      kind: 'task',
      id: '12',
      title: 'Call the printer',
      description: '<p>About the <b>invoice</b></p><!-- lockstep-000000000000 -->',
      status: isCompleted ? 'completed' : 'open',
      isCompleted,
      isGone: false,
      startDate: undefined,
      endDate: undefined,
      parentId: undefined,
      ...task,
    },
  };
}
