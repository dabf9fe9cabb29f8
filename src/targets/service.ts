/**
 * Tasks of another account of the service: marks them complete or not as theirs here are, each by the id it is linked
 * with. A task is read before it is written; marking one twice leaves what marking it once leaves.
 */
import { recordIn } from '../client/decode.ts';
import { type Dialect, idOf, type Json, toWireId } from '../client/dialect.ts';
import { isKeyRefused } from '../client/retry-policy.ts';
import { LockstepError } from '../errors.ts';
import type { ServiceTarget } from '../settings/targets/service.ts';
import { type ServiceAccount, type ServiceFailure, serviceFailure } from './service-account.ts';
import { type CreationLog, createCreations } from './service-creation.ts';
import { createSharedLists } from './shared-lists.ts';
import type { Delivery, DeliveryOutcome, ItemRead, ItemState, Target, TaskState } from './target.ts';
import { describeWanted, isInState, wantedState } from './wanted.ts';

/** `saysCompletion`: the record itself says whether it is completed; else it is taken for open. */
export type TaskRead =
  | { readonly status: 'read'; readonly task: TaskState; readonly saysCompletion: boolean }
  | { readonly status: 'no-id' }
  | { readonly status: 'unreadable'; readonly member: string; readonly value: Json };

export interface ServiceNeeds {
  readonly accounts: {
    /** The account as it was opened before. Rejects with a LockstepError where it cannot be used. */
    open(name: string): Promise<ServiceAccount>;
    /** The account as it is now, with a key that may have been mended. */
    reopen(name: string): Promise<ServiceAccount>;
  };
  /** A task as the service writes it. */
  readonly readTask: (record: Json, dialect: Dialect) => TaskRead;
  readonly creations: CreationLog;
  /** Monotonic milliseconds. Default: the system's. */
  readonly nowMs?: () => number;
  readonly lookAfterMs?: readonly number[];
}

interface FoundItem extends ItemState {
  readonly saysCompletion: boolean;
}

type Found = { readonly status: 'found'; readonly item: FoundItem } | Missing | ServiceFailure;
type Missing = { readonly status: 'missing'; readonly detail: string };

const LOOK_AFTER_MS = [0, 1_000, 3_000];
/** Past this a call is put off, and with it whatever else goes to this account. */
const PATIENCE_MS = 30_000;

export function openService(settings: ServiceTarget, needs: ServiceNeeds): Target {
  const { nowMs = () => performance.now(), lookAfterMs = LOOK_AFTER_MS } = needs;
  const lists = createSharedLists(nowMs);
  const creations = createCreations({ lists, log: needs.creations, nowMs, lookAfterMs });
  const howToLink = `name it in the text of the task as ${settings.account}#12, or import links`;
  let wasRefused = false;

  async function openAccount(): Promise<ServiceAccount | ServiceFailure> {
    try {
      if (!wasRefused) return await needs.accounts.open(settings.account);
      const account = await needs.accounts.reopen(settings.account);
      wasRefused = false;
      return account;
    } catch (error) {
      if (!(error instanceof LockstepError)) throw error;
      return { status: 'later', reason: error.code, detail: error.message };
    }
  }

  async function deliverTo(account: ServiceAccount, delivery: Delivery, signal: AbortSignal): Promise<DeliveryOutcome> {
    const linked = delivery.itemId;
    const placed =
      linked === undefined
        ? await creations.findOrCreate(delivery, account, signal)
        : ({ status: 'found', itemId: linked, isNew: false } as const);
    if (placed.status !== 'found') return placed;
    const read = await readItem(account, placed.itemId, signal, needs);
    if (read.status === 'missing') {
      // So that another one may be created, once a person has taken the link away.
      await needs.creations.forget(delivery);
      return itemMissing(read);
    }
    if (read.status !== 'found') return read;
    const outcome = await align(account, delivery, read.item, signal);
    return linked === undefined ? withLink(outcome, placed) : outcome;
  }

  async function align(
    account: ServiceAccount,
    delivery: Delivery,
    item: FoundItem,
    signal: AbortSignal,
  ): Promise<DeliveryOutcome> {
    const wanted = wantedState(delivery.task, settings.columns);
    const { itemId, status: from } = item;
    if (item.saysCompletion && isInState(item, wanted)) {
      return { status: 'already', detail: `${itemId} is ${from}, which is ${describeWanted(wanted)}` };
    }
    const outcome = await account.client.call('tasks.complete', {
      lane: 'batch',
      stopWaiting: signal,
      maxWaitMs: PATIENCE_MS,
      path: { task_id: itemId },
      body: { isCompleted: wanted.status === 'completed' },
    });
    if (outcome.status === 'applied') {
      return { status: 'delivered', detail: `${itemId}: ${from} → ${describeWanted(wanted)}` };
    }
    if (outcome.status === 'refused' && outcome.httpStatus === 404) {
      return itemMissing({ status: 'missing', detail: outcome.message });
    }
    return serviceFailure(outcome, 'tasks.complete', account);
  }

  function itemMissing({ detail }: Missing): DeliveryOutcome {
    const remedy = `account ${settings.account} has no such task, or not any more: ${howToLink}`;
    return { status: 'refused', reason: 'ITEM_MISSING', detail: `${detail}; ${remedy}` };
  }

  return {
    async deliver(delivery, { signal }) {
      const nothing = whyNothingToDo(delivery, settings, howToLink);
      if (nothing !== undefined) return nothing;
      const account = await openAccount();
      if ('status' in account) return account;
      const outcome = await deliverTo(account, delivery, signal).catch((error: unknown): DeliveryOutcome => {
        if (!signal.aborted) throw error;
        return { status: 'later', reason: 'ABORTED', detail: `account ${account.name}: broken off by a shutdown` };
      });
      if (outcome.status === 'disabled') wasRefused = true;
      return outcome;
    },

    async readItem(itemId, { signal }): Promise<ItemRead> {
      const account = await openAccount();
      if ('status' in account) return account;
      const read = await readItem(account, itemId, signal, needs);
      if (read.status === 'missing') return { status: 'missing' };
      if (read.status !== 'found') return read;
      const { isCompleted, status } = read.item;
      return { status: 'found', item: { itemId, isCompleted, status } };
    },

    itemsIn: (text) => serviceItemsIn(text, settings.account),
    close: () => lists.close(),
  };
}

