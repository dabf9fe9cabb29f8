/**
 * The search of an http target for the item that was created for a task. Its answer may come in pages: the header Link or the
 * member `more` shows that there is another one, and the search reads it if its address is below the url of the target.
 */
import { nextLink } from '../../../client/http/link-header.ts';
import type { TargetRequest } from '../calls/caller.ts';
import { type Calls, mapAsked } from '../items/item-calls.ts';
import { findInPages } from '../items/item-pages.ts';
import type { Asked } from '../items/item-target.ts';
import { isSet } from './http-answers.ts';
import { valueAt } from './json-pointer.ts';
import { reading } from './reading.ts';

type Request = Pick<TargetRequest, 'method' | 'path' | 'headers'> & { readonly json: string | undefined };

export interface Search<Item> {
  /** The url of the target. */
  readonly url: string;
  /** Of the first page. */
  readonly request: Request;
  /** The JSON pointer of the settings to the sign of another page. */
  readonly more: string | undefined;
  /** The wanted items of a page; undefined if the page is unreadable. */
  readonly itemsOf: (body: unknown) => readonly Item[] | undefined;
  /** Why such a page is unreadable. */
  readonly lack: string;
  /** What to do if a part of the items cannot be searched. */
  readonly remedy: string;
}

/** No more pages than this are read. */
const MOST_PAGES = 20;

/** The first wanted item of the pages; refused if there is none, but more pages than can be read. */
export async function searchPages<Item>(
  calls: Calls,
  { url, request, more, itemsOf, lack, remedy }: Search<Item>,
): Promise<Asked<Item | undefined>> {
  const page = reading((body) => {
    const items = itemsOf(body);
    return items && { items, more: more === undefined ? undefined : valueAt(body, more) };
  }, lack);

  async function read(cursor: string | undefined) {
    const path = cursor === undefined ? request.path : pathBelow(url, request, cursor);
    if (path === undefined) return part;
    const asked = await calls.askWhole({ ...request, path }, page);
    return mapAsked(asked, ({ value, headers }) => {
      const next = nextLink(headers.link) ?? (isSet(value.more) ? String(value.more) : undefined);
      return { items: value.items, next };
    });
  }

  const part = { status: 'refused', reason: 'TOO_MANY_ITEMS', detail: remedy } as const;
  const asked = await findInPages<Item>({ most: MOST_PAGES, read }, () => true);
  return asked.status !== 'ok' || asked.value.found !== undefined || asked.value.isWhole
    ? mapAsked(asked, ({ found }) => found)
    : part;
}

/** The path of another page after the url of the target; undefined if it is elsewhere, or if it has to be asked for in another way. */
function pathBelow(url: string, { method, path }: Request, next: string): string | undefined {
  const { href: whole, pathname: base } = new URL(url.replace(/\/+$/, ''));
  const root = whole.replace(/\/$/, '');
  const isAddress = /^(https?:|\?)/i.test(next) || (base !== '/' && next.startsWith(`${base}/`));
  if (method !== 'GET' || !isAddress || !URL.canParse(next, root + path)) return undefined;
  const { href } = new URL(next, root + path);
  const rest = href.startsWith(root) ? href.slice(root.length) : undefined;
  return rest !== undefined && /^[/?]/.test(rest) ? rest : undefined;
}
