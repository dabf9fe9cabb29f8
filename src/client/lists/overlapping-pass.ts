/**
 * One pass with overlapping windows: each window has to share a record, its witness, with the window before. Without a
 * witness the list moved further than the overlap: widen the overlap and step back. The end is a short page with a
 * witness, and no record after it: a service that hides records has short pages in the middle.
 */
import { Drift, type Placed } from './drift.ts';
import type { PassResult, PassSource, ScannedRecord } from './pass.ts';
import {
  compareShared,
  idsOf,
  isEcho,
  nextWindow,
  smallestOverlap,
  type Window,
  windowEnd,
  windowStart,
} from './window.ts';

/**
 * Windows a pass may take beyond a multiple of those its records fill. After that the list changes faster than the scan
 * reads.
 */
const WINDOWS_TO_SPARE = 60;
const WINDOWS_PER_FULL_ONE = 2.5;
/** Windows that share fewer ids than this show too little of the list's order. */
const TELLING = 5;
/** Hardly ever are so many records at the beginning of a list all updated while it is read, and in their order. */
const FIRST_FEW = 3;
/** Lists up to this length are read again instead: windows have no room to overlap. */
export const TINY = 3;

/** After a short window, this many further ones without a new record end the list: the service repeats a page. */
const MAX_STALE_WINDOWS = 3;

const ONE_SIZE = 'pages have one size, whatever the request asks for';
const TOO_MANY_ROWS = 'pages hold more rows than asked for';

/** Where the last accepted window began and ended, and its records. */
interface Chain extends Placed {
  readonly end: number;
  /** The window, if it held fewer records than it asked for, and whether its answer says that more follow. */
  readonly short?: (Window & { readonly saysMore: boolean }) | undefined;
}

export async function overlappingPass<R extends ScannedRecord>(source: PassSource<R>): Promise<PassResult> {
  const first = await source.read(0, source.rowsPerPage);
  if (first.length === 0) return emptyList(source);
  if (first.length > source.rowsPerPage) return misfit(TOO_MANY_ROWS);
  await source.keep(first);
  if (first.length <= TINY) return tinyList(source, idsOf(first));
  const pass = new OverlappingPass(source, idsOf(first));
  try {
    return await pass.run();
  } finally {
    await pass.close();
  }
}

class OverlappingPass<R extends ScannedRecord> {
  readonly #source: PassSource<R>;
  readonly #firstIds: readonly string[];
  /** How many records the first page has: no window asks for more. */
  readonly #sizeMax: number;
  readonly #smallest: number;
  readonly #windows: ReadAhead<R>;
  readonly #drift: Drift;
  #chain: Chain;
  #overlap: number;
  #isOrdered = true;
  #isSizeHonoured = false;
  /** Records that are new in this pass. */
  #kept: number;
  /** The end of the window that reached furthest. */
  #furthest: number;
  #staleWindows = 0;

  constructor(source: PassSource<R>, firstIds: readonly string[]) {
    const size = firstIds.length;
    this.#source = source;
    this.#firstIds = firstIds;
    this.#drift = new Drift(firstIds);
    this.#sizeMax = size;
    this.#smallest = smallestOverlap(size);
    this.#overlap = this.#smallest;
    this.#windows = new ReadAhead(source.read, size);
    this.#chain = { start: 0, end: size, ids: firstIds };
    this.#kept = size;
    this.#furthest = size;
  }

