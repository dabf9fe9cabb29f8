/**
 * One pass over a list whose pages cannot overlap: page after page to the first empty one, or to a short one that is
 * repeated, or followed by one page again and again. A shift between two reads can hide a record: a second pass has to
 * agree with the first. A record on two pages shows that the list moved or has no stable order, so such a pass confirms no
 * other: for each record shown twice, one may be hidden, and in every pass the same one if the order depends on the request.
 */
import type { PassResult, PassSource, ScannedRecord } from './pass.ts';
import { idsOf, isEcho } from './window.ts';

const REASON = 'the service ignores page sizes, so pages cannot overlap';
const MOVED = 'pages shared records, so the list moved or has no stable order';
/** The list counts as endless after this many pages in a row without a new record. */
const MAX_STALE_PAGES = 3;

/** Pages a pass may take beyond a multiple of those its records fill: then the list grows as fast as it is read. */
const PAGES_TO_SPARE = 60;
const PAGES_PER_FULL_ONE = 4;

/** `reason`: why pages cannot overlap. */
export async function fixedPass<R extends ScannedRecord>(source: PassSource<R>, reason = REASON): Promise<PassResult> {
  let longest = 0;
  let kept = 0;
  let stalePages = 0;
  let isMoved = false;
  let before: readonly string[] = [];
  /** The last page with a new record was short. */
  let isShort = false;
  /** How many of the last pages are one page, without a new record. */
  let equalPages = 0;
  /** The last page was short, and its answer said that more records follow. */
  let isOpen = false;
  for (let page = 0; ; page++) {
    const records = await source.read(page, source.rowsPerPage);
    const ids = idsOf(records);
    const isRepeated = ids.length === before.length && isEcho(before, ids);
    const isEnd = records.length === 0 ? !source.saysMore(records) : isRepeated && records.length < longest;
    if (isEnd && isOpen) return { status: 'incomplete', reason: 'the last page says that more records follow' };
    // A full page before stale ones may be where the service cuts the list off.
    const mayBePastEnd = source.isNumbered === true && isShort && !source.saysMore(records);
    const isPastEnd = mayBePastEnd && isRepeated && equalPages > 0;
    isMoved ||= isEnd && !isPastEnd && !source.mayOverlap && stalePages > 0;
    if (isEnd) return { status: 'again', reason: isMoved ? MOVED : reason, isMoved };
    if (page > PAGES_TO_SPARE + (PAGES_PER_FULL_ONE * kept) / Math.max(1, longest))
      return { status: 'incomplete', reason: 'the list grows as fast as it is read, or has no end' };
    const { newInPass } = await source.keep(records);
    kept += newInPass;
    const isStale = newInPass === 0;
    equalPages = isStale ? 1 + (stalePages > 0 && isRepeated ? equalPages : 0) : 0;
    if (equalPages === MAX_STALE_PAGES && mayBePastEnd)
      return { status: 'again', reason: isMoved ? MOVED : reason, isMoved };
    isMoved ||= !isStale && !source.mayOverlap && (stalePages > 0 || newInPass < new Set(ids).size);
    if (!isStale) stalePages = 0;
    else if (++stalePages === MAX_STALE_PAGES) {
      return {
        status: 'incomplete',
        reason: `${MAX_STALE_PAGES} pages in a row had no new record: the list has no end, or is cut off there`,
      };
    }
    longest = Math.max(longest, records.length);
    if (!isStale) isShort = records.length < longest;
    isOpen = records.length < longest && source.saysMore(records);
    before = ids;
  }
}