/** In the order of the text, each once: `account#12`. */
export function serviceItemsIn(text: string, account: string): string[] {
  // Names of accounts are letters, digits, _ and -: nothing that a pattern reads otherwise.
  const pattern = new RegExp(`(?<![\\w/#.-])${account}#(?<id>[\\w-]{1,64})(?![\\w/-])`, 'g');
  return [...new Set([...text.matchAll(pattern)].map(({ groups = {} }) => groups.id ?? ''))];
}

async function readItem(
  account: ServiceAccount,
  itemId: string,
  signal: AbortSignal,
  { readTask }: ServiceNeeds,
): Promise<Found> {
  if (!/^[\w-]{1,64}$/.test(itemId)) {
    const detail = `"${itemId}" is no id of a task: link it by the id that the service gives it`;
    return { status: 'refused', reason: 'ITEM_ID_INVALID', detail };
  }
  const query = { id: toWireId(itemId) };
  const outcome = await account.client.call('tasks.get', { lane: 'batch', signal, maxWaitMs: PATIENCE_MS, query });
  if (outcome.status === 'refused' && !isKeyRefused(outcome)) return { status: 'missing', detail: outcome.message };
  if (outcome.status !== 'applied') return serviceFailure(outcome, 'tasks.get', account);
  const record = recordIn(outcome.content, account.dialect, 'tasks');
  if (record === undefined || idOf(record, 'tasks', account.dialect) !== itemId) {
    return { status: 'missing', detail: `tasks.get of account ${account.name} answers no task ${itemId}` };
  }
  const read = readTask(record, account.dialect);
  if (read.status !== 'read') {
    const said = read.status === 'unreadable' ? ` (${read.member})` : '';
    const detail = `Nobody can tell whether task ${itemId} of account ${account.name} is completed${said}`;
    return { status: 'refused', reason: 'ITEM_UNREADABLE', detail };
  }
  const { isCompleted, status } = read.task;
  return { status: 'found', item: { itemId, isCompleted, status, saysCompletion: read.saysCompletion } };
}

function whyNothingToDo(
  { task, event, itemId }: Delivery,
  { create, account }: ServiceTarget,
  howToLink: string,
): DeliveryOutcome | undefined {
  if (task.isGone || event === 'gone') {
    const left = itemId === undefined ? 'nothing is linked with it' : `task ${itemId} was left as it is`;
    const detail = `The ${task.kind} is no longer at the service and in account ${account} ${left}: close it by hand if it is not needed any more`;
    return { status: 'skipped', reason: 'TASK_GONE', detail };
  }
  if (itemId !== undefined || create) return undefined;
  const detail = `No task of account ${account} is linked with this ${task.kind}: ${howToLink}; or set create: true for this target`;
  return { status: 'skipped', reason: 'NOT_LINKED', detail };
}

/** The link is told with the outcome that is to be kept; a failure leaves it to the next attempt, which finds the task. */
function withLink(
  outcome: DeliveryOutcome,
  { itemId, isNew }: { readonly itemId: string; readonly isNew: boolean },
): DeliveryOutcome {
  if (outcome.status !== 'delivered' && outcome.status !== 'already') return outcome;
  if (!isNew) return { ...outcome, itemId };
  return { status: 'delivered', itemId, detail: `task created; ${outcome.detail}` };
}
