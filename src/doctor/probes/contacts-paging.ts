/**
 * What page and rows_per_page mean for contacts: the number of the first page, whether either is ignored, and how many
 * rows a page has at most. The contract says that pages start at 0; services that count from 1 are told apart by reading
 * two rows as page 0, 1 and 2.
 */
import type { FoundList } from '../find-list.ts';
import { countsBeside } from '../find-list.ts';
import { type ListSeen, readAgain } from '../lists.ts';
import { type Examination, type Finding, nothingToSee, type Probe } from '../probe.ts';
import { whyNot } from '../words.ts';

const GAP = 'rows-per-page';
const WISHED_ROWS = 1_000;
const FEW_ROWS = 2;
const PAGES = 'page numbers';
const ROWS = 'rows_per_page';
const ROWS_DOES = 'asks for the rowsPerPage of its sync, and goes by the rows that come';

export const contactsPaging: Probe = { name: 'the pages of contacts', gaps: [GAP], access: 'reads', run };

/** Of a page that was read: its ids; undefined where it was not answered with a list. */
type Ids = readonly string[] | undefined;

async function run(exam: Examination): Promise<readonly Finding[]> {
  const list = await exam.list('contacts');
  if (list.found === undefined) return [];
  const firstPage = await numberOfFirst(exam, list);
  if (firstPage.status === 'empty') return [nothingToSee(GAP, 'contacts', ROWS_DOES)];
  const echo = list.look?.json === undefined ? undefined : countsBeside(list.look.json).get('page');
  const says = echo === undefined ? '' : `; the answer to page 0 says page ${echo}`;
  return [
    { ...pagesFinding(firstPage), found: `${pagesFinding(firstPage).found}${says}` },
    await rows(exam, list, firstPage),
  ];
}

type FirstPage =
  | { readonly status: 'counted'; readonly from: 0 | 1; readonly isSure: boolean; readonly isSizeIgnored: boolean }
  | { readonly status: 'ignored'; readonly isSizeIgnored: boolean }
  | { readonly status: 'empty' };

async function numberOfFirst(exam: Examination, list: ListSeen): Promise<FirstPage> {
  const [zero, one] = [await page(exam, list, 0, FEW_ROWS), await page(exam, list, 1, FEW_ROWS)];
  const isSizeIgnored = (zero ?? one ?? []).length > FEW_ROWS;
  if (zero === undefined || zero.length === 0) {
    return one !== undefined && one.length > 0
      ? { status: 'counted', from: 1, isSure: true, isSizeIgnored }
      : { status: 'empty' };
  }
  if (one === undefined || !isSame(zero, one))
    return { status: 'counted', from: 0, isSure: one !== undefined, isSizeIgnored };
  const two = await page(exam, list, 2, FEW_ROWS);
  if (two !== undefined && isSame(one, two)) return { status: 'ignored', isSizeIgnored };
  return { status: 'counted', from: 1, isSure: two !== undefined, isSizeIgnored };
}

function pagesFinding(first: Exclude<FirstPage, { status: 'empty' }>): Finding {
  if (first.status === 'ignored') {
    const needs = 'ask the service’s operator how its contacts are paged: what stands beyond this answer is not seen';
    const does = first.isSizeIgnored
      ? 'takes the answer for the whole list; its scan is weak, not proven'
      : 'reads the same page for ever and says so; its scan is unproven';
    return { gap: GAP, about: PAGES, found: 'ignored: every page is the first', sure: 'certain', does, needs };
  }
  const sure = first.isSure ? 'certain' : 'likely';
  if (first.from === 0) return { gap: GAP, about: PAGES, found: 'counted from 0', sure, does: 'reads from page 0' };
  const does = 'sees two equal pages, and then reads from page 1';
  return { gap: GAP, about: PAGES, found: 'counted from 1, unlike the contract', sure, does };
}

async function rows(
  exam: Examination,
  list: ListSeen,
  first: Exclude<FirstPage, { status: 'empty' }>,
): Promise<Finding> {
  const finding = (found: string, sure: Finding['sure'], does = ROWS_DOES): Finding => ({
    gap: GAP,
    about: ROWS,
    found,
    sure,
    does,
  });
  const from = first.status === 'counted' ? first.from : 0;
  const { look, found: big } = await readAgain(exam, list, paging(exam, from, WISHED_ROWS));
  if (big === undefined)
    return finding(
      `${WISHED_ROWS} rows were asked for: ${whyNot(look)}`,
      'likely',
      'may be refused: set rowsPerPage lower',
    );
  const count = big.ids.length;
  const inAll = look.json === undefined ? undefined : countsBeside(look.json).get('total');
  const total = inAll === undefined ? '' : ` of ${inAll} that it says there are`;
  const usual = defaultRows(list.found, count, from);
  if (first.isSizeIgnored) return finding(`ignored: ${count} rows come whatever is asked for${total}`, 'certain');
  if (count >= WISHED_ROWS) return finding(`${WISHED_ROWS} are honoured${total}${usual}`, 'certain');
  if (first.status === 'ignored') return finding(`${count} rows come at most${total}${usual}`, 'likely');
  const next = await page(exam, list, from + 1, WISHED_ROWS);
  const isMore = next?.some((id) => !big.ids.includes(id));
  if (isMore)
    return finding(
      `${count} at most: asked for ${WISHED_ROWS}, that many came and more followed${total}${usual}`,
      'certain',
    );
  return finding(`all ${count} contacts came at once; what the most is cannot be seen with so few${usual}`, 'likely');
}

function defaultRows(list: FoundList | undefined, count: number, from: 0 | 1): string {
  // Page 0 was asked for without a size; where pages count from 1 that may have been another one.
  const usual = list?.ids.length ?? 0;
  return from === 0 && usual > 0 && usual < count ? `; ${usual} where none are asked for` : '';
}

function paging({ account }: Examination, page: number, size: number): Record<string, number> {
  return { [account.dialect.pageParam]: page, [account.dialect.rowsPerPageParam]: size };
}

async function page(exam: Examination, list: ListSeen, number: number, size: number): Promise<Ids> {
  return (await readAgain(exam, list, paging(exam, number, size))).found?.ids;
}

function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((id) => b.includes(id));
}
