/**
 * One pass over a list whose page size cannot be chosen: page after page to the first short or empty one. Pages cannot
 * overlap here, so a shift between two reads can hide a record: a second pass has to agree with the first.
 */
import type { PassResult, PassSource, ScannedRecord } from './pass.ts';

const REASON = 'the service does not honour page sizes, so windows cannot overlap';
/** The list counts as endless after this many pages in a row without a new record. */
const MAX_STALE_PAGES = 3;

export async function fixedPass<R extends ScannedRecord>(source: PassSource<R>): Promise<PassResult> {
  let pageSize = 0;
  let stalePages = 0;
  for (let page = 0; ; page++) {
    const records = await source.read(page, source.rowsPerPage);
    if (records.length === 0) return { status: 'again', reason: REASON };
    const { newInPass } = await source.keep(records);
    if (newInPass > 0) stalePages = 0;
    else if (++stalePages === MAX_STALE_PAGES) {
      return {
        status: 'incomplete',
        reason: `${MAX_STALE_PAGES} pages in a row had no new record: the list has no end`,
      };
    }
    if (records.length < pageSize) return { status: 'again', reason: REASON };
    pageSize = records.length;
  }
}
