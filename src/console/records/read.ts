/** Reads records of an account live, for a page: within a limit of time, and only as far as the budget allows. */
import type { CallOptions } from '../../client/call/client.ts';
import { listIn, recordIn } from '../../client/call/decode.ts';
import { idOf, isJsonObject, toWireId } from '../../client/call/dialect.ts';
import type { Json, JsonObject } from '../../client/call/json.ts';
import type { Outcome, StreamOutcome } from '../../client/call/outcome.ts';
import { ID_PARAM, listOf } from '../../contract/kinds.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Account } from '../../engine/account/account.ts';
import { boardColumns, type ReadColumns } from '../../mirror/tasks/cards.ts';
import { formatTook } from '../../operator/format.ts';
import { KIND, type RecordKind } from './kinds.ts';

export interface Listed {
  readonly id: string;
  readonly record: JsonObject;
}

export interface ListedPage {
  readonly records: readonly Listed[];
  /** Where the next page begins; undefined at the end of the list. */
  readonly next: string | undefined;
  /** Why the rest was not read. */
  readonly problem: string | undefined;
}

export type Read<T> =
  | { readonly status: 'read'; readonly value: T }
  | { readonly status: 'failed'; readonly why: string };

/** How long a page waits for the budget. */
export const MAX_WAIT_MS = 3_000;
const READ_MS = 10_000;
/** Records on a page, if the service allows it. */
export const PAGE = 50;
/** Pages that one search reads. */
const MAX_PAGES = 20;

type Keep = (record: JsonObject) => boolean;

/** Records of a list, from `after`; with a term only those in which it occurs. */
export async function listRecords(
  account: Account,
  kind: RecordKind,
  { term, after }: { readonly term?: string | undefined; readonly after?: string | undefined },
): Promise<ListedPage> {
  if (kind === 'contacts' && term !== undefined) return searchContacts(account, term);
  const lower = term?.toLowerCase();
  const keep: Keep = (record) =>
    lower === undefined || Object.values(record).some((value) => String(value).toLowerCase().includes(lower));
  return listWhere(account, kind, keep, after);
}

/** Whether a record has all these values, such as those that a create sent. */
export function isLike(values: object): Keep {
  return (record) => Object.entries(values).every(([name, value]) => isSame(record[name], value));
}

function isSame(read: unknown, sent: unknown): boolean {
  const [one, other] = [read, sent].map((value) => String(value ?? '').trim());
  return one === other || (one !== '' && other !== '' && Number(one) === Number(other));
}

/** The records of a list that are wanted, from `after`. */
export function listWhere(account: Account, kind: RecordKind, keep: Keep, after?: string): Promise<ListedPage> {
  return KIND[kind].list === 'paged' ? readPages(account, kind, keep, after) : readWhole(account, kind, keep, after);
}

async function searchContacts(account: Account, term: string): Promise<ListedPage> {
  const outcome = await account.client.call('contacts.search', { ...liveReadOptions(), query: { search_term: term } });
  const list = listFrom(account, outcome, 'contacts');
  if (list.status === 'failed') return { records: [], next: undefined, problem: list.why };
  return { records: list.value, next: undefined, problem: undefined };
}

/** Pages until there are enough records. */
async function readPages(
  account: Account,
  kind: RecordKind,
  keep: Keep,
  after: string | undefined,
): Promise<ListedPage> {
  const place = new Place(account, kind, after);
  const options = liveReadOptions();
  const records: Listed[] = [];
  for (let reads = 0; records.length < PAGE && reads < MAX_PAGES; reads++) {
    const { page } = place;
    const read = await readPage(account, kind, page, options);
    if (read.status === 'failed') return { records, next: place.cursor, problem: read.why };
    const { listed, refusal } = read.value;
    const has = place.pass(listed);
    const hasNone = page <= 1 && reads > 0 && records.length === 0;
    if (has === 'end') return { records, next: undefined, problem: hasNone ? refusal : undefined };
    if (has === 'records') records.push(...listed.filter(({ record }) => keep(record)));
  }
  return { records, next: place.cursor, problem: undefined };
}

