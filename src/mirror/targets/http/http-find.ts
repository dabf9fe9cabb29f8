/**
 * Finds the item that an http target created for a task, by its marker. The answer to the search may come in pages: the header Link
 * or the member `more` shows that there is another one, and it is read if its address is below the url of the target.
 */
import { z } from 'zod';
import { nextLink } from '../../../client/lists/beside.ts';
import type { Delivery } from '../../../contract/target.ts';
import { type HttpItems, usesVariable } from '../../../settings/target-http.ts';
import { CURSOR } from '../../../settings/template.ts';
import type { TargetRequest } from '../calls/caller.ts';
import { type Calls, mapAsked } from '../items/item-calls.ts';
import { findInPages, type Page } from '../items/item-pages.ts';
import type { Asked } from '../items/item-target.ts';
import { markerOf } from '../items/marker.ts';
import { viewOf } from '../render.ts';
import { isSet } from './http-answers.ts';
import { carries, type HttpItem, holdsMarker, type RecordReader } from './http-record.ts';
import { requestFiller } from './http-request.ts';
import { valueAt } from './json-pointer.ts';

interface Found {
  readonly find: NonNullable<HttpItems['find']>;
  /** The setting of the items, such as targets.trello.items. */
  readonly where: string;
  /** The url of the target, and the host there. */
  readonly url: string;
  readonly host: string;
  readonly idAt: RecordReader['idAt'];
  read(calls: Calls, itemId: string): Promise<Asked<HttpItem>>;
}

/** A search that shows more items than this, of which each has to be read, does not search for the marker. */
const MOST_READ = 20;
/** No more pages than this are read. */
const MOST_PAGES = 20;

export function itemFinder({ find, where, url, host, idAt, read }: Found) {
  const fill = requestFiller(find, `${where}.find`);
  const hasCursor = usesVariable(CURSOR, find);
  const searches = usesVariable('marker', find);

  /** Only if the settings say so: an answer with an error may show no list, or null, as well. */
  function isEmpty(body: unknown): boolean {
    return find.isListOptional && typeof body === 'object';
  }

  /** The ids of the items that may be the wanted one: those with the marker, or all if only a read shows it. */
  function shownIn(body: unknown, marker: string): { readonly ids: readonly string[] } | { readonly lack: string } {
    const list = valueAt(body, find.list) ?? (isEmpty(body) ? [] : undefined);
    if (!Array.isArray(list)) return { lack: `it has no list at "${find.list}" (${where}.find.list)` };
    const { marker: at } = find;
    const records = at === undefined ? list : list.filter((each) => carries(valueAt(each, at), marker));
    const lack = at !== undefined && records.length === 0 ? whyMisplaced(list, at, marker) : undefined;
    if (lack !== undefined) return { lack };
    const ids = records.map((record) => idAt(record, find.itemId)).filter((id) => id !== undefined);
    if (ids.length === records.length) return { ids };
    return { lack: `its item with the marker has no id (${where}.find.itemId) of the form that items.id describes` };
  }

  /** Why the marker may be elsewhere in these records: then the item would not be found, and created twice. */
  function whyMisplaced(records: readonly unknown[], at: string, marker: string): string | undefined {
    const setting = `"${at}" (${where}.find.${find.marker === undefined ? 'readMarker' : 'marker'})`;
    if (records.some((each) => holdsMarker(each, marker) && !holdsMarker(valueAt(each, at), marker)))
      return `its items hold the marker, but not at ${setting}`;
    const isUnshown = searches && records.length > 0 && records.every((each) => valueAt(each, at) === undefined);
    return isUnshown ? `none of the items that it found has a value at ${setting}` : undefined;
  }

  /** What a search shows may be old, and only a part of the record. */
  async function readAll(calls: Calls, ids: readonly string[], marker: string): Promise<Asked<readonly HttpItem[]>> {
    const others: unknown[] = [];
    const { readMarker: at } = find;
    for (const id of ids) {
      const asked = await read(calls, id);
      if (asked.status === 'missing') continue;
      if (asked.status !== 'ok') return asked;
      const { record } = asked.value;
      if (at === undefined || carries(valueAt(record, at), marker)) return { status: 'ok', value: [asked.value] };
      others.push(record);
    }
    const lack = at === undefined ? undefined : whyMisplaced(others, at, marker);
    return lack === undefined
      ? { status: 'ok', value: [] }
      : { status: 'later', reason: 'UNREADABLE', detail: `the items of ${host} that find shows were read: ${lack}` };
  }

  /** The request for the first page, or for the page at an address; undefined if that is not below the url. */
  function requestAt(view: ReturnType<typeof viewOf>, address: string | undefined) {
    const request = fill({ ...view, cursor: null });
    if (request.status !== 'ok' || address === undefined) return request;
    const path = pathBelow(url, request.value, address);
    return path === undefined ? undefined : ({ ...request, value: { ...request.value, path } } as const);
  }

  function nextOf(link: string | undefined, more: unknown): string | undefined {
    const linked = hasCursor ? undefined : nextLink(link);
    return linked ?? (isSet(more) ? String(more) : undefined);
  }

  /** The first wanted item of the pages; `TOO_MANY_ITEMS` if there is none, but more than can be read. */
  return async (calls: Calls, delivery: Delivery): Promise<Asked<HttpItem | undefined>> => {
    const view = viewOf(delivery);
    const marker = markerOf(delivery);
    const remedy = `${host} shows only a part of its items, or too many, and none of them has the marker ${marker}: let ${where}.find search for the marker, then replay`;
    const part = { status: 'refused', reason: 'TOO_MANY_ITEMS', detail: remedy } as const;
    const page = z.unknown().transform((body, context) => {
      const shown = shownIn(body, marker);
      if ('ids' in shown) return { ...shown, more: find.more === undefined ? undefined : valueAt(body, find.more) };
      context.addIssue({ code: 'custom', message: shown.lack });
      return z.NEVER;
    });

    async function readPage(cursor: string | undefined): Promise<Asked<Page<HttpItem>>> {
      const request = hasCursor ? fill({ ...view, cursor: cursor ?? null }) : requestAt(view, cursor);
      if (request === undefined) return part;
      if (request.status !== 'ok') return request;
      const asked = await calls.askWhole({ ...request.value, isRead: true }, page);
      if (asked.status !== 'ok') return asked;
      const { value, headers } = asked.value;
      if (value.ids.length > MOST_READ) return part;
      const next = nextOf(headers.link, value.more);
      return mapAsked(readAll(calls, value.ids, marker), (items) => ({ items, next }));
    }

    const asked = await findInPages({ most: MOST_PAGES, read: readPage }, () => true);
    if (asked.status === 'ok' && asked.value.found === undefined && !asked.value.isWhole) return part;
    return mapAsked(asked, ({ found }) => found);
  };
}

/** The path of another page after the url of the target; undefined if it is elsewhere, or if it has to be asked for in another way. */
function pathBelow(
  url: string,
  { method, path }: Pick<TargetRequest, 'method' | 'path'>,
  next: string,
): string | undefined {
  const { href: whole, pathname: base } = new URL(url.replace(/\/+$/, ''));
  const root = whole.replace(/\/$/, '');
  const isAddress = /^(https?:|\?)/i.test(next) || (base !== '/' && next.startsWith(`${base}/`));
  if (method !== 'GET' || !isAddress || !URL.canParse(next, root + path)) return undefined;
  const { href } = new URL(next, root + path);
  const rest = href.startsWith(root) ? href.slice(root.length) : undefined;
  return rest !== undefined && /^[/?]/.test(rest) ? rest : undefined;
}
