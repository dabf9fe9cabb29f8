/**
 * What page and rows_per_page mean for contacts: the number of the first page, whether either is ignored, and how many
 * rows a page has at most. The contract says that pages start at 0; services that count from 1 are told apart by reading
 * two rows as page 0, 1 and 2.
 */
import { countsBeside, type FoundList } from '../find-list.ts';
import { type FirstPage, findFirstPage, type Ids, type ListSeen, readAgain } from '../lists.ts';
import { certain, type Examination, type Finding, likely, nothingToSee, type Probe } from '../probe.ts';
import { whyNot } from '../words.ts';

const GAP = 'rows-per-page';
const WISHED_ROWS = 1_000;
const FEW_ROWS = 2;
const ROWS_DOES = 'asks for the rowsPerPage of its sync, and goes by the rows that come';

export const contactsPaging: Probe = { name: 'the pages of contacts', gaps: [GAP], run };

type SomePage = Exclude<FirstPage, { status: 'empty' }>;

async function run(exam: Examination): Promise<readonly Finding[]> {
  const list = await exam.list('contacts');
  if (list.found === undefined) return [];
  const first = await findFirstPage((number) => page(exam, list, number, FEW_ROWS));
  if (first.status === 'empty') return [nothingToSee(GAP, 'contacts', ROWS_DOES)];
  const echo = countsBeside(list.look?.json).get('page');
  const says = echo === undefined ? '' : `; the answer to page 0 says page ${echo}`;
  return [pages(first, says), await rows(exam, list, first)];
}

function isSizeIgnored({ ids }: SomePage): boolean {
  return ids.length > FEW_ROWS;
}

function pages(first: SomePage, says: string): Finding {
  const about = 'page numbers';
  if (first.status === 'ignored') {
    const needs = 'ask the service’s operator how its contacts are paged: what stands beyond this answer is not seen';
    const does = isSizeIgnored(first)
      ? 'takes the answer for the whole list; its scan is weak, not proven'
      : 'reads the same page for ever and says so; its scan is unproven';
    return certain(GAP, `ignored: every page is the first${says}`, does, { about, needs });
  }
  const find = first.isSure ? certain : likely;
  if (first.from === 0) return find(GAP, `counted from 0${says}`, 'reads from page 0', { about });
  const does = 'sees two equal pages, and then reads from page 1';
  return find(GAP, `counted from 1, unlike the contract${says}`, does, { about });
}

async function rows(exam: Examination, list: ListSeen, first: SomePage): Promise<Finding> {
  const more = { about: 'rows_per_page' };
  const from = first.status === 'counted' ? first.from : 0;
  const { look, found: big } = await readAgain(exam, list, paging(exam, from, WISHED_ROWS));
  if (big === undefined) {
    const does = 'may be refused: set rowsPerPage lower';
    return likely(GAP, `${WISHED_ROWS} rows were asked for: ${whyNot(look)}`, does, more);
  }
  const count = big.ids.length;
  const inAll = countsBeside(look.json).get('total');
  const total = inAll === undefined ? '' : ` of ${inAll} that it says there are`;
  const usual = defaultRows(list.found, count, from);
  if (isSizeIgnored(first))
    return certain(GAP, `ignored: ${count} rows come whatever is asked for${total}`, ROWS_DOES, more);
  if (count >= WISHED_ROWS) return certain(GAP, `${WISHED_ROWS} are honoured${total}${usual}`, ROWS_DOES, more);
  if (first.status === 'ignored') return likely(GAP, `${count} rows come at most${total}${usual}`, ROWS_DOES, more);
  const next = await page(exam, list, from + 1, WISHED_ROWS);
  if (next?.some((id) => !big.ids.includes(id))) {
    const found = `${count} at most: asked for ${WISHED_ROWS}, that many came and more followed${total}${usual}`;
    return certain(GAP, found, ROWS_DOES, more);
  }
  const found = `all ${count} contacts came at once; what the most is cannot be seen with so few${usual}`;
  return likely(GAP, found, ROWS_DOES, more);
}

function defaultRows(list: FoundList | undefined, count: number, from: 0 | 1): string {
  // Page 0 was asked for without a size; where pages count from 1 that may have been another one.
  const usual = list?.ids.length ?? 0;
  return from === 0 && usual > 0 && usual < count ? `; ${usual} where none are asked for` : '';
}

function paging({ account }: Examination, page: number, size: number): Record<string, number> {
  return { [account.dialect.pageParam]: page, [account.dialect.rowsPerPageParam]: size };
}

async function page(exam: Examination, list: ListSeen, number: number, size: number): Promise<Ids | undefined> {
  return (await readAgain(exam, list, paging(exam, number, size))).found?.ids;
}
