/**
 * One pass over the pages of tasks. The contract gives them a page parameter and no size, and does not say whether the
 * first page is 0 or 1: the service chooses the page length, and the first pages show how pages are counted. Source: our
 * choice; the contract says only that `page` paginates (docs/contract.md, "Limits" 2 and 3).
 */
import type { Query } from './beside.ts';
import { type Continuation, findContinuation, oneByOne, passBy, unreachable } from './continuation.ts';
import { fixedPass } from './fixed-pass.ts';
import { emptyPastEnd } from './missing-page.ts';
import type { Kept, PassResult, PassSource, ScannedRecord } from './pass.ts';
import { checkedKeep, rereadConflicts } from './repeated-ids.ts';
import { Answers, type Page } from './scan-pages.ts';
import { idsOf, isEcho } from './window.ts';

export interface TaskPages<R extends ScannedRecord> {
  /**
   * One page by the service's own number, or, with `instead`, the page that these parameters name. A page refused past the
   * end counts as empty.
   */
  readonly read: (page: number, instead?: Query) => Promise<Page<R>>;
  readonly keep: (records: readonly R[]) => Promise<Kept>;
  readonly firstPage: 'auto' | 0 | 1;
}

/** Pages requested at once when the list is long: reads past its end are wasted. */
const MAX_AHEAD = 4;
const PAGES_PER_AHEAD = 8;
/** The contract has no parameter for the page size. */
const ANY_SIZE = 0;
const UNSIZED = 'a call cannot choose the size of a page of tasks, so pages cannot overlap';

/** Reads all pages once. @throws LockstepError ID_NOT_UNIQUE; whatever `read` and `keep` throw */
export async function passOverTasks<R extends ScannedRecord>({
  read,
  keep,
  firstPage,
}: TaskPages<R>): Promise<PassResult> {
  const answers = new Answers<R>();
  const continuing = {
    read: (page: number, _size: number, instead?: Query) => read(page, instead),
    answers,
    size: ANY_SIZE,
  };
  const ahead = new ReadAhead(
    rereadConflicts<R>(
      emptyPastEnd(async (page) => answers.take(await read(page)), { maySkipZero: firstPage === 'auto' }),
    ),
  );
  let found = 0;
  const keepCounted = async (records: readonly R[]) => {
    const kept = await keep(records);
    found += kept.newInPass;
    return kept;
  };
  const pass = (readPage: PassSource<R>['read'], by?: Continuation['by']) => {
    const { reason = UNSIZED, ...how } = passBy(by);
    const saysMore = (records: readonly R[]) => answers.next(records) !== undefined;
    return fixedPass({ ...checkedKeep(readPage, keepCounted), saysMore, rowsPerPage: ANY_SIZE, ...how }, reason);
  };
  const readAll = async (): Promise<PassResult> => {
    const begin = firstPage === 'auto' ? await findBeginning(ahead) : { page: firstPage };
    if (!begin.isWhole) return pass((index) => ahead.pageAndMore(index + begin.page));
    const first = await ahead.page(begin.page);
    const continues = await findContinuation(continuing, first);
    switch (continues?.by) {
      case 'links':
      case 'id':
      case 'offset':
        return pass(emptyPastEnd(oneByOne(continuing, continues)), continues.by);
      case 'nothing':
        await keepCounted(first);
        return { status: 'incomplete', reason: unreachable(first.length) };
      case undefined:
        await keepCounted(first);
        return { status: 'again', reason: 'the service ignores page numbers and answers the whole list at once' };
    }
  };
  try {
    const result = await readAll();
    const lack = answers.lack(found);
    return result.status === 'again' && lack !== undefined ? { status: 'incomplete', reason: lack } : result;
  } finally {
    await ahead.discard();
  }
}

interface Beginning {
  readonly page: 0 | 1;
  /** Other page numbers give the same page. */
  readonly isWhole?: boolean;
}

/** If page 0 is missing or equals page 1, pages are counted from 1; if page 2 is equal too, the page number is ignored. */
async function findBeginning<R extends ScannedRecord>(ahead: ReadAhead<R>): Promise<Beginning> {
  const zero = await ahead.page(0);
  const one = await ahead.page(1);
  if (zero.length > 0 && !isEcho(idsOf(zero), idsOf(one))) return { page: 0 };
  const isWhole = one.length > 0 && isEcho(idsOf(one), idsOf(await ahead.page(2)));
  return { page: zero.length > 0 && isWhole ? 0 : 1, isWhole };
}

/** Reads pages ahead, more of them the longer the list is. */
class ReadAhead<R extends ScannedRecord> {
  readonly #read: PassSource<R>['read'];
  readonly #flights = new Map<number, Promise<readonly R[]>>();
  #handedOut = 0;

  constructor(read: PassSource<R>['read']) {
    this.#read = read;
  }

  /** This page, read once. */
  page(number: number): Promise<readonly R[]> {
    const flying = this.#flights.get(number);
    if (flying !== undefined) return flying;
    const flight = this.#read(number, ANY_SIZE);
    flight.catch(() => undefined); // its caller reports the error; errors of unused pages do not matter
    this.#flights.set(number, flight);
    return flight;
  }

  /** This page; starts reading the pages after it. */
  async pageAndMore(number: number): Promise<readonly R[]> {
    const wanted = this.page(number);
    const depth = Math.min(MAX_AHEAD, Math.floor(this.#handedOut++ / PAGES_PER_AHEAD));
    for (let next = 1; next <= depth; next++) this.page(number + next);
    const records = await wanted;
    for (const read of this.#flights.keys()) if (read <= number) this.#flights.delete(read);
    return records;
  }

  /** Waits for pages that are no longer needed. */
  async discard(): Promise<void> {
    await Promise.allSettled(this.#flights.values());
    this.#flights.clear();
  }
}
