/**
 * One read of an account's whole list of tasks, for the markers in it: the only way to find what a create has made, as
 * it answers no id. The pages have no size that could be asked for, so that a task may slip from one to another while
 * they are read: what one read does not show may be there all the same, and two that agree are asked where that matters.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { idOf, isJsonObject, type Json } from '../client/dialect.ts';
import { decideRetry, type Failure, isKeyRefused } from '../client/retry-policy.ts';
import { LockstepError } from '../errors.ts';
import { passOverTasks } from '../scan/task-pages.ts';
import { markerAtEnd } from './marker.ts';
import { type ServiceAccount, serviceFailure } from './service-account.ts';
import type { TargetFailure } from './target.ts';

export interface TaskList {
  readonly status: 'read';
  /** Ids of tasks by the marker that a text of theirs ends with. */
  readonly marked: ReadonlyMap<string, readonly string[]>;
  /** Equal where the same tasks were seen, in whatever order. */
  readonly fingerprint: string;
}

interface Listed {
  readonly id: string;
  readonly marker: string | undefined;
}

const MAX_TASKS = 1_000_000;
/** Of one page. */
const MAX_TRIES = 3;
/** Times in a row that the service may tell to slow down; the budget waits in between as long as it was told. */
const MAX_LIMITED = 20;

/** Ends a read; what of it has been seen is void. With an HTTP status, the page may be one that the service does not have. */
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
    if (ids.size > MAX_TASKS) throw new ReadFailed(endless(account, `more than ${MAX_TASKS} tasks`));
    return { newInPass: ids.size - before, newInAll: 0 };
  };
  try {
    const read = (page: number) => readPage(account, page, signal);
    const result = await passOverTasks<Listed>({ read, keep, firstPage: account.dialect.firstTaskPage });
    if (result.status === 'incomplete') return endless(account, 'the same tasks again and again');
    return { status: 'read', marked, fingerprint: fingerprintOf(ids) };
  } catch (error) {
    if (!(error instanceof ReadFailed)) throw error;
    const { failure } = error;
    return isOutcome(failure) ? failure : serviceFailure(failure, 'tasks.getall', account);
  }
}

async function readPage(account: ServiceAccount, page: number, signal: AbortSignal): Promise<readonly Listed[]> {
  const { client, dialect } = account;
  let limited = 0;
  for (let attempt = 1; ; ) {
    const tasks: Listed[] = [];
    const outcome = await client.stream('tasks.getall', {
      lane: 'batch',
      signal,
      query: { [dialect.pageParam]: page },
      isRetry: attempt > 1,
      onRecords: async (records) => {
        for (const record of records) tasks.push(toListed(record, account));
      },
    });
    if (outcome.status === 'applied') return tasks;
    if (outcome.status === 'limited' && ++limited <= MAX_LIMITED) continue;
    const decision = decideRetry('tasks.getall', outcome, { attempt, random: Math.random() });
    const mayHelp = outcome.status === 'unknown' && decision.status === 'retry' && attempt++ < MAX_TRIES;
    if (!mayHelp || (await account.takeRetry()).status === 'empty') throw new ReadFailed(outcome);
    await delay(decision.afterMs, undefined, { signal }).catch(() => undefined); // aborted: the next try says so
  }
}

/** The service may call a description anything: of all its texts, one with a marker at its end is what is looked for. */
function toListed(record: Json, { name, dialect }: ServiceAccount): Listed {
  const id = idOf(record, 'tasks', dialect);
  if (id === undefined || !isJsonObject(record)) {
    const detail = `A task of account ${name} has no id that is recognised: name its member under accounts.${name}.dialect.idField.tasks`;
    throw new ReadFailed({ status: 'refused', reason: 'RECORD_WITHOUT_ID', detail });
  }
  const texts = Object.values(record).filter((value) => typeof value === 'string');
  return { id, marker: texts.map(markerAtEnd).find((marker) => marker !== undefined) };
}

function endless({ name }: ServiceAccount, what: string): TargetFailure {
  const detail = `The list of tasks of account ${name} has no end: it gives ${what}, so that nobody can tell what is not in it`;
  return { status: 'later', reason: 'LIST_ENDLESS', detail };
}

function isOutcome(failure: Failure | TargetFailure): failure is TargetFailure {
  return 'detail' in failure;
}

/** Hashes of the ids added up, which no order changes, and how many they are. */
function fingerprintOf(ids: ReadonlySet<string>): string {
  let [low, high] = [0, 0];
  for (const id of ids) {
    const hash = createHash('sha1').update(id).digest();
    low = (low + hash.readUInt32LE(0)) >>> 0;
    high = (high + hash.readUInt32LE(4)) >>> 0;
  }
  return `${ids.size}/${low}/${high}`;
}
