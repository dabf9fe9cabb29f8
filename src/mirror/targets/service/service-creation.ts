/**
 * Creates the copy of a task in another account, once, although a create returns no id.
 *
 * 1. The description of the created task ends with a marker of the task here. Before anything is sent, the list is searched
 *    for that marker.
 * 2. The ledger records durably that a creation is about to be sent. After a crash, the process that finds this record knows
 *    that a creation may be under way: until the service must have applied or dropped it, nothing is sent again.
 * 3. After the creation the list is read until the marker shows which task it is; that task is linked.
 * 4. If two reads that agree, both begun after that time, do not show it, it is created again, unless the service had said
 *    that it accepted it: then a person decides.
 * Source: the steps by which loads create, of one task at a time; the contract gives creates no answer (docs/contract.md, "Tasks").
 */
import { absenceAfterMs } from '../../../base/absence.ts';
import { elapsedMs } from '../../../base/clock.ts';
import { pause } from '../../../base/pause.ts';
import { recordIn } from '../../../client/call/decode.ts';
import { idOf } from '../../../client/call/dialect.ts';
import type { Outcome } from '../../../client/call/outcome.ts';
import type { DeliveryOutcome, TargetFailure, TaskState } from '../../../contract/target.ts';
import { unlessAborted } from '../calls/unless-aborted.ts';
import type { Creating, CreationLog, LoggedCreation } from '../items/creation-log.ts';
import { markerAtEnd, markerOf } from '../items/marker.ts';
import { type ServiceAccount, serviceFailure } from './service-account.ts';
import type { SharedList, SharedLists } from './shared-lists.ts';

export type Created =
  | { readonly status: 'found'; readonly itemId: string; readonly isNew: boolean }
  | Extract<DeliveryOutcome, { status: 'skipped' }>
  | TargetFailure;

export interface CreationNeeds {
  readonly lists: SharedLists;
  readonly log: CreationLog;
  readonly nowMs: () => number;
  /** When the list is read after a creation; after the last of these times the delivery is put off. */
  readonly lookAfterMs: readonly number[];
}

/** A task to create. `kind` and `id` name what it is created for. */
export type NewTask = Creating & {
  readonly task: Creating['task'] & Pick<TaskState, 'title' | 'description' | 'startDate' | 'endDate'>;
};

/** A list of this age shows what was created before it began; the log has everything created since. */
const FRESH_MS = 3_000;
/** The longest time between the record of a creation and its last byte. */
const SEND_WITHIN_MS = 30_000;
/** The list is read only after the creations on their way have ended, so that one read shows them all. */
const GATHER_MS = 5_000;
/** The most reads, of which two have to agree. */
const MAX_READS = 3;

/** Its methods reject if the signal aborts, and if the log cannot be reached. */
export function createCreations({ lists, log, nowMs, lookAfterMs }: CreationNeeds) {
  const underWay = new Set<Promise<unknown>>();

  return async (delivery: NewTask, account: ServiceAccount, signal: AbortSignal): Promise<Created> => {
    if (markerAtEnd(delivery.task.description) !== undefined) return isCopy(delivery);
    const marker = markerOf(delivery);

    /** What a list that began then or later shows of the task, or the list if it shows nothing. */
    async function search(sinceMs: number): Promise<Created | SharedList> {
      const list = await lists.since(account, sinceMs, signal);
      return list.status === 'read' ? (inList(list, marker, account) ?? list) : list;
    }

    /** Undefined: the service has accepted it, but did not return its id. */
    async function send(): Promise<Created | undefined> {
      const last = await log.lastOf(delivery);
      const whyNot = last && (await whyNotAgain(last));
      if (whyNot !== undefined) return whyNot;
      // Before it is recorded, because waiting times count from then on.
      const dispatchBefore = elapsedMs() + SEND_WITHIN_MS;
      const at = await log.begin(delivery, last);
      if (at === undefined) return unseen(account, account.settleMs);
      const body = bodyOf(delivery.task, marker);
      const how = { lane: 'batch', stopWaiting: signal, dispatchBefore, body } as const;
      const outcome = await account.client.call('tasks.create', how);
      if (outcome.status === 'applied') {
        await log.noteTaken(delivery);
        const itemId = markedRecord(outcome.content, marker, account);
        return itemId === undefined ? undefined : { status: 'found', itemId, isNew: true };
      }
      const failure = await serviceFailure(outcome, 'tasks.create', account);
      if (hasNothingHappened(outcome)) {
        await log.forget(delivery, at);
        return failure;
      }
      const detail = `${failure.detail}; the task may have been created, so Lockstep searches for it before it creates another one`;
      return { status: 'later', reason: failure.reason, detail, retryAfterMs: mayArriveWithinMs(account) };
    }

    /** The result of an earlier creation: its task, or why no other one is sent now. Undefined: it created nothing. */
    async function whyNotAgain({ agoMs, isTaken }: LoggedCreation): Promise<Created | undefined> {
      const waitMs = mayArriveWithinMs(account) - agoMs;
      if (waitMs > 0) return unseen(account, waitMs);
      const seen = await searchUntilAgreed(search, nowMs());
      if (seen === 'absent') return isTaken ? notShown(account, marker) : undefined;
      if (seen !== 'unsteady') return seen;
      const detail = `${MAX_READS} reads of the tasks of account ${account.name} did not agree, so it is unclear which tasks are missing`;
      return { status: 'later', reason: 'LIST_UNSTEADY', detail };
    }

    async function look(): Promise<Created> {
      let sinceMs = nowMs();
      const gathering = AbortSignal.any([signal, AbortSignal.timeout(GATHER_MS)]);
      await unlessAborted(gathering, () => Promise.allSettled(underWay)).catch(() => undefined);
      for (const afterMs of lookAfterMs) {
        await pause(afterMs, signal); // aborted: the next line says so
        const list = await search(sinceMs);
        if (list.status === 'found') return { ...list, isNew: true };
        if (list.status !== 'read') return list;
        sinceMs = list.endedMs;
      }
      return unseen(account, account.settleMs);
    }

    async function findOrCreate(): Promise<Created> {
      const found = await search(nowMs() - FRESH_MS);
      if (found.status !== 'read') return found;
      const sending = send();
      underWay.add(sending);
      const sent = await sending.finally(() => underWay.delete(sending));
      return sent ?? look();
    }

    const created = await findOrCreate();
    if (created.status === 'found') await log.noteTaken(delivery, created.itemId);
    return created;
  };
}

