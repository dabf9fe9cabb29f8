/**
 * One read of an account's whole list of tasks, for the markers in it: the only way to find what a create has made, as
 * it answers no id. The pages have no size that could be asked for, so that a task may slip from one to another while
 * they are read: what one read does not show may be there all the same, and two that agree are asked where that matters.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { idOf, isJsonObject, type Json } from '../client/dialect.ts';
import { decideRetry, type Failure, isKeyRefused } from '../client/retry-policy.ts';
import { fixedPass } from '../scan/fixed-pass.ts';
import { emptyPastEnd } from '../scan/missing-page.ts';
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

/** Pages have no size that could be asked for. */
const ANY_SIZE = 0;
const MAX_TASKS = 1_000_000;
/** Of one page. */
const MAX_TRIES = 3;
/** Times in a row that the service may tell to slow down; the budget waits in between as long as it was told. */
const MAX_LIMITED = 20;

/** Ends a read; what of it has been seen is void. */
class ReadFailed extends Error {
  readonly failure: Failure | TargetFailure;

  constructor(failure: Failure | TargetFailure) {
    super('the list of tasks could not be read');
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
    const readByNumber = emptyPastEnd((page) => readPage(account, page, signal), {
      isRefused,
      maySkipZero: account.dialect.firstTaskPage === 'auto',
    });
    const { begin, first } = await findBeginning(account, readByNumber);
    const read = async (index: number) => (index === 0 ? first : readByNumber(index + begin));
    const result = await fixedPass<Listed>({ read, keep, rowsPerPage: ANY_SIZE });
    // A service that ignores page numbers answers the whole list each time.
    const isWhole = ids.size === new Set(first.map(({ id }) => id)).size;
    if (result.status === 'incomplete' && !isWhole) return endless(account, 'the same tasks again and again');
    return { status: 'read', marked, fingerprint: fingerprintOf(ids) };
  } catch (error) {
    if (!(error instanceof ReadFailed)) throw error;
    const { failure } = error;
    return isOutcome(failure) ? failure : serviceFailure(failure, 'tasks.getall', account);
  }
}

/** Where a page 0 is none, pages are counted from 1; where it is the same as page 1, reading both does no harm. */
async function findBeginning(
  { dialect: { firstTaskPage } }: ServiceAccount,
  read: (page: number) => Promise<readonly Listed[]>,
): Promise<{ readonly begin: 0 | 1; readonly first: readonly Listed[] }> {
  if (firstTaskPage !== 'auto') return { begin: firstTaskPage, first: await read(firstTaskPage) };
  const zero = await read(0);
  return zero.length > 0 ? { begin: 0, first: zero } : { begin: 1, first: await read(1) };
}

function isRefused(error: unknown): boolean {
  if (!(error instanceof ReadFailed) || isOutcome(error.failure)) return false;
  return error.failure.status === 'refused' && !isKeyRefused(error.failure);
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
