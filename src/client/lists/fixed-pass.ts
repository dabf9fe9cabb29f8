/**
 * One pass over a list whose pages cannot overlap: page after page to the first empty one, or to a short one that is
 * repeated, or followed by one page again and again. A shift between two reads can hide a record: a second pass has to
 * agree with the first. A record on two pages shows that the list moved or has no stable order, so such a pass confirms no
 * other: for each record shown twice, one may be hidden, and in every pass the same one if the order depends on the request.
 */
import type { Kept, PassResult, PassSource, ScannedRecord } from './pass.ts';
import { idsOf, isEcho } from './window.ts';

const REASON = 'the service ignores page sizes, so pages cannot overlap';
const MOVED =
  'pages shared records, so the list moved or has no stable order: if later runs say so too, its pages have to be fixed at the service';
/** The list counts as endless after this many pages in a row without a new record. */
const MAX_STALE_PAGES = 3;

/** Pages a pass may take beyond a multiple of those its records fill: then the list grows as fast as it is read. */
const PAGES_TO_SPARE = 60;
const PAGES_PER_FULL_ONE = 4;

/** `reason`: why pages cannot overlap. */
export async function fixedPass<R extends ScannedRecord>(source: PassSource<R>, reason = REASON): Promise<PassResult> {
  const pages = new Pages(source, reason);
  for (let page = 0; ; page++) {
    const records = await source.read(page, source.rowsPerPage);
    const ended = pages.endAt(records) ?? pages.endless(page) ?? pages.take(records, await source.keep(records));
    if (ended) return ended;
  }
}

/** What the pages so far have shown. */
class Pages<R extends ScannedRecord> {
  readonly #source: PassSource<R>;
  readonly #reason: string;
  /** Records of the longest page. */
  #longest = 0;
  #kept = 0;
  /** Pages since the last one with a new record, and how many of the newest of these are one page. */
  #stale = 0;
  #equal = 0;
  #isMoved = false;
  /** The ids of the last page. */
  #before: readonly string[] = [];
  /** The last page with a new record was short. */
  #isShort = false;
  /** The last page was short, and its answer said that more records follow. */
  #isOpen = false;

  constructor(source: PassSource<R>, reason: string) {
    this.#source = source;
    this.#reason = reason;
  }

  /** The result if the list ends at this page: it has no records, or it is the last page again and a short one. */
  endAt(records: readonly R[]): PassResult | undefined {
    const isRepeated = this.#isRepeated(records);
    const isEnd = records.length === 0 ? !this.#source.saysMore(records) : isRepeated && records.length < this.#longest;
    if (!isEnd) return undefined;
    if (this.#isOpen) return { status: 'incomplete', reason: 'the last page says that more records follow' };
    const isPastEnd = isRepeated && this.#equal > 0 && this.#mayBePastEnd(records);
    if (!isPastEnd && this.#stale > 0) this.#move();
    return this.#again();
  }

  /** The result if so many pages have too few records. */
  endless(page: number): PassResult | undefined {
    if (page <= PAGES_TO_SPARE + (PAGES_PER_FULL_ONE * this.#kept) / Math.max(1, this.#longest)) return undefined;
    return { status: 'incomplete', reason: 'the list grows as fast as it is read, or has no end' };
  }

  take(records: readonly R[], { newInPass }: Kept): PassResult | undefined {
    const ended = newInPass === 0 ? this.#takeStale(records) : this.#takeNew(records, newInPass);
    this.#isOpen = records.length < this.#longest && this.#source.saysMore(records);
    this.#before = idsOf(records);
    return ended;
  }

  #takeNew(records: readonly R[], newInPass: number): undefined {
    if (this.#stale > 0 || newInPass < new Set(idsOf(records)).size) this.#move();
    this.#kept += newInPass;
    this.#stale = 0;
    this.#equal = 0;
    this.#longest = Math.max(this.#longest, records.length);
    this.#isShort = records.length < this.#longest;
  }

  #takeStale(records: readonly R[]): PassResult | undefined {
    this.#equal = this.#stale > 0 && this.#isRepeated(records) ? this.#equal + 1 : 1;
    this.#stale += 1;
    this.#longest = Math.max(this.#longest, records.length);
    if (this.#equal === MAX_STALE_PAGES && this.#mayBePastEnd(records)) return this.#again();
    if (this.#stale < MAX_STALE_PAGES) return undefined;
    const reason = `${MAX_STALE_PAGES} pages in a row had no new record: the list has no end, or is cut off there`;
    return { status: 'incomplete', reason };
  }

  #isRepeated(records: readonly R[]): boolean {
    return records.length === this.#before.length && isEcho(this.#before, idsOf(records));
  }

  /** A full page before stale ones may be where the service cuts the list off. */
  #mayBePastEnd(records: readonly R[]): boolean {
    return this.#source.isNumbered === true && this.#isShort && !this.#source.saysMore(records);
  }

  #move(): void {
    this.#isMoved ||= !this.#source.mayOverlap;
  }

  #again(): PassResult {
    return { status: 'again', reason: this.#isMoved ? MOVED : this.#reason, isMoved: this.#isMoved };
  }
}
