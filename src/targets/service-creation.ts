/**
 * Creates the task of another account that stands for a task here, once, over a create that answers no id.
 *
 * 1. A marker of the task ends the description of what is created. It is looked for in the list before anything is sent.
 * 2. That a creation is about to be sent is kept durably first. Whoever comes upon that, after whatever crash, knows that
 *    there may be one under way: until the service must have applied or dropped it, nothing is sent again.
 * 3. After the creation the list is read until the marker shows which task it is; that is linked.
 * 4. What is not in two reads that agree, both begun after that time, is created again, unless the service had said that it
 *    took it: then a person decides.
 * Source: the steps by which loads create, of one task at a time; the contract gives creates no answer ("Tasks").
 */

import { setTimeout as delay } from 'node:timers/promises';
import { absenceAfterMs } from '../absence.ts';
import { recordIn } from '../client/decode.ts';
import { idOf } from '../client/dialect.ts';
import type { Outcome } from '../client/outcome.ts';
import { elapsedMs } from '../clock.ts';
import { markerAtEnd, markerOf } from './marker.ts';
import { type ServiceAccount, serviceFailure } from './service-account.ts';
import type { SharedList, SharedLists } from './shared-lists.ts';
import type { Delivery, DeliveryOutcome, TargetFailure, TaskState } from './target.ts';
import { unlessAborted } from './unless-aborted.ts';

/** Durable, and shared by all processes. */
export interface CreationLog {
  /** The last creation for this task, sent or not; undefined where there is none. */
  lastOf(delivery: Delivery): Promise<LoggedCreation | undefined>;
  /** Records that one is about to be sent, and names it; undefined where another process has begun one since `last`. */
  begin(delivery: Delivery, last: LoggedCreation | undefined): Promise<string | undefined>;
  /** The service has said that it accepted the last one. */
  noteTaken(delivery: Delivery): Promise<void>;
  /** The last one created nothing, or its item is gone. `at`: only if it is still the last one. */
  forget(delivery: Delivery, at?: string): Promise<void>;
}

export interface LoggedCreation {
  /** Its name. */
  readonly at: string;
  readonly agoMs: number;
  readonly isTaken: boolean;
}

export type Created =
  | { readonly status: 'found'; readonly itemId: string; readonly isNew: boolean }
  | Extract<DeliveryOutcome, { status: 'skipped' }>
  | TargetFailure;

export interface CreationNeeds {
  readonly lists: SharedLists;
  readonly log: CreationLog;
  readonly nowMs: () => number;
  /** When, after a creation, the list is looked at; after the last time the delivery comes back later. */
  readonly lookAfterMs: readonly number[];
}

export interface Creations {
  /** Rejects where the signal aborts, and where the log cannot be reached. */
  findOrCreate(delivery: Delivery, account: ServiceAccount, signal: AbortSignal): Promise<Created>;
}

/** A list as old as this shows what was created before; whatever was since is in the log. */
const FRESH_MS = 3_000;
/** Between putting a creation down and its last byte. */
const SEND_WITHIN_MS = 30_000;
/** Creations that are on their way are waited for before the list is read, so that one read shows them all. */
const GATHER_MS = 5_000;
/** Reads in which two have to agree. */
const MAX_READS = 3;

