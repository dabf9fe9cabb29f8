/** The six lists of records at their first read: the prefix, the path in the answer, and the content. */
import { perKey } from '../../base/per-key.ts';
import { recordIn } from '../../client/call/decode.ts';
import { toWireId } from '../../client/call/dialect.ts';
import type { JsonObject } from '../../client/call/json.ts';
import { isKeyRefused } from '../../client/call/retry-policy.ts';
import type { Beside } from '../../client/lists/beside.ts';
import { type GettableKind, ID_PARAM, type Kind, listOf } from '../../contract/kinds.ts';
import { PREFIXES, type Prefix } from '../../contract/operation.ts';
import type { Caller, Look, LookOptions } from './caller.ts';
import { type FoundList, findList } from './find-list.ts';
import type { ProbedAccount } from './probed-account.ts';

type Query = Readonly<Record<string, string | number | boolean>>;

export interface ListSeen {
  readonly kind: Kind;
  readonly query: Query;
  /** The answer under each prefix that was tried. */
  readonly tries: readonly { readonly prefix: Prefix; readonly look: Look }[];
  /** The prefix that has the route; undefined if neither seems to have it. */
  readonly prefix: Prefix | undefined;
  /** The answer under that prefix, or the last answer; undefined if there was nothing to read (subtasks without a task). */
  readonly look: Look | undefined;
  readonly found: FoundList | undefined;
}

/** At most this many tasks are checked for subtasks, until one has some. */
const TASKS_TO_TRY = 3;

export function probedLists(account: ProbedAccount, calls: Caller): (kind: Kind) => Promise<ListSeen> {
  const read = perKey((kind: Kind): Promise<ListSeen> => {
    return kind === 'subtasks' ? readSubtasks() : kind === 'contacts' ? readContacts() : readAnyPrefix(kind);
  });

  /** Page 0, or page 1 if page 0 is answered without records. */
  async function readContacts(): Promise<ListSeen> {
    const page = (number: number) => readAnyPrefix('contacts', { query: { [account.dialect.pageParam]: number } });
    const zero = await page(0);
    const hasRecords = zero.found !== undefined && zero.found.records.length > 0;
    if (zero.look?.outcome.status !== 'applied' || hasRecords) return zero;
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
    // Both prefixes were refused, so neither is known to be right. The first answer is as good as the second.
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

/** The list in a successful answer. */
export function listFrom(
  { outcome, json }: Look,
  kind: Kind,
  { dialect }: ProbedAccount,
  isPage = false,
): FoundList | undefined {
  return outcome.status === 'applied' && json !== undefined ? findList(json, kind, dialect, isPage) : undefined;
}

/** What a successful answer says beside its list. */
export function besideIn(look: Look | undefined): Beside {
  return look?.outcome.status === 'applied' ? (look.outcome.beside ?? {}) : {};
}

/** The single record in a successful answer. */
export function recordFrom({ outcome }: Look, kind: Kind, { dialect }: ProbedAccount): JsonObject | undefined {
  return outcome.status === 'applied' ? recordIn(outcome.content, dialect, kind) : undefined;
}

/** Reads a list again, under the same prefix. */
export async function readAgain(
  { account, calls }: { account: ProbedAccount; calls: Caller },
  { kind, prefix }: ListSeen,
  query: Query = {},
): Promise<{ look: Look; found: FoundList | undefined }> {
  const look = await calls.look(listOf(kind), { query, prefix });
  return { look, found: listFrom(look, kind, account, Object.keys(query).length > 0) };
}

export function isGettable(kind: Kind): kind is GettableKind {
  return Object.hasOwn(ID_PARAM, kind);
}

/** Gets one record by its id, under the prefix of its list. */
export function getById(calls: Caller, kind: GettableKind, { prefix }: ListSeen, id: string | number): Promise<Look> {
  return calls.look(`${kind}.get`, { query: { [ID_PARAM[kind]]: id }, prefix });
}

export type Ids = readonly string[];

export type FirstPage =
  | { readonly status: 'counted'; readonly from: 0 | 1; readonly isCertain: boolean; readonly ids: Ids }
  /** The page number is ignored: every page is the first. */
  | { readonly status: 'ignored'; readonly ids: Ids }
  | { readonly status: 'empty' };

/**
 * Finds the number of the first page by reading pages 0, 1 and 2: a service that counts from 1 answers page 0 with page
 * 1. `read` returns a page's ids, or undefined if the answer was not a list.
 */
export async function findFirstPage(read: (page: number) => Promise<Ids | undefined>): Promise<FirstPage> {
  const [zero, one] = [await read(0), await read(1)];
  if (zero === undefined || zero.length === 0) {
    return one === undefined || one.length === 0
      ? { status: 'empty' }
      : { status: 'counted', from: 1, isCertain: true, ids: one };
  }
  if (one === undefined || !isSame(zero, one))
    return { status: 'counted', from: 0, isCertain: one !== undefined, ids: zero };
  const two = await read(2);
  if (two !== undefined && isSame(one, two)) return { status: 'ignored', ids: one };
  return { status: 'counted', from: 1, isCertain: two !== undefined, ids: one };
}

function isSame(a: Ids, b: Ids): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}

/** Whether there is a successful answer, of any length. */
export function isAnswered({ outcome }: Look): boolean {
  return outcome.status === 'applied' || (outcome.status === 'unknown' && outcome.reason === 'too-large');
}

/** Whether the answer is a web page, or a redirect, instead of JSON. */
export function isPage({ outcome }: Look): boolean {
  return outcome.status === 'unknown' && (outcome.reason === 'html' || outcome.reason === 'redirect');
}

/**
 * Whether an answer to a list may mean that the path does not exist: a 404, a 405, a web page instead of JSON, or an
 * HTTP 200 that reports a failure that is not about the key.
 */
export function lacksRoute(look: Look): boolean {
  const { outcome } = look;
  if (outcome.status === 'refused') return [200, 404, 405].includes(outcome.httpStatus) && !isKeyRefused(outcome);
  return isPage(look);
}
