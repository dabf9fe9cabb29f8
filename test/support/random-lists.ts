/** The lists of a random service (random-service.ts): order, pages, and what answers say beside them. */
import type { Drawn, ListedKind, Paging } from './drawn-service.ts';
import { withRepeats } from './habit-forms.ts';
import { boundsOf, sizeOf } from './habit-rules.ts';
import type { SeenRequest } from './http-server.ts';
import { type Kept, Refusal, shown, shownFields } from './random-records.ts';

export interface Listed {
  readonly list: readonly unknown[];
  readonly beside?: Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
}

const HIDDEN = Symbol('a row that is counted and not shown');

/** `isCurrent`: also what lists show later, otherwise. */
export function listed(
  drawn: Drawn,
  kind: ListedKind,
  kept: readonly Kept[],
  { path, query }: SeenRequest,
  isCurrent: boolean,
): Listed {
  const ids = new Map<unknown, string>();
  const visible = kept.filter((record) => shownFields(record, isCurrent) !== undefined);
  const records = ordered(drawn, cutOff(drawn, kind, visible)).map((record) => {
    const row = shown(drawn, kind, record, { isInList: true, isCurrent });
    ids.set(row, record.id);
    return row;
  });
  const { hiddenEvery } = drawn;
  const all = withRepeats(drawn, kind, records).flatMap((record, n) =>
    hiddenEvery > 0 && n % hiddenEvery === 1 ? [HIDDEN, record] : [record],
  );
  const paging = drawn.paging[kind];
  const withoutHidden = (rows: readonly unknown[]) => rows.filter((row) => row !== HIDDEN);
  const shownCount = drawn.oddity === 'counts one record too few' ? Math.max(0, records.length - 1) : records.length;
  const count = drawn.habit === 'counts hidden records' ? all.length : shownCount;
  const total = drawn.beside === 'nothing' ? {} : { totalCount: count };
  if (paging.kind === 'none') return { list: withoutHidden(all), beside: total };
  if (paging.kind === 'pages') {
    const page = withoutHidden(pageOf(drawn, all, paging, query));
    const ofPage = drawn.oddity === 'counts a page as the total' && drawn.beside !== 'nothing';
    return { list: page, beside: ofPage ? { totalCount: page.length } : total };
  }
  const after = query.get('starting_after');
  const from =
    after === null ? Number(query.get(paging.kind) ?? 0) : 1 + all.findLastIndex((row) => ids.get(row) === after);
  const list = withoutHidden(all.slice(from, from + paging.cap));
  const end = from + paging.cap;
  const last = list.at(-1);
  if (end >= all.length || last === undefined) return { list, beside: total };
  const next = paging.kind === 'starting_after' ? (ids.get(last) ?? '') : String(end);
  const link = `http://elsewhere.invalid${path}?${paging.kind}=${next}`;
  if (drawn.beside === 'headers' || drawn.listPath.length === 0)
    return { list, headers: { link: `<${link}>; rel="next"`, 'x-total-count': String(records.length) } };
  if (drawn.beside === 'links') return { list, beside: { ...total, _links: { next: { href: link } } } };
  if (paging.kind === 'starting_after') return { list, beside: { ...total, has_more: true } };
  return { list, beside: { ...total, ...(paging.kind === 'cursor' && { next_cursor: next }) } };
}

/** A list of contacts or tasks that is cut off looks like a whole one, for nothing was written to it. */
function cutOff({ oddity, mostListed }: Drawn, kind: ListedKind, visible: readonly Kept[]): readonly Kept[] {
  if (kind !== 'customers' && kind !== 'orders') return visible;
  return oddity === 'lists only the newest' ? visible.slice(-mostListed) : visible.slice(0, mostListed);
}

function pageOf(
  drawn: Drawn,
  all: readonly unknown[],
  paging: Extract<Paging, { kind: 'pages' }>,
  query: URLSearchParams,
): readonly unknown[] {
  const { first, cap, isSizeHonoured, pastEnd, zero } = paging;
  const asked = Number(query.get('rows_per_page') ?? cap);
  const size = isSizeHonoured ? sizeOf(drawn, asked, cap) : cap;
  const number = Number(query.get('page') ?? first);
  if (number < first && zero === 'refused') throw new Refusal(400, 'pages begin at 1', pastEnd === 'failing 200');
  const page = Math.max(0, number - first);
  const rows = all.slice(...boundsOf(drawn, page, size));
  if (rows.length === 0 && pastEnd === 'the first') return all.slice(0, size);
  if (rows.length === 0 && pastEnd === 'the last') return all.slice(Math.floor((all.length - 1) / size) * size);
  if (rows.length > 0 || page === 0 || pastEnd === 'empty') return rows;
  throw new Refusal(pastEnd === 404 ? 404 : 400, 'there is no such page', pastEnd === 'failing 200');
}

function nameOf({ fields: { full_name, last_name, order_id, taskName } }: Kept): string {
  return String(full_name ?? last_name ?? order_id ?? taskName);
}

function ordered({ order, habit }: Drawn, kept: readonly Kept[]): readonly Kept[] {
  if (habit === 'lists by last update') return kept.toSorted((a, b) => b.changedAtMs - a.changedAtMs);
  if (order === 'oldest') return kept;
  if (order === 'newest') return kept.toReversed();
  if (order === 'by name') return kept.toSorted((a, b) => nameOf(a).localeCompare(nameOf(b)));
  const mixed = (id: string) => [...id].reduce((sum, letter) => Math.imul(sum ^ letter.charCodeAt(0), 0x01000193), 7);
  return kept.toSorted((a, b) => mixed(a.id) - mixed(b.id) || (a.id < b.id ? -1 : 1));
}
