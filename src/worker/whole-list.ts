/**
 * Reads a list that is documented as whole, such as the customers, and finds out where a service pages it after all: a
 * first page taken for the whole would make everything beyond it look missing, and have it created again.
 *
 * So a page far behind is asked for as well, and cut off when its beginning is here: the same records again tell that the
 * list knows no pages, other records that it has them, and then they are scanned like any paged list. Where it is empty,
 * pages are known, and one between may hold the rest.
 * Source: our choice; the contract lists no page parameter for these ("Gaps in endpoint definitions").
 */
import { idOf, type Json, kindOf } from '../client/dialect.ts';
import type { ListShape } from '../client/shape.ts';
import type { OperationName } from '../contract/operations.ts';
import { codeOf } from '../errors.ts';
import { notUnique } from '../scan/repeated-ids.ts';
import { type ScanReport, scan } from '../scan/scan.ts';
import { SeenIds } from '../scan/seen-ids.ts';
import type { Account } from './accounts.ts';
import { type ReadOptions, readStream } from './reads.ts';
import { RunFailed } from './trouble.ts';
import { withoutId } from './without-id.ts';

export interface WholeListOptions extends ReadOptions {
  readonly lane: 'interactive' | 'batch';
  readonly signal: AbortSignal;
  /** Batches of records; a record may come more than once. */
  readonly onRecords: (records: readonly Json[]) => Promise<void>;
}

export interface WholeListRead {
  /** Absent where the list was empty. */
  readonly shape: ListShape | undefined;
  /** Set where the list came in pages. */
  readonly scan: ScanReport | undefined;
  /** How many it holds; undefined where it came in pages. */
  readonly records: number | undefined;
}

/** Records of one answer that are held against each other, 64 MB of them; of more only those of these. */
const MOST_COMPARED = 3_000_000;
/** No service puts more on a page. */
const LARGEST_CAP = 10_000;
/** Times that a page is refused before the list is taken for one without pages. */
const REFUSALS_TO_BELIEVE = 3;

/** @throws Stop, and what `onRecords` throws */
export async function readWholeList(
  account: Account,
  operation: OperationName,
  options: WholeListOptions,
): Promise<WholeListRead> {
  const read = (repeats: Repeats) => readAnswer(account, operation, repeats, options);
  const { first, shape, records } = await read('refused').catch((error: unknown) => {
    // The same record may be there twice, or have changed while the answer was written: the second read compares.
    if (codeOf(error) === 'ID_NOT_UNIQUE') return read('compared');
    throw error;
  });
  if (records === 0 || records > LARGEST_CAP) return { shape, scan: undefined, records };
  const isPaged = await showsMore(account, operation, first, records, options);
  if (!isPaged) return { shape, scan: undefined, records };
  return { shape, scan: await scanPages(account, operation, records, options), records: undefined };
}

/** Records that share an id: not expected, or held against each other, which costs as much as reading them. */
type Repeats = 'refused' | 'compared';

async function readAnswer(account: Account, operation: OperationName, repeats: Repeats, options: WholeListOptions) {
  let first = new Ids(account, operation, repeats);
  const { shape, records } = await readStream(account, operation, {
    ...options,
    onTry: () => {
      first = new Ids(account, operation, repeats);
    },
    onRecords: async (batch) => {
      first.note(batch);
      await options.onRecords(batch);
    },
  });
  return { first, shape, records };
}

/** The ids of one answer. */
class Ids {
  readonly #seen = new SeenIds();
  readonly #idOf: (record: Json) => string | undefined;
  readonly #repeats: Repeats;

  constructor({ dialect }: Account, operation: OperationName, repeats: Repeats) {
    const kind = kindOf(operation);
    this.#idOf = (record) => idOf(record, kind, dialect);
    this.#repeats = repeats;
  }