  async run(): Promise<PassResult> {
    for (let taken = 0; ; taken++) {
      if (taken > WINDOWS_TO_SPARE + (WINDOWS_PER_FULL_ONE * this.#kept) / this.#sizeMax) return this.#tooManyWindows();
      const result = await this.#takeWindow(taken === 0);
      if (result !== undefined) return result;
    }
  }

  /** Undefined: the pass continues after this window. */
  async #takeWindow(isFirst: boolean): Promise<PassResult | undefined> {
    const { window, records } = await this.#windows.next(this.#chain.end, this.#overlap);
    if (records.length > window.size) return misfit(TOO_MANY_ROWS);
    const ids = idsOf(records);
    const isBeginning = windowStart(window) > 0 && isEcho(this.#firstIds, ids);
    const { short } = this.#chain;
    if (short !== undefined && (ids.length === 0 || isBeginning || this.#staleWindows === MAX_STALE_WINDOWS))
      return this.#endAfter(short, records);
    if (isBeginning) return misfit('another page number returned the first page again');
    const shared = compareShared(this.#chain.ids, ids);
    if (shared === 'reordered') this.#isOrdered = false;
    if (shared !== 'none') await this.#accept(window, records);
    // The last page of a list of two may be short: only a smaller request shows that the service ignores sizes.
    else if (isFirst && (await this.#ignoresSize())) return misfit(ONE_SIZE);
    else await this.#goBack(window, records.length);
    return undefined;
  }

  /** Waits for the windows read ahead. */
  close(): Promise<void> {
    return this.#windows.discard();
  }

  async #accept(window: Window, records: readonly R[]): Promise<void> {
    const { newInPass } = await this.#source.keep(records);
    const end = windowEnd(window);
    if (newInPass > 0) this.#staleWindows = 0;
    else if (end > this.#furthest) this.#staleWindows++;
    this.#kept += newInPass;
    this.#furthest = Math.max(this.#furthest, end);
    const link = linkOf(window, records, this.#source.saysMore(records));
    if (newInPass > 0) this.#drift.note(this.#chain, link); // past its end, a list may give its last page again
    this.#chain = link;
    if (this.#chain.short === undefined && window.size !== this.#sizeMax) this.#isSizeHonoured = true;
    this.#overlap = this.#smallest;
  }

  /** The window shares no record with the one before. */
  async #goBack(window: Window, found: number): Promise<void> {
    await this.#windows.discard();
    const { chain, overlap } = stepBack(this.#chain, window, found, this.#overlap, this.#sizeMax);
    this.#overlap = overlap;
    this.#chain = chain;
    if (chain.end > this.#sizeMax) return;
    const start = await this.#source.read(0, this.#sizeMax); // back at the beginning: position 0 needs no witness
    await this.#source.keep(start);
    this.#chain = linkOf({ page: 0, size: this.#sizeMax }, start, this.#source.saysMore(start));
  }

  /** Nothing new came after a short window: it was the last, or pages are not what they seem. */
  async #endAfter(short: NonNullable<Chain['short']>, records: readonly R[]): Promise<PassResult> {
    if (short.saysMore || this.#source.saysMore(records)) return misfit('the last page says that more records follow');
    await this.#windows.discard();
    const isOnePage = windowStart(short) + this.#chain.ids.length <= this.#sizeMax;
    const changed = isOnePage ? undefined : await this.#readHeadAgain(short);
    this.#isSizeHonoured ||= windowStart(short) === 0 || (await honoursSize(this.#source, short.size));
    if (!this.#isSizeHonoured) return misfit('pages hold fewer rows than asked for before the end of the list');
    if (!this.#isOrdered) return { status: 'again', reason: 'the list has no stable order' };
    return changed === undefined ? { status: 'complete' } : { status: 'again', reason: changed };
  }

  /**
   * A record that is updated before its window is read may move to a window that was read: in a list that begins with the last update to the
   * beginning, before all records that have not moved; in a list that is sorted by name anywhere. Keeps what is at the beginning now.
   * Returns why that may not be all.
   */
  async #readHeadAgain(last: Window): Promise<string | undefined> {
    const head = await this.#source.read(0, this.#sizeMax);
    const { newInPass } = await this.#source.keep(head);
    const ids = idsOf(head);
    const isSame = compareShared(this.#firstIds, ids) === 'same';
    this.#isOrdered &&= isSame && (this.#smallest >= TELLING || (await this.#keepsOrder()));
    if (!this.#firstIds.slice(0, FIRST_FEW).every((id) => ids.includes(id)))
      return 'the beginning of the list changed while it was read';
    if (!this.#drift.isSuspected(newInPass)) return undefined;
    const end = await this.#source.read(last.page, last.size); // some of the new ones may have come since
    this.#drift.note(this.#chain, { start: windowStart(last), ids: idsOf(end) });
    return this.#drift.isExplained(newInPass) ? undefined : 'records came or moved into the part that had been read';
  }

  /** Whether the beginning of the list, read with another size, has the same order: it may depend on the request. */
  async #keepsOrder(): Promise<boolean> {
    const ids = idsOf(await this.#source.read(0, this.#sizeMax - 1));
    return compareShared(this.#firstIds, ids) === 'same';
  }

  async #tooManyWindows(): Promise<PassResult> {
    const { read } = this.#source;
    if (!this.#isSizeHonoured && !(await honoursSize(this.#source, this.#sizeMax >> 1))) return misfit(ONE_SIZE);
    await this.#windows.discard();
    if (compareShared(this.#firstIds, idsOf(await read(0, this.#sizeMax))) === 'none')
      return { status: 'incomplete', reason: 'the list changes as fast as it is read, or has no end' };
    // Rows that the service hides can be where each witness should be: pages of one size need no witnesses.
    return { status: 'misfit', reason: 'windows do not overlap as expected', readAs: 'fixed' };
  }

  async #ignoresSize(): Promise<boolean> {
    await this.#windows.discard();
    const half = this.#sizeMax >> 1;
    return (await this.#source.read(0, half)).length > half;
  }
}

function misfit(reason: string): PassResult {
  return { status: 'misfit', reason };
}

function linkOf(window: Window, records: readonly ScannedRecord[], saysMore: boolean): Chain {
  const short = records.length < window.size ? { ...window, saysMore } : undefined;
  return { start: windowStart(window), end: windowEnd(window), ids: idsOf(records), short };
}

/** No witness: read again with a wider overlap, then from further back, if necessary from the beginning. */
function stepBack(
  chain: Chain,
  window: Window,
  found: number,
  overlap: number,
  sizeMax: number,
): { chain: Chain; overlap: number } {
  const wider = Math.min(sizeMax, overlap * 2);
  const end = found === 0 ? Math.max(1, Math.min(chain.end, windowStart(window))) : chain.end;
  if (wider < sizeMax) return { chain: { ...chain, end }, overlap: wider };
  return { chain: { ...chain, end: Math.max(1, end - (sizeMax >> 1)) }, overlap: smallestOverlap(sizeMax) };
}

/** An empty first page is an empty list, unless pages are counted from 1. */
async function emptyList<R extends ScannedRecord>({ read, rowsPerPage }: PassSource<R>): Promise<PassResult> {
  const second = await read(1, rowsPerPage);
  return second.length === 0 ? { status: 'complete' } : { status: 'misfit', reason: 'pages are not counted from 0' };
}

/**
 * So few records are either the whole list or the service's cap: checks that no records follow and that a second read
 * returns the same.
 */
async function tinyList<R extends ScannedRecord>(source: PassSource<R>, ids: readonly string[]): Promise<PassResult> {
  const behind = await source.read(1, source.rowsPerPage);
  if (behind.length > 0) return { status: 'misfit', reason: `pages hold no more rows than ${ids.length}` };
  const again = await source.read(0, source.rowsPerPage);
  await source.keep(again);
  const isSame = again.length === ids.length && isEcho(ids, idsOf(again));
  return isSame ? { status: 'complete' } : { status: 'again', reason: 'the list changed while it was read' };
}

/** Whether the service fills a page of this size: only then the windows are where they were expected. */
async function honoursSize<R extends ScannedRecord>({ read }: PassSource<R>, size: number): Promise<boolean> {
  const page = await read(0, size);
  return page.length === size;
}

interface Flight<R> {
  readonly window: Window;
  readonly answer: Promise<readonly R[]>;
}

/** Reads windows ahead, more of them the longer the list is, and hands them out in order. */
class ReadAhead<R extends ScannedRecord> {
  readonly #read: PassSource<R>['read'];
  readonly #sizeMax: number;
  #flights: Flight<R>[] = [];
  #handedOut = 0;

  constructor(read: PassSource<R>['read'], sizeMax: number) {
    this.#read = read;
    this.#sizeMax = sizeMax;
  }

  /** The next window after `end`, or the window already planned there. */
  async next(end: number, overlap: number): Promise<{ window: Window; records: readonly R[] }> {
    // Calls past the end of the list are wasted: at most one for every eight calls before.
    const depth = Math.min(4, 1 + (this.#handedOut >> 3));
    while (this.#flights.length < depth) {
      const last = this.#flights.at(-1)?.window;
      const window = nextWindow(last ? windowEnd(last) : end, overlap, this.#sizeMax);
      const answer = this.#read(window.page, window.size);
      answer.catch(() => undefined); // its caller reports the error; errors of discarded windows do not matter
      this.#flights.push({ window, answer });
    }
    const { window, answer } = this.#flights.shift() as Flight<R>; // safe: filled just above
    this.#handedOut++;
    return { window, records: await answer };
  }

  /** Waits for the windows read ahead and discards them. */
  async discard(): Promise<void> {
    await Promise.allSettled(this.#flights.map((flight) => flight.answer));
    this.#flights = [];
  }
}
