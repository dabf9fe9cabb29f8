/**
 * Reads a list that is documented as whole, such as the customers, and detects a service that pages it anyway: if a first
 * page were treated as the whole list, all other records would look missing and be created again.
 *
 * So the read also requests a distant page and stops after its beginning. The same records again mean that the list has no
 * pages; other records mean that it has pages, and then it is scanned like any paged list. If the distant page is empty,
 * the service has pages, and a page between may hold the rest. A list is scanned as well if its answer says that it is only
 * a part: the total is larger, or more records follow. Source: our choice; the contract lists no page parameter
 * for these (docs/contract.md, "Gaps in endpoint definitions").
 */
import { formatCount, plural } from '../../base/counts.ts';
import { codeOf } from '../../base/errors.ts';
import type { Lane } from '../../client/budget/budget.ts';
import { contentOf } from '../../client/call/contract-record.ts';
import { idOf } from '../../client/call/dialect.ts';
import type { Json } from '../../client/call/json.ts';
import type { ListShape } from '../../client/call/shape.ts';
import type { Query } from '../../client/lists/beside.ts';
import { OFFSET_PARAMETERS } from '../../client/lists/continuation.ts';
import { notUnique } from '../../client/lists/repeated-ids.ts';
import { pageQuery, type ScanReport, scan } from '../../client/lists/scan.ts';
import { isPageSize, isPart } from '../../client/lists/scan-pages.ts';
import { SeenIds } from '../../client/lists/seen-ids.ts';
import { type Kind, kindOf } from '../../contract/kinds.ts';
import type { OperationName } from '../../contract/operations.ts';
import type { Account } from './account.ts';
import { RunFailed } from './failure.ts';
import { withoutId } from './list-reader.ts';
import { type ReadOptions, readStream } from './reads.ts';

export interface WholeListOptions extends ReadOptions {
  readonly lane: Lane;
  readonly signal: AbortSignal;
  /** Receives batches of records; a record may come more than once. */
  readonly onRecords: (records: readonly Json[]) => Promise<void>;
  /** Waits until an empty list is to be read again. Default: it is believed. */
  readonly awaitMore?: (() => Promise<void>) | undefined;
}

export interface WholeListRead {
  /** Absent if the list was empty. */
  readonly shape: ListShape | undefined;
  /** Set if the list came in pages. */
  readonly scan: ScanReport | undefined;
  /** Number of records; undefined if the list came in pages. */
  readonly records: number | undefined;
  /** Whether a page after them was empty, or the answer says that none follow: then there are no more. */
  readonly hasEnd: boolean;
  /** The highest id, if all ids are numbers that a service counts. */
  readonly highestId: number | undefined;
}

/** How many records of one answer are compared with each other (64 MB); later records are compared with these only. */
const MOST_COMPARED = 3_000_000;
/** No service returns larger pages. */
const LARGEST_CAP = 10_000;
/** Refusals of a page before the list counts as one without pages. */
const REFUSALS_TO_BELIEVE = 3;

/** @throws Stop, and what `onRecords` throws */
export async function readWholeList(
  account: Account,
  operation: OperationName,
  options: WholeListOptions,
): Promise<WholeListRead> {
  const read = (repeats: Repeats) => readAnswer(account, operation, repeats, options);
  const { first, shape, records, beside } = await read('refused').catch((error: unknown) => {
    // The same record may appear twice, or have changed while the answer was written: the second read compares.
    if (codeOf(error) === 'ID_NOT_UNIQUE') return read('compared');
    throw error;
  });
  if (records === 0 && options.awaitMore !== undefined) {
    await options.awaitMore();
    return readWholeList(account, operation, { ...options, awaitMore: undefined });
  }
  const seen = { shape, highestId: Number.isNaN(first.highest) ? undefined : first.highest };
  const isFirstPage = isPart(records, beside);
  if (records === 0 || records > LARGEST_CAP) {
    if (isFirstPage) return { ...seen, scan: cutOff(records, beside?.total), records: undefined, hasEnd: false };
    return { ...seen, scan: undefined, records, hasEnd: false };
  }
  if (!isFirstPage) {
    const after = await lookAfter(account, operation, first, records, options);
    // A total proves no end: some services count the records of the page.
    const hasEnd = after === 'no records' || beside?.end === true;
    if (after !== 'new records') return { ...seen, scan: undefined, records, hasEnd };
  }
  return { ...seen, scan: await scanPages(account, operation, records, options), records: undefined, hasEnd: true };
}

/** For a list that is only a part by its own answer, and cannot be read in pages. */
function cutOff(records: number, total = 0): ScanReport {
  const more = total > records ? `there are ${formatCount(total)}` : 'more follow';
  const reasons = [`one answer has ${plural(records, 'record')}, and says that ${more}`];
  return { proof: 'unproven', reasons };
}

/** Records that share an id: refused, or compared with each other, which costs as much as reading them. */
type Repeats = 'refused' | 'compared';

async function readAnswer(account: Account, operation: OperationName, repeats: Repeats, options: WholeListOptions) {
  let first = new Ids(account, operation, repeats);
  const { shape, records, beside } = await readStream(account, operation, {
    ...options,
    onTry: () => {
      first = new Ids(account, operation, repeats);
    },
    onRecords: async (batch) => {
      first.note(batch);
      await options.onRecords(batch);
    },
  });
  return { first, shape, records, beside };
}

