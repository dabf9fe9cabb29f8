/**
 * One pass with overlapping windows: each window has to share a record, its witness, with the window before. Without a
 * witness the list moved further than the overlap: widen the overlap and step back. The end is a short page with a
 * witness, and no record after it: a service that hides records has short pages in the middle.
 */
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
/** Lists up to this length are read again instead: windows have no room to overlap. */
export const TINY = 3;

/** After a short window, this many further ones without a new record end the list: the service repeats a page. */
const MAX_STALE_WINDOWS = 3;

const ONE_SIZE = 'pages have one size, whatever the request asks for';

/** Where the last accepted window ended, and its records. */
interface Chain {
  readonly end: number;
  readonly ids: readonly string[];
  /** The window, if it held fewer records than it asked for, and whether its answer says that more follow. */
  readonly short?: (Window & { readonly saysMore: boolean }) | undefined;
}

export async function overlappingPass<R extends ScannedRecord>(source: PassSource<R>): Promise<PassResult> {
  const { read, keep, saysMore, rowsPerPage } = source;
  const first = await read(0, rowsPerPage);
  const firstIds = idsOf(first);
  const sizeMax = first.length;
  if (sizeMax === 0) return emptyList(source);
  if (sizeMax > rowsPerPage) return { status: 'misfit', reason: 'pages hold more rows than asked for' };
  await keep(first);
  if (sizeMax <= TINY) return tinyList(source, firstIds);

  const smallest = smallestOverlap(sizeMax);
  const windows = new ReadAhead(read, sizeMax);
  let chain: Chain = { end: sizeMax, ids: firstIds };
  let overlap = smallest;
  let isOrdered = true;
  let isSizeHonoured = false;
  let kept = sizeMax;
  let furthest = sizeMax;
  let staleWindows = 0;
  try {
    for (let taken = 0; ; taken++) {
      if (taken > WINDOWS_TO_SPARE + (WINDOWS_PER_FULL_ONE * kept) / sizeMax) {
        if (!isSizeHonoured && !(await honoursSize(source, Math.floor(sizeMax / 2))))
          return { status: 'misfit', reason: ONE_SIZE };
        await windows.discard();
        if (compareShared(firstIds, idsOf(await read(0, sizeMax))) === 'none')
          return { status: 'incomplete', reason: 'the list changes as fast as it is read, or has no end' };
        // Rows that the service hides can be where each witness should be: pages of one size need no witnesses.
        return { status: 'misfit', reason: 'windows do not overlap as expected', readAs: 'fixed' };
      }
      const { window, records } = await windows.next(chain.end, overlap);
      const ids = idsOf(records);
      if (records.length > window.size) return { status: 'misfit', reason: 'pages hold more rows than asked for' };
      const isFirst = windowStart(window) > 0 && isEcho(firstIds, ids);
      const { short } = chain;
      if (short !== undefined && (ids.length === 0 || isFirst || staleWindows === MAX_STALE_WINDOWS)) {
        if (short.saysMore || saysMore(records))
          return { status: 'misfit', reason: 'the last page says that more records follow' };
        await windows.discard();
        const isOnePage = windowStart(short) + chain.ids.length <= sizeMax;
        if (isOrdered && smallest < TELLING && !isOnePage) isOrdered = await keepsOrder(source, firstIds);
        isSizeHonoured ||= windowStart(short) === 0 || (await honoursSize(source, short.size));
        if (isSizeHonoured) return finished(isOrdered);
        return { status: 'misfit', reason: 'pages hold fewer rows than asked for before the end of the list' };
      }
      if (isFirst) return { status: 'misfit', reason: 'another page number returned the first page again' };
      const shared = compareShared(chain.ids, ids);
      if (shared === 'none') {
        await windows.discard();
        // The last page of a list of two may be short: only a smaller request shows that the service ignores sizes.
        const half = sizeMax >> 1;
        if (taken === 0 && (await read(0, half)).length > half) return { status: 'misfit', reason: ONE_SIZE };
        ({ chain, overlap } = stepBack(chain, window, records.length, overlap, sizeMax));
        if (chain.end > sizeMax) continue;
        const start = await read(0, sizeMax); // back at the beginning: position 0 needs no witness
        await keep(start);
        chain = linkOf({ page: 0, size: sizeMax }, start, saysMore(start));
        continue;
      }
      if (shared === 'reordered') isOrdered = false;
      const { newInPass } = await keep(records);
      kept += newInPass;
      const end = windowEnd(window);
      if (newInPass > 0) staleWindows = 0;
      else if (end > furthest) staleWindows++;
      furthest = Math.max(furthest, end);
      chain = linkOf(window, records, saysMore(records));
      if (chain.short === undefined && window.size !== sizeMax) isSizeHonoured = true;
      overlap = smallest;
    }
  } finally {
    await windows.discard();
  }
}

function linkOf(window: Window, records: readonly ScannedRecord[], saysMore: boolean): Chain {
  const short = records.length < window.size ? { ...window, saysMore } : undefined;
  return { end: windowEnd(window), ids: idsOf(records), short };
}

function finished(isOrdered: boolean): PassResult {
  return isOrdered ? { status: 'complete' } : { status: 'again', reason: 'the list has no stable order' };
}

/** Whether the beginning of the list, read again, has the same order, also with another size: it may depend on the request. */
async function keepsOrder<R extends ScannedRecord>(
  { read }: PassSource<R>,
  before: readonly string[],
): Promise<boolean> {
  const isSame = async (size: number) => compareShared(before, idsOf(await read(0, size))) === 'same';
  return (await isSame(before.length)) && (await isSame(before.length - 1));
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
