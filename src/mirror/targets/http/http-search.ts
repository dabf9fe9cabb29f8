/**
 * The search of an http target for the item that was created for a task. Its answer may come in pages: the header Link or the
 * member `more` shows that there is another one, and the search reads it if its address is below the url of the target.
 */
import { nextLink } from '../../../client/http/link-header.ts';
import type { TargetFailure } from '../../../contract/target.ts';
import type { TargetRequest } from '../calls/caller.ts';
import { type Calls, mapAsked } from '../items/item-calls.ts';
import { findInPages, type Page } from '../items/item-pages.ts';
import type { Asked } from '../items/item-target.ts';
import { isSet } from './http-answers.ts';
import { valueAt } from './json-pointer.ts';
import { reading } from './reading.ts';

type Request = Pick<TargetRequest, 'method' | 'path' | 'headers'> & { readonly content: string | undefined };

export interface Search<Shown = unknown, Item = unknown> {
  /** The url of the target. */
  readonly url: string;
  /** Of the first page, or of the page with this cursor. */
  readonly requestFor: (cursor: string | null) => { readonly status: 'ok'; readonly value: Request } | TargetFailure;
  /** Whether the request says which page it is for; otherwise the next page has an address. */
  readonly hasCursor: boolean;
  /** The JSON pointer of the settings to the sign of another page. */
  readonly more: string | undefined;
  /** What a page shows of wanted items; undefined if the page is unreadable. */
  readonly shownIn: (body: unknown) => readonly Shown[] | undefined;
  /** The wanted items among them. */
  readonly itemsOf: (shown: readonly Shown[]) => Promise<Asked<readonly Item[]>>;
  /** Why such a page is unreadable. */
  readonly lack: (body: unknown) => string;
  /** The outcome if a part of the items cannot be searched. */
  readonly part: TargetFailure;
}

/** No more pages than this are read. */
const MOST_PAGES = 20;

/** The first wanted item of the pages; `part` if there is none, but more pages than can be read. */
export async function searchPages<Shown, Item>(
  calls: Calls,
  { url, requestFor, hasCursor, more, shownIn, itemsOf, lack, part }: Search<Shown, Item>,
): Promise<Asked<Item | undefined>> {
  const page = reading((body) => {
    const shown = shownIn(body);
    return shown && { shown, more: more === undefined ? undefined : valueAt(body, more) };
  }, lack);

  async function read(cursor: string | undefined): Promise<Asked<Page<Item>>> {
    const request = requestFor(hasCursor ? (cursor ?? null) : null);
    if (request.status !== 'ok') return request;
    const path = hasCursor || cursor === undefined ? request.value.path : pathBelow(url, request.value, cursor);
    if (path === undefined) return part;
    const asked = await calls.askWhole({ ...request.value, path }, page);
    if (asked.status !== 'ok') return asked;
    const { value, headers } = asked.value;
    const linked = hasCursor ? undefined : nextLink(headers.link);
    const next = linked ?? (isSet(value.more) ? String(value.more) : undefined);
    return mapAsked(itemsOf(value.shown), (items) => ({ items, next }));
  }

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