  /** @throws LockstepError ID_NOT_UNIQUE where two records carry one id and, where compared, differ: one would be lost */
  note(records: readonly Json[]): void {
    for (const record of records) {
      const id = this.#idOf(record);
      if (id === undefined) continue; // the consumer says what is the matter with it
      if (this.#seen.size >= MOST_COMPARED && !this.#seen.has(id)) continue;
      const isCompared = this.#repeats === 'compared';
      const { lastPass, otherwiseAt } = this.#seen.note(id, 0, isCompared ? JSON.stringify(record) : '');
      if ((isCompared ? otherwiseAt : lastPass) !== undefined) throw notUnique(id, 'of one answer');
    }
  }

  isNew(record: Json): boolean {
    return !this.#seen.has(this.#idOf(record) ?? '');
  }
}

/** Whether there is more than the first answer, on page 2 or, where that is behind the end, on page 1. */
async function showsMore(
  account: Account,
  operation: OperationName,
  first: Ids,
  size: number,
  options: WholeListOptions,
): Promise<boolean> {
  const isNew = (record: Json) => first.isNew(record);
  const look = (page: number) => lookAt(account, operation, { page, size, isNew }, options);
  const behind = await look(2);
  if (behind === 'new records' || behind === 'nothing new') return behind === 'new records';
  // A refusal may pass; a page that is taken for none would make all that is on it look missing.
  for (let tries = 1; ; tries++) {
    const next = await look(1);
    if (next !== 'refused' || tries === REFUSALS_TO_BELIEVE) return next === 'new records';
  }
}

type Looked = 'new records' | 'nothing new' | 'no records' | 'refused';

async function lookAt(
  account: Account,
  operation: OperationName,
  { page, size, isNew }: { page: number; size: number; isNew: (record: Json) => boolean },
  { lane, signal, onCalls }: WholeListOptions,
): Promise<Looked> {
  const enough = new Error('the beginning is enough');
  let found: Looked = 'no records';
  try {
    await readStream(account, operation, {
      lane,
      signal,
      ...(onCalls && { onCalls }),
      query: pageQuery(account, page, size),
      onRecords: async (batch) => {
        if (batch.length === 0) return;
        // The whole list again begins with what the first answer held, however much was added to it meanwhile.
        const known = batch.length - batch.filter(isNew).length;
        found = known * 2 >= Math.min(size, batch.length) ? 'nothing new' : 'new records';
        throw enough;
      },
    });
  } catch (error) {
    if (error !== enough && !(error instanceof RunFailed)) throw error;
    if (error !== enough) return 'refused'; // as a service may that documents no such parameter
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
    read: async (page, rows) => {
      let records: Paged[] = [];
      await readStream(account, operation, {
        lane,
        signal,
        ...(onCalls && { onCalls }),
        query: pageQuery(account, page, rows),
        onTry: () => {
          records = [];
        },
        onRecords: async (batch) => {
          for (const record of batch) records.push(toPaged(record, operation, account));
        },
      });
      return records;
    },
    keep: async (records, pass) => {
      const keptIn = calls++;
      await onRecords(records.map(({ record }) => record));
      const otherwise: { id: string; keptIn: number }[] = [];
      let [newInPass, newInAll] = [0, 0];
      for (const { id, hash } of records) {
        const { lastPass, otherwiseAt } = seen.note(id, pass, hash, keptIn);
        if (lastPass === undefined) newInAll++;
        if (lastPass !== pass) newInPass++;
        if (otherwiseAt !== undefined) otherwise.push({ id, keptIn: otherwiseAt });
      }
      return { newInPass, newInAll, otherwise };
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
  // Safe: these are the lists that are documented as whole.
  if (id === undefined) throw withoutId(kind.slice(0, -1) as 'customer' | 'order', record, account);
  return { id, hash: JSON.stringify(record), record };
}

function pageQuery({ dialect }: Account, page: number, size: number): Readonly<Record<string, number>> {
  return { [dialect.pageParam]: page, [dialect.rowsPerPageParam]: size };
}
