/**
 * Do customers and orders come whole, as the contract reads, or only the first of them? A list that is cut off in silence
 * makes the worker create again what is there already, so this is looked at from several sides: a second page that shows
 * others, a number of rows that looks like a page's, and records that a get shows while the list does not.
 */
import { idOf, toWireId } from '../../client/call/dialect.ts';
import { countsBeside } from '../find-list.ts';
import { getById, type ListSeen, readAgain, recordFrom } from '../lists.ts';
import { certain, type Examination, type Finding, likely, nothingToSee, type Probe, unknown } from '../probe.ts';
import { whyNot } from '../words.ts';

const GAP = 'unpaged-lists';
const DOES = 'takes the answer for the whole list, and reads it as a stream';
const DOES_WRONG = 'takes the answer for the whole list, and would create again what is not in it';
const NEEDS = 'do not run syncs or loads with this account before its operator says how the list is read whole';

type WholeKind = 'customers' | 'orders';

/** As services like to size their pages; larger ones are whole thousands or halves of one. */
const PAGE_SIZES = new Set([10, 20, 25, 50, 100, 200, 250]);

export const wholeLists: Probe = {
  name: 'whether customers and orders come whole',
  gaps: [GAP],
  run: async (exam) => [await look(exam, 'customers'), await look(exam, 'orders')],
};

async function look(exam: Examination, about: WholeKind): Promise<Finding> {
  const list = await exam.list(about);
  if (list.found === undefined) {
    const why = list.look === undefined ? 'no answer' : whyNot(list.look);
    return unknown(GAP, `cannot be seen: ${why}`, DOES, { about });
  }
  const count = list.found.ids.length;
  if (count === 0) return nothingToSee(GAP, about, DOES);
  const cut = (found: string) => certain(GAP, found, DOES_WRONG, { about, needs: NEEDS });
  const total = countsBeside(list.look?.json).get('total');
  if (total !== undefined && total > count) return cut(`cut off: ${count} come of ${total} that it says there are`);
  const paged = await nextPage(exam, list);
  if (paged === 'others') return cut(`paged: ${count} come, and a second page shows others`);
  if (await hidesARecord(exam, list, about))
    return cut(`cut off: ${count} come, and a get shows one that is not among them`);
  if (isPageSize(count) && paged !== 'empty') {
    const needs = `see on the service’s platform whether there are more than ${count} ${about}; if so, ${NEEDS}`;
    const found = `${count} come, which looks like a page: it may be cut off there`;
    return likely(GAP, found, DOES_WRONG, { about, needs });
  }
  const find = paged === 'empty' || total === count ? certain : likely;
  return find(GAP, `whole, as far as can be seen: ${count} came`, DOES, { about });
}

/** What a second page of the same length shows. A list that is not paged answers itself. */
async function nextPage(exam: Examination, list: ListSeen): Promise<'others' | 'empty' | 'itself'> {
  const own = new Set(list.found?.ids);
  const { pageParam, rowsPerPageParam } = exam.account.dialect;
  for (const page of [1, 2]) {
    const { found } = await readAgain(exam, list, { [pageParam]: page, [rowsPerPageParam]: own.size });
    if (found === undefined) return 'itself'; // the parameters are refused: nothing is said by them
    if (found.ids.some((id) => !own.has(id))) return 'others';
    if (found.ids.length === 0) return 'empty';
  }
  return 'itself';
}

/** Looks by get for a record next to those of the list, and for a customer that an order names. */
async function hidesARecord({ calls, account, list }: Examination, seen: ListSeen, kind: WholeKind): Promise<boolean> {
  const own = new Set(seen.found?.ids);
  const candidates = [
    ...(kind === 'customers' ? await customersOfOrders(list) : []),
    ...(isPageSize(own.size) ? neighbours(own) : []),
  ];
  for (const id of candidates.filter((one) => !own.has(one)).slice(0, 2)) {
    const record = recordFrom(await getById(calls, kind, seen, toWireId(id)), kind, account);
    if (idOf(record, kind, account.dialect) !== id) continue;
    // It may have been made since the list was read.
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

function isPageSize(rows: number): boolean {
  return PAGE_SIZES.has(rows) || rows % 500 === 0;
}
