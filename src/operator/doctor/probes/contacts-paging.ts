/**
 * What page and rows_per_page mean for contacts: the number of the first page, whether one of them is ignored, and how
 * many rows a page has at most. The contract says that pages start at 0. A service that starts at 1 is detected by
 * reading two rows of pages 0, 1 and 2.
 */
import { plural } from '../../../base/counts.ts';
import { isPart } from '../../../client/lists/scan-pages.ts';
import { whyNot } from '../answer-words.ts';
import type { FoundList } from '../find-list.ts';
import { besideIn, type FirstPage, findFirstPage, type Ids, type ListSeen, readAgain } from '../lists.ts';
import { certain, type Examination, type Finding, likely, nothingToSee, type Probe } from '../probe.ts';

const GAP = 'rows-per-page';
const WISHED_ROWS = 1_000;
const FEW_ROWS = 2;
const ROWS_DOES = 'asks for the rowsPerPage of the sync, and counts the rows that it receives';

export const contactsPaging: Probe = { name: 'the pages of contacts', gaps: [GAP], run };

const CONTINUES = 'the answer says that more records follow';
const DOES_CONTINUE = 'follows the cursor or link of each answer, or an offset; if that fails, its scan is unproven';

type SomePage = Exclude<FirstPage, { status: 'empty' }>;

async function run(exam: Examination): Promise<readonly Finding[]> {
  const list = await exam.list('contacts');
  if (list.found === undefined) return [];
  const first = await findFirstPage((number) => page(exam, list, number, FEW_ROWS));
  if (first.status === 'empty') return [nothingToSee(GAP, 'contacts', ROWS_DOES)];
  const { page: echo } = besideIn(list.look);
  const says = echo === undefined ? '' : `; the answer to page 0 says page ${echo}`;
  return [pages(first, says, list), await rows(exam, list, first)];
}

function isSizeIgnored({ ids }: SomePage): boolean {
  return ids.length > FEW_ROWS;
}

function pages(first: SomePage, says: string, { look }: ListSeen): Finding {
  const about = 'page numbers';
  if (first.status === 'ignored') {
    const beside = besideIn(look);
    if (isPart(first.ids.length, beside)) return certain(GAP, `ignored${says}; ${CONTINUES}`, DOES_CONTINUE, { about });
    const needs = 'ask the service’s operator how contacts are paged: the worker cannot read beyond this answer';
    const does = isSizeIgnored(first)
      ? 'treats the answer as the whole list; its scan is weak, not proven'
      : 'reports that every page is the same; its scan is unproven';
    return certain(GAP, `ignored: every page is the first${says}`, does, { about, needs });
  }
  const find = first.isCertain ? certain : likely;
  if (first.from === 0) return find(GAP, `pages start at 0${says}`, 'starts at page 0', { about });
  const does = 'detects two equal pages, and then starts at page 1';
  return find(GAP, `pages start at 1, unlike in the contract${says}`, does, { about });
}

async function rows(exam: Examination, list: ListSeen, first: SomePage): Promise<Finding> {
  const more = { about: 'rows_per_page' };
  const from = first.status === 'counted' ? first.from : 0;
  const { look, found: big } = await readAgain(exam, list, paging(exam, from, WISHED_ROWS));
  if (big === undefined) {
    const does = 'may get the same refusal; set a lower rowsPerPage in that case';
    return likely(GAP, `a request for ${WISHED_ROWS} rows failed: ${whyNot(look)}`, does, more);
  }
  const count = big.ids.length;
  const { total: inAll } = besideIn(look);
  const total = inAll === undefined ? '' : ` (the service reports ${inAll} in total)`;
  const usual = defaultRows(list.found, count, from);
  if (isSizeIgnored(first))
    return certain(GAP, `ignored: a page has ${plural(count, 'row')} whatever is requested${total}`, ROWS_DOES, more);
  if (count >= WISHED_ROWS) return certain(GAP, `a page can have ${WISHED_ROWS} rows${total}${usual}`, ROWS_DOES, more);
  if (first.status === 'ignored')
    return likely(GAP, `a page has at most ${plural(count, 'row')}${total}${usual}`, ROWS_DOES, more);
  const next = await page(exam, list, from + 1, WISHED_ROWS);
  if (next?.some((id) => !big.ids.includes(id))) {
    const found = `a page has at most ${plural(count, 'row')}: ${WISHED_ROWS} were requested, and the next page had more${total}${usual}`;
    return certain(GAP, found, ROWS_DOES, more);
  }
  const found = `one page shows every contact (${count}), too few to show the maximum${usual}`;
  return likely(GAP, found, ROWS_DOES, more);
}

function defaultRows(list: FoundList | undefined, count: number, from: 0 | 1): string {
  // Page 0 was requested without a size. If pages start at 1, it may have been another page.
  const usual = list?.ids.length ?? 0;
  return from === 0 && usual > 0 && usual < count ? `; ${usual} by default` : '';
}

function paging({ account }: Examination, page: number, size: number): Record<string, number> {
  return { [account.dialect.pageParam]: page, [account.dialect.rowsPerPageParam]: size };
}

async function page(exam: Examination, list: ListSeen, number: number, size: number): Promise<Ids | undefined> {
  return (await readAgain(exam, list, paging(exam, number, size))).found?.ids;
}
