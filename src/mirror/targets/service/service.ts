/**
 * Tasks of another account of the service: marks them completed or open like the tasks here, each by its linked id. A task is
 * read before it is written; marking one twice has the effect of marking it once.
 */
import { elapsedMs } from '../../../base/clock.ts';
import { shortJson } from '../../../base/texts.ts';
import { recordIn } from '../../../client/call/decode.ts';
import { type Dialect, idOf, toWireId } from '../../../client/call/dialect.ts';
import type { Json } from '../../../client/call/json.ts';
import { isKeyRefused } from '../../../client/call/retry-policy.ts';
import type {
  CallContext,
  DeliveryOutcome,
  ItemState,
  Target,
  TargetFailure,
  TaskState,
} from '../../../contract/target.ts';
import type { SettingsOf } from '../../../settings/schema-target.ts';
import { secretUnread } from '../calls/secret-unread.ts';
import { failedCheck, fine, problem } from '../findings.ts';
import type { CreationLog } from '../items/creation-log.ts';
import { serviceNaming } from '../items/item-naming.ts';
import { type Asked, type Items, itemTarget } from '../items/item-target.ts';
import { describeWanted } from '../items/wanted-state.ts';
import { type ServiceAccount, serviceFailure, suspended } from './service-account.ts';
import { createCreations } from './service-creation.ts';
import { createSharedLists } from './shared-lists.ts';

/** `saysCompletion`: the record itself says whether it is completed; otherwise it counts as open. */
export type TaskRead =
  | { readonly status: 'read'; readonly task: TaskState; readonly saysCompletion: boolean }
  | { readonly status: 'no-id' }
  /** Its value for completion is not a known one. */
  | { readonly status: 'unreadable'; readonly value: Json };

export interface ServiceNeeds {
  readonly accounts: {
    /** Rejects with a LockstepError if the account cannot be used, or is suspended (ACCOUNT_SUSPENDED). */
    use(name: string): Promise<ServiceAccount>;
  };
  /** A task as the service writes it. */
  readonly readTask: (record: Json, dialect: Dialect) => TaskRead;
  readonly creations: CreationLog;
  readonly lookAfterMs?: readonly number[];
}

interface ServiceItem extends ItemState {
  readonly saysCompletion: boolean;
}

const LOOK_AFTER_MS = [0, 1_000, 3_000];
/** After this wait, the call and all other calls to this account are postponed. */
const PATIENCE_MS = 30_000;

export function openService(settings: SettingsOf<'service'>, needs: ServiceNeeds): Target {
  const { lookAfterMs = LOOK_AFTER_MS } = needs;
  const lists = createSharedLists(elapsedMs);
  const createOnce = createCreations({ lists, log: needs.creations, nowMs: elapsedMs, lookAfterMs });
  const naming = serviceNaming(settings);

  async function openAccount(): Promise<ServiceAccount | TargetFailure> {
    try {
      return await needs.accounts.use(settings.account);
    } catch (error) {
      const failure = secretUnread(error);
      return failure.reason === 'ACCOUNT_SUSPENDED' ? suspended(failure.detail) : failure;
    }
  }

  function itemsOf(account: ServiceAccount, { signal, mayDispatch }: CallContext): Items<ServiceItem> {
    return {
      read: (itemId) => readItem(account, itemId, signal, needs),
      async write({ itemId }, wanted) {
        const outcome = await account.client.call('tasks.complete', {
          lane: 'batch',
          stopWaiting: signal,
          mayDispatch,
          maxWaitMs: PATIENCE_MS,
          path: { task_id: itemId },
          body: { isCompleted: wanted.status === 'completed' },
        });
        if (outcome.status === 'applied') return { status: 'ok', value: { to: describeWanted(wanted) } };
        if (outcome.status === 'refused' && outcome.httpStatus === 404) {
          return { status: 'missing', detail: outcome.message };
        }
        const failure = await serviceFailure(outcome, 'tasks.complete', account);
        return outcome.status === 'unknown' ? { ...failure, isUnclear: true } : failure;
      },
      async findOrCreate(delivery) {
        const created = await createOnce(delivery, account, signal);
        if (created.status !== 'found') return created;
        const read = await readItem(account, created.itemId, signal, needs);
        return read.status === 'ok' ? { ...read, isNew: created.isNew } : read;
      },
    };
  }

  const { deliver, readItem: readItemOf } = itemTarget({
    noun: `task of account ${settings.account}`,
    ...naming,
    settings,
    async open(context) {
      const account = await openAccount();
      return 'status' in account ? account : itemsOf(account, context);
    },
    saysState: ({ saysCompletion }) => saysCompletion,
  });

  return {
    deliver: (delivery, context) =>
      deliver(delivery, context).catch((error: unknown): DeliveryOutcome => {
        if (!context.signal.aborted) throw error;
        const detail = `account ${settings.account}: interrupted by a shutdown`;
        return { status: 'later', reason: 'ABORTED', detail };
      }),
    readItem: readItemOf,
    itemsIn: naming.itemsIn,
    async check() {
      const account = await openAccount();
      const what = `account ${settings.account}`;
      if ('status' in account) return [failedCheck(what, account, '')];
      const { status } = await account.checkKey();
      if (status === 'accepted') return [fine(what, 'the service accepts its key')];
      const remedy = `run \`lockstep doctor --account ${settings.account}\``;
      const detail = status === 'refused' ? 'the service refuses its key' : 'the service does not answer as expected';
      return [problem(what, detail, status === 'refused' ? `correct the key (${account.keySource})` : remedy)];
    },
    close: () => lists.close(),
  };
}

async function readItem(
  account: ServiceAccount,
  itemId: string,
  signal: AbortSignal,
  { readTask }: ServiceNeeds,
): Promise<Asked<ServiceItem>> {
  const query = { id: toWireId(itemId) };
  const outcome = await account.client.call('tasks.get', { lane: 'batch', signal, maxWaitMs: PATIENCE_MS, query });
  if (outcome.status === 'refused' && !isKeyRefused(outcome))
    return { status: 'missing', detail: `${outcome.message} (or the service cannot look up tasks by their ids)` };
  if (outcome.status !== 'applied') return serviceFailure(outcome, 'tasks.get', account);
  const record = recordIn(outcome.content, account.dialect, 'tasks');
  if (record === undefined || idOf(record, 'tasks', account.dialect) !== itemId) {
    return { status: 'missing', detail: `tasks.get of account ${account.name} does not return task ${itemId}` };
  }
  const read = readTask(record, account.dialect);
  if (read.status !== 'read') {
    const said = read.status === 'unreadable' ? `: it is ${shortJson(read.value)}` : '';
    const detail = `It is unknown whether task ${itemId} of account ${account.name} is completed${said}`;
    return { status: 'refused', reason: 'ITEM_UNREADABLE', detail };
  }
  const { isCompleted, status } = read.task;
  return { status: 'ok', value: { itemId, isCompleted, status, saysCompletion: read.saysCompletion } };
}