class Ids {
  /** NaN if an id is not a number that a service counts. */
  highest = 0;
  #first: string | undefined;
  readonly #seen = new SeenIds();
  readonly #idOf: (record: Json) => string | undefined;
  readonly #kind: Kind;
  readonly #repeats: Repeats;

  constructor({ dialect }: Account, operation: OperationName, repeats: Repeats) {
    const kind = kindOf(operation);
    this.#kind = kind;
    this.#idOf = (record) => idOf(record, kind, dialect);
    this.#repeats = repeats;
  }

  /** @throws LockstepError ID_NOT_UNIQUE if two records have one id and, if compared, differ: one would be lost */
  note(records: readonly Json[]): void {
    for (const record of records) {
      const id = this.#idOf(record);
      if (id === undefined) continue; // the consumer reports what is wrong with it
      this.#first ??= id;
      this.highest = Math.max(this.highest, /^[1-9]\d{0,14}$/.test(id) ? Number(id) : Number.NaN);
      if (this.#seen.size >= MOST_COMPARED && !this.#seen.has(id)) continue;
      const isCompared = this.#repeats === 'compared';
      const { lastPass, otherwiseAt } = this.#seen.note(id, 0, isCompared ? contentOf(record, this.#kind) : '');
      if ((isCompared ? otherwiseAt : lastPass) !== undefined) throw notUnique(id, 'of one answer');
    }
  }

  /**
   * Whether another answer that begins with these records is the same list, even if records were added to it meanwhile: it
   * has nothing new, or also the first record. A page may overlap with the first answer, because a filter shortened that one.
   */
  isSameList(beginning: readonly Json[]): boolean {
    const ids = beginning.map((record) => this.#idOf(record) ?? '');
    return ids.every((id) => this.#seen.has(id)) || ids.includes(this.#first ?? '');
  }
}

/** What is after the first answer, on page 2 or, if that is past the end, on page 1. */
async function lookAfter(
  account: Account,
  operation: OperationName,
  first: Ids,
  size: number,
  options: WholeListOptions,
): Promise<Looked> {
  const look = (...asked: [page: number, size: number, instead?: Query]) =>
    lookAt(account, operation, { query: pageQuery(account.dialect, ...asked), first }, options);
  const behind = await look(2, size);
  if (behind === 'new records') return behind;
  if (behind === 'nothing new') {
    if (!isPageSize(size)) return behind;
    for (const parameter of OFFSET_PARAMETERS)
      if ((await look(0, size, { [parameter]: size })) === 'new records') return 'new records';
    return behind;
  }
  // A refusal may be temporary; if a page were treated as absent, all its records would look missing.
  for (let tries = 1; ; tries++) {
    const next = await look(1, size);
    if (next !== 'refused' || tries === REFUSALS_TO_BELIEVE) return next;
  }
}

type Looked = 'new records' | 'nothing new' | 'no records' | 'refused';

async function lookAt(
  account: Account,
  operation: OperationName,
  { query, first }: { readonly query: Query; readonly first: Ids },
  { lane, signal, onCalls }: WholeListOptions,
): Promise<Looked> {
  const enough = new Error('the beginning is enough');
  let found: Looked = 'no records';
  try {
    await readStream(account, operation, {
      lane,
      signal,
      ...(onCalls && { onCalls }),
      query,
      onRecords: async (batch) => {
        if (batch.length === 0) return;
        found = first.isSameList(batch) ? 'nothing new' : 'new records';
        throw enough;
      },
    });
  } catch (error) {
    if (error !== enough && !(error instanceof RunFailed)) throw error;
    if (error !== enough) return 'refused'; // a service without this parameter may refuse it
  }
  return found;
}

async function scanPages(
  account: Account,
  operation: OperationName,
  size: number,
  { onRecords, lane, signal, onCalls }: WholeListOptions,
): Promise<ScanReport> {
  const seen = new SeenIds();
  let calls = 0;
  return scan<Paged>({
    rowsPerPage: size,
    read: async (...asked) => {
      let records: Paged[] = [];
      const { beside } = await readStream(account, operation, {
        lane,
        signal,
        ...(onCalls && { onCalls }),
        query: pageQuery(account.dialect, ...asked),
        onTry: () => {
          records = [];
        },
        onRecords: async (batch) => {
          for (const record of batch) records.push(toPaged(record, operation, account));
        },
      });
      return { records, beside };
    },
    keep: async (records, pass) => {
      const keptIn = calls++;
      await onRecords(records.map(({ record }) => record));
      return seen.notePage(records, pass, keptIn);
    },
  });
}

interface Paged {
  readonly id: string;
  readonly hash: string;
  readonly record: Json;
}

function toPaged(record: Json, operation: OperationName, account: Account): Paged {
  const kind = kindOf(operation);
  const id = idOf(record, kind, account.dialect);
  if (id === undefined) throw withoutId(kind, record, account);
  return { id, hash: contentOf(record, kind), record };
}
