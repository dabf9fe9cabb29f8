/**
 * Do customers and orders come whole, as the contract reads, or only the first of them? A list that is cut off in silence
 * makes the worker create again what is there already, so this is looked at from several sides: a second page that shows
 * others, a number of rows that looks like a page's, and records that a get shows while the list does not.
 */

import { recordIn } from '../../client/decode.ts';
import { idOf, toWireId } from '../../client/dialect.ts';
import type { OperationName } from '../../contract/operations.ts';
import { countsBeside } from '../find-list.ts';
import { type ListSeen, readAgain } from '../lists.ts';
import { type Examination, type Finding, nothingToSee, type Probe } from '../probe.ts';
import { whyNot } from '../words.ts';

const GAP = 'unpaged-lists';
const DOES = 'takes the answer for the whole list, and reads it as a stream';
const DOES_WRONG = 'takes the answer for the whole list, and would create again what is not in it';
const NEEDS = 'do not run syncs or loads with this account before its operator says how the list is read whole';

/** As services like to size their pages; larger ones are whole thousands or halves of one. */
const PAGE_SIZES = new Set([10, 20, 25, 50, 100, 200, 250]);

export const wholeLists: Probe = {
  name: 'whether customers and orders come whole',
  gaps: [GAP],
  access: 'reads',
  async run(exam) {
    return [await look(exam, 'customers', 'customers.get'), await look(exam, 'orders', 'orders.get')];
  },
};

async function look(exam: Examination, kind: 'customers' | 'orders', get: OperationName): Promise<Finding> {
  const about = kind;
  const list = await exam.list(kind);
  if (list.found === undefined) {
    const why = list.look === undefined ? 'no answer' : whyNot(list.look);
    return { gap: GAP, about, found: `cannot be seen: ${why}`, sure: 'unknown', does: DOES };
  }
  const { ids } = list.found;
  if (ids.length === 0) return nothingToSee(GAP, kind, DOES);
  const cut = (found: string, sure: Finding['sure'], needs = NEEDS): Finding => {
    return { gap: GAP, about, found, sure, does: DOES_WRONG, needs };
  };

  const total = list.look?.json === undefined ? undefined : countsBeside(list.look.json).get('total');
  if (total !== undefined && total > ids.length)
    return cut(`cut off: ${ids.length} come of ${total} that it says there are`, 'certain');
  const paged = await nextPage(exam, list);
  if (paged === 'others') return cut(`paged: ${ids.length} come, and a second page shows others`, 'certain');
  const hidden = await hiddenRecord(exam, list, get);
  if (hidden) return cut(`cut off: ${ids.length} come, and a get shows one that is not among them`, 'certain');
  if (isPageSize(ids.length) && paged !== 'empty') {
    const needs = `see on the service’s platform whether there are more than ${ids.length} ${kind}; if so, ${NEEDS}`;
    return cut(`${ids.length} come, which looks like a page: it may be cut off there`, 'likely', needs);
  }
  const sure = paged === 'empty' || total === ids.length ? 'certain' : 'likely';
  return { gap: GAP, about, found: `whole, as far as can be seen: ${ids.length} came`, sure, does: DOES };
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
async function hiddenRecord(
  { calls, account, list }: Examination,
  seen: ListSeen,
  get: OperationName,
): Promise<boolean> {
  const { kind, found, prefix } = seen;
  const own = new Set(found?.ids);
  const candidates = [
    ...(kind === 'customers' ? await customersOfOrders(list) : []),
    ...(isPageSize(own.size) ? neighbours(own) : []),
  ];
  for (const id of candidates.filter((one) => !own.has(one)).slice(0, 2)) {
    const { outcome } = await calls.look(get, { query: { id: toWireId(id) }, ...(prefix !== undefined && { prefix }) });
    if (outcome.status !== 'applied') continue;
    if (idOf(recordIn(outcome.content, account.dialect, kind), kind, account.dialect) !== id) continue;
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
  const [least, most] = numbers.reduce(
    ([low, high], n) => [Math.min(low, n), Math.max(high, n)],
    [Infinity, -Infinity],
  );
  return [most + 1, least - 1].filter((id) => id > 0).map(String);
}

function isPageSize(rows: number): boolean {
  return PAGE_SIZES.has(rows) || rows % 500 === 0;
}