export function createCreations({ lists, log, nowMs, lookAfterMs }: CreationNeeds): Creations {
  const underWay = new Set<Promise<unknown>>();

  async function findOrCreate(delivery: Delivery, account: ServiceAccount, signal: AbortSignal): Promise<Created> {
    if (markerAtEnd(delivery.task.description) !== undefined) return isCopy(delivery);
    const marker = markerOf(delivery);

    /** What a list that began then or later shows of the task, or the list where it shows nothing. */
    async function search(sinceMs: number): Promise<Created | SharedList> {
      const list = await lists.since(account, sinceMs, signal);
      return list.status === 'read' ? (inList(list, marker, account) ?? list) : list;
    }

    /** Undefined: the service has accepted it, and has not said as what. */
    async function send(): Promise<Created | undefined> {
      const last = await log.lastOf(delivery);
      const whyNot = last && (await whyNotAgain(last));
      if (whyNot !== undefined) return whyNot;
      // Before it is recorded: what counts is the time from then on.
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
      const detail = `${failure.detail}; the task may have been created, and is looked for before another one is`;
      return { status: 'later', reason: failure.reason, detail, retryAfterMs: mayArriveWithinMs(account) };
    }

    /** There is an earlier creation: its task, or why no other one is sent now. Undefined: it created nothing. */
    async function whyNotAgain({ agoMs, isTaken }: LoggedCreation): Promise<Created | undefined> {
      const waitMs = mayArriveWithinMs(account) - agoMs;
      if (waitMs > 0) return unseen(account, waitMs);
      let before: SharedList | undefined;
      for (let reads = 1; reads <= MAX_READS; reads++) {
        const list = await search(before?.endedMs ?? nowMs());
        if (list.status !== 'read') return list;
        if (before?.fingerprint === list.fingerprint) return isTaken ? notShown(account, marker) : undefined;
        before = list;
      }
      const detail = `${MAX_READS} reads of the tasks of account ${account.name} did not agree, so it is unclear what is missing`;
      return { status: 'later', reason: 'LIST_UNSTEADY', detail };
    }

    async function look(): Promise<Created> {
      let sinceMs = nowMs();
      const gathering = AbortSignal.any([signal, AbortSignal.timeout(GATHER_MS)]);
      await unlessAborted(gathering, () => Promise.allSettled(underWay)).catch(() => undefined);
      for (const afterMs of lookAfterMs) {
        await delay(afterMs, undefined, { signal }).catch(() => undefined); // aborted: the next line says so
        const list = await search(sinceMs);
        if (list.status === 'found') return { ...list, isNew: true };
        if (list.status !== 'read') return list;
        sinceMs = list.endedMs;
      }
      return unseen(account, account.settleMs);
    }

    const found = await search(nowMs() - FRESH_MS);
    if (found.status !== 'read') return found;
    const sending = send();
    underWay.add(sending);
    const sent = await sending.finally(() => underWay.delete(sending));
    return sent ?? look();
  }

  return { findOrCreate };
}

/** From the moment that a creation was recorded. */
function mayArriveWithinMs({ settleMs }: ServiceAccount): number {
  return SEND_WITHIN_MS + absenceAfterMs(settleMs);
}

function inList(list: SharedList, marker: string, { name }: ServiceAccount): Created | undefined {
  const [itemId, ...others] = list.marked.get(marker) ?? [];
  if (itemId === undefined) return undefined;
  if (others.length === 0) return { status: 'found', itemId, isNew: false };
  const ids = [itemId, ...others].join(', ');
  const detail = `Of account ${name}, the tasks ${ids} all end with ${marker}: delete all but one of them, or link the task with the right one`;
  return { status: 'refused', reason: 'CREATED_TWICE', detail };
}

/** Some services answer the record; the marker shows that it is this one. */
function markedRecord(content: unknown, marker: string, { dialect }: ServiceAccount): string | undefined {
  const record = recordIn(content, dialect, 'tasks');
  const texts = Object.values(record ?? {}).filter((value) => typeof value === 'string');
  return texts.some((text) => markerAtEnd(text) === marker) ? idOf(record, 'tasks', dialect) : undefined;
}

/** Conflict apart: it may say that it is there, sent by somebody whose answer was lost. */
function hasNothingHappened(outcome: Exclude<Outcome, { status: 'applied' }>): boolean {
  return outcome.status === 'refused' ? outcome.httpStatus !== 409 : outcome.status !== 'unknown';
}

function bodyOf({ kind, id, title, description, startDate, endDate, isCompleted }: TaskState, marker: string) {
  const isContracts = (text: string | undefined) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/.test(text ?? '');
  return {
    taskName: title.trim() === '' ? `${kind} ${id}` : title,
    description: `${description}\n\n${marker}`.trimStart(),
    ...(isContracts(startDate) && { startDate }),
    ...(isContracts(endDate) && { endDate }),
    isCompleted,
  };
}

function unseen({ name }: ServiceAccount, retryAfterMs: number): TargetFailure {
  const detail = `A task was or may have been created in account ${name}, and its list does not show it yet; no other one is created meanwhile`;
  return { status: 'later', reason: 'CREATED_UNSEEN', detail, retryAfterMs: Math.ceil(retryAfterMs) };
}

function notShown({ name }: ServiceAccount, marker: string): TargetFailure {
  const detail = `Account ${name} has taken the task, and its list shows none whose description ends with ${marker}: no other one is created; look for it there and link it by hand`;
  return { status: 'refused', reason: 'CREATED_NOT_SHOWN', detail };
}

/** Two accounts that mirror each other would copy the copies for ever. */
function isCopy({ task }: Delivery): Created {
  const detail = `This ${task.kind} was itself created by Lockstep for a task elsewhere: link the two if one is to follow the other`;
  return { status: 'skipped', reason: 'IS_A_COPY', detail };
}
