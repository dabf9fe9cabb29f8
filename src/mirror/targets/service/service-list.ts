/**
 * Reads an account's whole list of tasks once, for the markers in it: the only way to find what a create has made,
 * because it returns no id. The size of the pages cannot be chosen, so a task may move from one page to another while
 * they are read. A read that does not show a task proves nothing; if absence matters, two reads have to agree.
 */
import { createHash } from 'node:crypto';
import { LockstepError } from '../../../base/errors.ts';
import { pause } from '../../../base/pause.ts';
import { idOf, isJsonObject } from '../../../client/call/dialect.ts';
import type { Json } from '../../../client/call/json.ts';
import { decideRetry, type Failure, isKeyRefused } from '../../../client/call/retry-policy.ts';
import type { Query } from '../../../client/lists/beside.ts';
import type { Page } from '../../../client/lists/scan-pages.ts';
import { passOverTasks } from '../../../client/lists/task-pages.ts';
import type { TargetFailure } from '../../../contract/target.ts';
import { markerAtEnd } from '../items/marker.ts';
import { type ServiceAccount, serviceFailure } from './service-account.ts';

export interface TaskList {
  readonly status: 'read';
  /** Ids of tasks by the marker at the end of one of their texts. */
  readonly marked: ReadonlyMap<string, readonly string[]>;
  /** Equal if the same tasks were seen, in any order. */
  readonly fingerprint: string;
}

interface Listed {
  readonly id: string;
  readonly marker: string | undefined;
}

const MAX_TASKS = 1_000_000;
/** Of one page. */
const MAX_TRIES = 3;
/** How often in a row the service may ask to slow down; the budget waits in between for as long as it asks. */
const MAX_LIMITED = 20;

/** Ends a read and discards its result. With an HTTP status, the service may not have that page. */
class ReadFailed extends LockstepError {
  readonly failure: Failure | TargetFailure;

  constructor(failure: Failure | TargetFailure) {
    const isPage = !isOutcome(failure) && failure.status === 'refused' && !isKeyRefused(failure);
    const how = isPage ? { httpStatus: failure.httpStatus } : {};
    super('SERVICE_REFUSED', 'the list of tasks could not be read', how);
    this.failure = failure;
  }
}

export async function readTaskList(account: ServiceAccount, signal: AbortSignal): Promise<TaskList | TargetFailure> {
  const ids = new Set<string>();
  const marked = new Map<string, string[]>();
  const keep = async (tasks: readonly Listed[]) => {
    const before = ids.size;
    for (const { id, marker } of tasks) {
      if (ids.has(id)) continue;
      ids.add(id);
      if (marker !== undefined) marked.set(marker, [...(marked.get(marker) ?? []), id]);
    }
    if (ids.size > MAX_TASKS) throw new ReadFailed(endless(account, `it has more than ${MAX_TASKS} tasks`));
    return { newInPass: ids.size - before, newInAll: 0 };
  };
  try {
    const read = (page: number, instead: Query = { [account.dialect.pageParam]: page }) =>
      readPage(account, instead, signal);
    const result = await passOverTasks<Listed>({ read, keep, firstPage: account.dialect.firstTaskPage });
    if (result.status === 'incomplete') return endless(account, result.reason);
    return { status: 'read', marked, fingerprint: fingerprintOf(ids) };
  } catch (error) {
    if (!(error instanceof ReadFailed)) throw error;
    const { failure } = error;
    return isOutcome(failure) ? failure : serviceFailure(failure, 'tasks.getall', account);
  }
}

async function readPage(account: ServiceAccount, query: Query, signal: AbortSignal): Promise<Page<Listed>> {
  const { client } = account;
  let limited = 0;
  for (let attempt = 1; ; ) {
    const tasks: Listed[] = [];
    const outcome = await client.stream('tasks.getall', {
      lane: 'batch',
      signal,
      query,
      isRetry: attempt > 1,
      onRecords: async (records) => {
        for (const record of records) tasks.push(toListed(record, account));
      },
    });
    if (outcome.status === 'applied') return { records: tasks, beside: outcome.beside };
    if (outcome.status === 'limited' && ++limited <= MAX_LIMITED) continue;
    const decision = decideRetry('tasks.getall', outcome, { attempt, random: Math.random() });
    const mayHelp = outcome.status === 'unknown' && decision.status === 'retry' && attempt++ < MAX_TRIES;
    if (!mayHelp || (await account.takeRetry()).status === 'empty') throw new ReadFailed(outcome);
    await pause(decision.afterMs, signal); // aborted: the next try says so
  }
}

/** A service may give the description any name, so all texts are searched for a marker at their end. */
function toListed(record: Json, { name, dialect }: ServiceAccount): Listed {
  const id = idOf(record, 'tasks', dialect);
  if (id === undefined || !isJsonObject(record)) {
    const detail = `A task of account ${name} has no known id: set accounts.${name}.dialect.idField.tasks to the member with the id`;
    throw new ReadFailed({ status: 'refused', reason: 'RECORD_WITHOUT_ID', detail });
  }
  const texts = Object.values(record).filter((value) => typeof value === 'string');
  return { id, marker: texts.map(markerAtEnd).find((marker) => marker !== undefined) };
}

function endless({ name }: ServiceAccount, why: string): TargetFailure {
  const detail = `The list of tasks of account ${name} cannot be read to its end (${why}), so it is unknown which tasks are missing`;
  return { status: 'later', reason: 'LIST_ENDLESS', detail };
}

function isOutcome(failure: Failure | TargetFailure): failure is TargetFailure {
  return 'detail' in failure;
}

function fingerprintOf(ids: ReadonlySet<string>): string {
  const sorted = JSON.stringify([...ids].sort());
  return `${ids.size}/${createHash('sha256').update(sorted).digest('hex')}`;
}