/** Absent: two reads of the list that agree do not show it. */
async function searchUntilAgreed(
  search: (sinceMs: number) => Promise<Created | SharedList>,
  sinceMs: number,
): Promise<Created | 'absent' | 'unsteady'> {
  let before: SharedList | undefined;
  for (let reads = 1; reads <= MAX_READS; reads++) {
    const list = await search(before?.endedMs ?? sinceMs);
    if (list.status !== 'read') return list;
    if (before?.fingerprint === list.fingerprint) return 'absent';
    before = list;
  }
  return 'unsteady';
}

/** Counted from the record of a creation. */
function mayArriveWithinMs({ settleMs }: ServiceAccount): number {
  return SEND_WITHIN_MS + absenceAfterMs(settleMs);
}

function inList(list: SharedList, marker: string, { name }: ServiceAccount): Created | undefined {
  const [itemId, ...others] = list.marked.get(marker) ?? [];
  if (itemId === undefined) return undefined;
  if (others.length === 0) return { status: 'found', itemId, isNew: false };
  const ids = [itemId, ...others].join(', ');
  const detail = `The tasks ${ids} of account ${name} all end with ${marker}: delete all but one of them, or link the task with the right one`;
  return { status: 'refused', reason: 'CREATED_TWICE', detail };
}

/** Some services answer with the record; the marker proves that it is this one. */
function markedRecord(content: unknown, marker: string, { dialect }: ServiceAccount): string | undefined {
  const record = recordIn(content, dialect, 'tasks');
  const texts = Object.values(record ?? {}).filter((value) => typeof value === 'string');
  return texts.some((text) => markerAtEnd(text) === marker) ? idOf(record, 'tasks', dialect) : undefined;
}

/** Except a conflict: it may mean that the task exists, created by an earlier call whose answer was lost. */
function hasNothingHappened(outcome: Exclude<Outcome, { status: 'applied' }>): boolean {
  return outcome.status === 'refused' ? outcome.httpStatus !== 409 : outcome.status !== 'unknown';
}

function bodyOf({ kind, id, title, description, startDate, endDate }: NewTask['task'], marker: string) {
  const isContracts = (text: string | undefined) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text ?? '');
  return {
    taskName: title.trim() === '' ? `${kind} ${id}` : title,
    description: `${description}\n\n${marker}`.trimStart(),
    ...(isContracts(startDate) && { startDate }),
    ...(isContracts(endDate) && { endDate }),
    isCompleted: false, // like every created item: people may complete it before it is linked
  };
}

function unseen({ name }: ServiceAccount, retryAfterMs: number): TargetFailure {
  const detail = `A task may have been created in account ${name}, but the list there does not show it yet; Lockstep creates no other task until the list shows it`;
  return { status: 'later', reason: 'CREATED_UNSEEN', detail, retryAfterMs: Math.ceil(retryAfterMs) };
}

function notShown({ name }: ServiceAccount, marker: string): TargetFailure {
  const detail = `Account ${name} accepted the task, but its list has no task whose description ends with ${marker}. Lockstep creates no other task: find this one there and link it by hand`;
  return { status: 'refused', reason: 'CREATED_NOT_SHOWN', detail };
}

/** Without this, two accounts that mirror each other would copy the copies endlessly. */
function isCopy({ task }: NewTask): Created {
  const detail = `This ${task.kind} was itself created by Lockstep for a task elsewhere: to make one follow the other, link them`;
  return { status: 'skipped', reason: 'IS_A_COPY', detail };
}