/** How far a list was read: the next page, and the first id of the page before. */
class Place {
  readonly #first: number;
  #page: number;
  #before: string | undefined;
  #echoes = 0;

  constructor({ dialect: { firstTaskPage } }: Account, kind: RecordKind, cursor: string | undefined) {
    this.#first = kind === 'tasks' && firstTaskPage !== 'auto' ? firstTaskPage : 0;
    const [page = this.#first, before] = cursor?.split('~', 2) ?? [];
    this.#page = Number(page);
    this.#before = before || undefined;
  }

  get page(): number {
    return this.#page;
  }

  get cursor(): string {
    return `${this.#page}~${this.#before ?? ''}`;
  }

  /** Moves to the next page. Some services have no page 0, and answer it empty, with a refusal, or with page 1. */
  pass([first]: readonly Listed[]): 'records' | 'nothing' | 'end' {
    const isEcho = this.#before !== undefined && first?.id === this.#before;
    const hasNothing = isEcho || first === undefined;
    const maySkip = isEcho ? this.#echoes++ === 0 : this.#page === 0 && this.#first === 0;
    if (hasNothing && !maySkip) return 'end';
    this.#before = first?.id ?? this.#before;
    this.#page++;
    return hasNothing ? 'nothing' : 'records';
  }
}

/** `refusal`: what the service said; a refused page counts as empty, because many services refuse pages after the last. */
async function readPage(
  account: Account,
  kind: RecordKind,
  page: number,
  options: ReturnType<typeof liveReadOptions>,
): Promise<Read<{ readonly listed: readonly Listed[]; readonly refusal?: string }>> {
  const outcome = await account.client.call(listOf(kind), { ...options, query: pageQuery(account, kind, page) });
  if (outcome.status === 'refused') return { status: 'read', value: { listed: [], refusal: refusedWords(outcome) } };
  const list = listFrom(account, outcome, kind, true);
  return list.status === 'failed' ? list : { status: 'read', value: { listed: list.value } };
}

function pageQuery({ dialect }: Account, kind: RecordKind, page: number): Record<string, number> {
  const paged = { [dialect.pageParam]: page };
  return kind === 'contacts' ? { ...paged, [dialect.rowsPerPageParam]: PAGE } : paged;
}

/** A list that comes in one answer, read until there are enough records. The cursor is the position in it. */
async function readWhole(account: Account, kind: RecordKind, keep: Keep, after = '0'): Promise<ListedPage> {
  const enough = new AbortController();
  const { signal, ...options } = liveReadOptions();
  const records: Listed[] = [];
  let [position, next] = [0, undefined as string | undefined];
  const outcome = await account.client.stream(listOf(kind), {
    ...options,
    signal: AbortSignal.any([signal, enough.signal]),
    onRecords: async (batch) => {
      for (const one of withIds(batch, account, kind)) {
        const isWanted = position >= Number(after) && keep(one.record);
        if (isWanted && records.length === PAGE) next ??= String(position);
        if (isWanted && records.length < PAGE) records.push(one);
        position++;
      }
      if (next !== undefined) enough.abort();
    },
  });
  if (next !== undefined || outcome.status === 'applied') return { records, next, problem: undefined };
  return { records, next: position > Number(after) ? String(position) : undefined, problem: whyNot(account, outcome) };
}

export async function readRecord(account: Account, kind: RecordKind, id: string): Promise<Read<JsonObject>> {
  const query = { [ID_PARAM[kind]]: toWireId(id) };
  const outcome = await account.client.call(`${kind}.get`, { ...liveReadOptions(), query });
  if (outcome.status !== 'applied') return failed(account, outcome);
  const record = recordIn(outcome.content, account.dialect, kind);
  return record ? { status: 'read', value: record } : { status: 'failed', why: UNREADABLE };
}

export async function readSubtasks(account: Account, taskId: string): Promise<Read<readonly Listed[]>> {
  const path = { task_id: toWireId(taskId) };
  return listFrom(account, await account.client.call('subtasks.getall', { ...liveReadOptions(), path }), 'subtasks');
}

export interface Board {
  readonly record: JsonObject | undefined;
  readonly columns: Extract<ReadColumns, { status: 'read' }>['columns'];
}

export async function readBoard(account: Account, id: string): Promise<Read<Board>> {
  const query = { pipeline_id: toWireId(id) };
  const outcome = await account.client.call('pipelines.get', { ...liveReadOptions(), query });
  if (outcome.status !== 'applied') return failed(account, outcome);
  const read = boardColumns(outcome.content);
  if (read.status === 'unreadable') return { status: 'failed', why: `The answer of the service ${read.why}.` };
  const record = recordIn(outcome.content, account.dialect, 'pipelines');
  return { status: 'read', value: { record, columns: read.columns } };
}

/** One read, with its outcome as it is. */
export function callOnce(
  { client }: Account,
  operation: OperationName,
  given: Pick<CallOptions, 'path' | 'query' | 'body'>,
): Promise<Outcome> {
  return client.call(operation, { ...liveReadOptions(), ...given });
}

/** How a page reads live. */
export function liveReadOptions(): Pick<CallOptions, 'lane' | 'maxWaitMs'> & { readonly signal: AbortSignal } {
  return { lane: 'interactive', maxWaitMs: MAX_WAIT_MS, signal: AbortSignal.timeout(READ_MS) };
}

const UNREADABLE = 'The answer of the service has no record that Lockstep recognises.';

function listFrom(
  account: Account,
  outcome: Outcome,
  kind: RecordKind | 'subtasks',
  isPage = false,
): Read<readonly Listed[]> {
  if (outcome.status !== 'applied') return failed(account, outcome);
  const found = listIn(outcome.content, account.dialect, kind, { of: 'content', isPage });
  return found ? { status: 'read', value: withIds(found.list, account, kind) } : { status: 'failed', why: UNREADABLE };
}

/** A record without an id cannot be opened, so it is left out. */
function withIds(list: readonly Json[], { dialect }: Account, kind: RecordKind | 'subtasks'): readonly Listed[] {
  return list.filter(isJsonObject).flatMap((record) => {
    const id = idOf(record, kind, dialect);
    return id === undefined ? [] : [{ id, record }];
  });
}

function failed(account: Account, outcome: Outcome): { readonly status: 'failed'; readonly why: string } {
  return { status: 'failed', why: whyNot(account, outcome) };
}

/** Why a read shows nothing, and when to try again. */
function whyNot({ name }: Account, outcome: Outcome | StreamOutcome): string {
  switch (outcome.status) {
    case 'applied':
      return UNREADABLE;
    case 'refused':
      return refusedWords(outcome);
    case 'limited':
      return `The service asks for a pause of ${formatTook(outcome.retryAfterMs)}. Read it again after that.`;
    case 'not-sent':
      if (outcome.reason === 'budget')
        return `The rate budget of ${name} has no call left for this page now: runs use it. Read it again${soon(outcome.retryAfterMs)}.`;
      return `Not read: ${outcome.message}.`;
    case 'unknown':
      if (outcome.reason === 'aborted')
        return `The service took longer than ${formatTook(READ_MS)}, the limit of a page.`;
      return `Not read: ${outcome.message}.`;
    default:
      return outcome satisfies never;
  }
}

function soon(ms: number | undefined): string {
  return ms === undefined ? '' : ` in ${formatTook(Math.max(1_000, ms))}`;
}

function refusedWords({ httpStatus, message }: Extract<Outcome | StreamOutcome, { status: 'refused' }>): string {
  return `The service refused (HTTP ${httpStatus}): ${message}`;
}
