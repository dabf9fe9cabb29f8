/**
 * Are the lists of customers and orders complete, as the contract implies, or only their first part? If a list is cut
 * off silently, the worker would create existing records again. So this is checked in several ways: whether a second
 * page has other records, whether the number of rows looks like a page size, and whether a get returns a record that is
 * missing from the list.
 */
import { plural } from '../../../base/counts.ts';
import { idOf, toWireId } from '../../../client/call/dialect.ts';
import { isPageSize } from '../../../client/lists/scan-pages.ts';
import type { WholeKind } from '../../../contract/kinds.ts';
import { whyNot } from '../answer-words.ts';
import { besideIn, getById, type ListSeen, readAgain, recordFrom } from '../lists.ts';
import { certain, type Examination, type Finding, likely, nothingToSee, type Probe, unknown } from '../probe.ts';

const GAP = 'unpaged-lists';
const DOES = 'treats the answer as the whole list, and reads it as a stream';
const DOES_PAGED = 'reads all pages, like those of the contacts';
const DOES_PART =
  'follows the cursor or link of each answer, or an offset; if that fails, creates no record that is missing from the list';
const DOES_SAFE = 'creates no record that is missing from the list';
const DOES_WRONG = 'treats the answer as the whole list, and would create the missing records again';
const NEEDS =
  'ask the service’s operator how to read the whole list; until then, runs create none of the records that are missing from it';

export const wholeLists: Probe = {
  name: 'whether the lists of customers and orders are complete',
  gaps: [GAP],
  run: async (exam) => [await look(exam, 'customers'), await look(exam, 'orders')],
};

async function look(exam: Examination, about: WholeKind): Promise<Finding> {
  const list = await exam.list(about);
  if (list.found === undefined) {
    const why = list.look === undefined ? 'no answer' : whyNot(list.look);
    return unknown(GAP, `unknown: ${why}`, DOES, { about });
  }
  const count = list.found.ids.length;
  if (count === 0) return nothingToSee(GAP, about, DOES);
  const cut = (found: string) => certain(GAP, found, DOES_SAFE, { about, needs: NEEDS, cutsOff: about });
  const { total, next } = besideIn(list.look);
  const paged = await nextPage(exam, list);
  if (paged === 'others')
    return certain(GAP, `paged: one answer has ${plural(count, 'record')}, and a second page has others`, DOES_PAGED, {
      about,
    });
  const says = total !== undefined && total > count ? `${total} in total` : next && 'more';
  if (says !== undefined)
    return likely(GAP, `a part: the list has ${plural(count, 'record')}, and the service reports ${says}`, DOES_PART, {
      about,
    });
  if (await hidesARecord(exam, list, about))
    return cut(`cut off: the list has ${plural(count, 'record')}, and a get returns one that is not in it`);
  if (isPageSize(count) && paged !== 'empty' && !exam.account.isEmbedded) {
    const needs = `check on the service’s platform whether there are more than ${count} ${about}; if so, do not run syncs or loads with this account: they would create the missing ${about} again`;
    const found = `the list has ${plural(count, 'record')}, which looks like a page size: it may be cut off`;
    return likely(GAP, found, DOES_WRONG, { about, needs });
  }
  const find = paged === 'empty' || total === count ? certain : likely;
  return find(GAP, `nothing shows that it is cut off: it has ${plural(count, 'record')}`, DOES, { about });
}

/** What a second page of the same length has: other records, none, or the list itself if it is not paged. */
async function nextPage(exam: Examination, list: ListSeen): Promise<'others' | 'empty' | 'itself'> {
  const own = new Set(list.found?.ids);
  const { pageParam, rowsPerPageParam } = exam.account.dialect;
  for (const page of [1, 2]) {
    const { found } = await readAgain(exam, list, { [pageParam]: page, [rowsPerPageParam]: own.size });
    if (found === undefined) return 'itself'; // the parameters are refused, so they show nothing
    if (found.ids.some((id) => !own.has(id))) return 'others';
    if (found.ids.length === 0) return 'empty';
  }
  return 'itself';
}

/**
 * Whether a get returns a record that is missing from the list: one with an id next to the listed ids, or a customer of
 * an order.
 */
async function hidesARecord({ calls, account, list }: Examination, seen: ListSeen, kind: WholeKind): Promise<boolean> {
  const own = new Set(seen.found?.ids);
  const candidates = [
    ...(kind === 'customers' ? await customersOfOrders(list) : []),
    ...(isPageSize(own.size) ? neighbours(own) : []),
  ];
  for (const id of candidates.filter((one) => !own.has(one)).slice(0, 2)) {
    const record = recordFrom(await getById(calls, kind, seen, toWireId(id)), kind, account);
    if (idOf(record, kind, account.dialect) !== id) continue;
    // It may have been created since the list was read.
    const { found: now } = await readAgain({ calls, account }, seen);
    if (now !== undefined && !now.ids.includes(id)) return true;
  }
  return false;
}

async function customersOfOrders(list: Examination['list']): Promise<readonly string[]> {
  const { found } = await list('orders');
  return (found?.records ?? []).flatMap(({ client_id: id }) =>
    typeof id === 'number' || (typeof id === 'string' && id !== '') ? [String(id)] : [],
  );
}

function neighbours(ids: ReadonlySet<string>): readonly string[] {
  const numbers = [...ids].map(Number).filter(Number.isSafeInteger);
  if (numbers.length < ids.size) return [];
  numbers.sort((a, b) => a - b);
  return [(numbers.at(-1) ?? 0) + 1, (numbers[0] ?? 0) - 1].filter((id) => id > 0).map(String);
}
