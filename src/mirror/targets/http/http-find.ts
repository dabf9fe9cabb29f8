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
  readonly records: RecordReader;
  /** Reads an item, for a search that shows only ids. */
  read(calls: Calls, itemId: string): Promise<Asked<HttpItem>>;
}

/** A search that shows more items than this, of which each has to be read, does not search for the marker. */
const MOST_READ = 20;

export function itemFinder({ find, where, url, host, records, read }: Found) {
  const fill = requestFiller(find, `${where}.find`);
  const hasCursor = usesCursor(find);
  const { idAt, itemOf, isDeleted } = records;

  /** Only if the settings say so: an answer with an error may show no list, or null, as well. */
  function isEmpty(body: unknown): boolean {
    return find.isListOptional && typeof body === 'object';
  }

  /** What is wanted of a page: the item with the marker, or, if only a read shows the marker, the ids of all. */
  function shownIn(body: unknown, marker: string): readonly (HttpItem | string)[] | undefined {
    const list = valueAt(body, find.list) ?? (isEmpty(body) ? [] : undefined);
    if (!Array.isArray(list)) return undefined;
    const { marker: at } = find;
    if (at === undefined) return allOf(list.map((record) => idAt(record, find.itemId)));
    const record: unknown = list.find((each) => carries(valueAt(each, at), marker) && !isDeleted(each));
    if (record === undefined) return [];
    const id = idAt(record, find.itemId);
    return allOf([id === undefined ? undefined : itemOf(record, id)]);
  }

  async function readAll(calls: Calls, shown: readonly (HttpItem | string)[], marker: string, tooMany: Search['part']) {
    if (shown.length > MOST_READ) return tooMany;
    for (const each of shown) {
      const asked: Asked<HttpItem> = typeof each === 'string' ? await read(calls, each) : { status: 'ok', value: each };
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
      lack: `it has no list at "${find.list}" (${where}.find.list), or its item with the marker has no state (state.at), or no id (find.itemId) of the form that items.id describes`,
      part,
    });
  };
}

/** Undefined if one is missing. */
function allOf<T>(values: readonly (T | undefined)[]): readonly T[] | undefined {
  const all = values.filter((value) => value !== undefined);
  return all.length === values.length ? all : undefined;
}
