/** Finds the item that an http target created for a task, by its marker. */
import type { Delivery } from '../../../contract/target.ts';
import { type HttpItems, usesCursor } from '../../../settings/target-http.ts';
import type { Calls } from '../items/item-calls.ts';
import type { Asked } from '../items/item-target.ts';
import { markerOf } from '../items/marker.ts';
import { viewOf } from '../render.ts';
import { carries, type HttpItem, type RecordReader } from './http-record.ts';
import { requestFiller } from './http-request.ts';
import { type Search, searchPages } from './http-search.ts';
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

export function itemFinder({ find, where, url, host, idAt, read }: Found) {
  const fill = requestFiller(find, `${where}.find`);
  const hasCursor = usesCursor(find);

  /** Only if the settings say so: an answer with an error may show no list, or null, as well. */
  function isEmpty(body: unknown): boolean {
    return find.isListOptional && typeof body === 'object';
  }

  /** The ids of the items that may be the wanted one: those with the marker, or all if only a read shows it. */
  function shownIn(body: unknown, marker: string): readonly string[] | undefined {
    const list = valueAt(body, find.list) ?? (isEmpty(body) ? [] : undefined);
    if (!Array.isArray(list)) return undefined;
    const { marker: at } = find;
    const records = at === undefined ? list : list.filter((each) => carries(valueAt(each, at), marker));
    const ids = records.map((record) => idAt(record, find.itemId)).filter((id) => id !== undefined);
    return ids.length === records.length ? ids : undefined;
  }

  /** What a search shows may be old, and only a part of the record. */
  async function readAll(calls: Calls, ids: readonly string[], marker: string, tooMany: Search['part']) {
    if (ids.length > MOST_READ) return tooMany;
    for (const id of ids) {
      const asked = await read(calls, id);
      if (asked.status === 'missing') continue;
      if (asked.status !== 'ok') return asked;
      const { record } = asked.value;
      const isIt = find.readMarker === undefined || carries(valueAt(record, find.readMarker), marker);
      if (isIt) return { status: 'ok', value: [asked.value] } as const;
    }
    return { status: 'ok', value: [] } as const;
  }

  return async (calls: Calls, delivery: Delivery): Promise<Asked<HttpItem | undefined>> => {
    const view = viewOf(delivery);
    const marker = markerOf(delivery);
    const remedy = `${host} shows only a part of its items, or too many, and none of them has the marker ${marker}: let ${where}.find search for the marker, then replay`;
    const part = { status: 'refused', reason: 'TOO_MANY_ITEMS', detail: remedy } as const;
    return searchPages(calls, {
      url,
      requestFor: (cursor) => fill({ ...view, cursor }),
      hasCursor,
      more: find.more,
      shownIn: (body) => shownIn(body, marker),
      itemsOf: (shown) => readAll(calls, shown, marker, part),
      lack: `it has no list at "${find.list}" (${where}.find.list), or its item with the marker has no id (find.itemId) of the form that items.id describes`,
      part,
    });
  };
}
