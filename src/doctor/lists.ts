/** The six lists of records as an examination first sees them: under which prefix, where in the answer, and what is in it. */
import type { Kind } from '../client/dialect.ts';
import { toWireId } from '../client/dialect.ts';
import { isKeyRefused } from '../client/retry-policy.ts';
import { type OperationName, PREFIXES, type Prefix } from '../contract/operations.ts';
import type { Caller, Look, LookOptions } from './caller.ts';
import { type FoundList, findList } from './find-list.ts';
import type { ProbedAccount } from './probe.ts';

type Query = Readonly<Record<string, string | number | boolean>>;

export interface ListSeen {
  readonly kind: Kind;
  readonly query: Query;
  /** Under each prefix that was tried, what came. */
  readonly tries: readonly { readonly prefix: Prefix; readonly look: Look }[];
  /** The one that has the route; undefined where neither seems to. */
  readonly prefix: Prefix | undefined;
  /** The answer under it, or the last one; undefined where nothing could be asked (subtasks without a task). */
  readonly look: Look | undefined;
  readonly found: FoundList | undefined;
}

/** A task whose subtasks are looked at, at most so many until one has some. */
const TASKS_TO_TRY = 3;

export function listReader(account: ProbedAccount, calls: Caller): (kind: Kind) => Promise<ListSeen> {
  const seen = new Map<Kind, Promise<ListSeen>>();
  const read = (kind: Kind): Promise<ListSeen> => {
    const reading =
      seen.get(kind) ??
      (kind === 'subtasks' ? readSubtasks() : kind === 'contacts' ? readContacts() : readAnyPrefix(kind));
    seen.set(kind, reading);
    return reading;
  };

  /** Page 0, or page 1 where that is empty. */
  async function readContacts(): Promise<ListSeen> {
    const page = (number: number) => readAnyPrefix('contacts', { query: { [account.dialect.pageParam]: number } });
    const zero = await page(0);
    if (zero.found === undefined || zero.found.records.length > 0) return zero;
    const one = await page(1);
    return one.found !== undefined && one.found.records.length > 0 ? one : zero;
  }

  async function readAnyPrefix(kind: Kind, options: Pick<LookOptions, 'path' | 'query'> = {}): Promise<ListSeen> {
    const { query = {} } = options;
    const tries: ListSeen['tries'][number][] = [];
    const ordered = account.prefix === '/v1' ? [...PREFIXES].reverse() : PREFIXES;
    for (const prefix of ordered) {
      const look = await calls.look(listOf(kind), { ...options, prefix });
      tries.push({ prefix, look });
      if (!lacksRoute(look)) return { kind, query, tries, prefix, look, found: listFrom(look, kind, account) };
    }
    // Of two refusals the first is as good as the second; neither prefix is known to be right.
    return { kind, query, tries, prefix: undefined, look: tries[0]?.look, found: undefined };
  }

  async function readSubtasks(): Promise<ListSeen> {
    const { found, prefix } = await read('tasks');
    let last: ListSeen = { kind: 'subtasks', query: {}, tries: [], prefix, look: undefined, found: undefined };
    for (const id of found?.ids.slice(0, TASKS_TO_TRY) ?? []) {
      last = await readAnyPrefix('subtasks', { path: { task_id: toWireId(id) } });
      if (last.found === undefined || last.found.ids.length > 0) break;
    }
    return last;
  }

  return read;
}

export function listOf(kind: Kind): OperationName {
  return `${kind}.getall`;
}

/** The list in an answer that succeeded. */
export function listFrom({ outcome, json }: Look, kind: Kind, { dialect }: ProbedAccount): FoundList | undefined {
  return outcome.status === 'applied' && json !== undefined ? findList(json, kind, dialect) : undefined;
}

/** Reads a list again, under the prefix it has answered under. */
export async function readAgain(
  { account, calls }: { account: ProbedAccount; calls: Caller },
  { kind, prefix }: ListSeen,
  query: Query = {},
): Promise<{ look: Look; found: FoundList | undefined }> {
  const look = await calls.look(listOf(kind), { query, ...(prefix !== undefined && { prefix }) });
  return { look, found: listFrom(look, kind, account) };
}

/**
 * Whether an answer to a list may mean that there is no such path: a 404, a 405, a page where JSON belongs, or an HTTP 200
 * that reports a failure, where that is not about the key.
 */
export function lacksRoute({ outcome }: Look): boolean {
  if (outcome.status === 'refused') return [200, 404, 405].includes(outcome.httpStatus) && !isKeyRefused(outcome);
  return outcome.status === 'unknown' && (outcome.reason === 'html' || outcome.reason === 'redirect');
}
