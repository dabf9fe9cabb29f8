/**
 * What an answer says beside its list: how many records the whole list has, and whether and how it continues. Runs and the
 * doctor read these signs with the same function. Pure. Source: our choice; the contract shows none of them (docs/gaps.md,
 * "unpaged-lists").
 */
import { flagOf, isJsonObject } from '../call/dialect.ts';
import type { Json, JsonObject } from '../call/json.ts';
import { MAX_LIST_DEPTH } from './list-choice.ts';

/** Query parameters by name. */
export type Query = Readonly<Record<string, string | number>>;

export interface Beside {
  /** How many records the whole list has; the largest number if the answer states several. */
  readonly total?: number;
  /** The number of this page. */
  readonly page?: number;
  /** Set if more records follow: the query parameters that the answer gives for them; empty if it gives none. */
  readonly next?: Query;
}

/** Headers with names in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** In lower case, and letters only: `total_count` and `totalCount` are `totalcount`. */
const TOTAL =
  /^(total|count|odatacount|total(count|items|records|elements|rows|results|entries|hits)|(records|items|results)total|(record|item)count)$/;
const PAGE = /^(page|currentpage|page(number|no))$/;
const MORE = /^(has(more|next)(page|items|records|results)?|more(items|records|results)?)$/;
const NEXT = /^(odata)?next(page)?(cursor|token|offset|link|url|uri|marker|start|skip)?$/;
const CURSOR = /^(end)?cursor$/;
const TOTAL_HEADERS = ['x-total-count', 'x-total'];
const MAX_LINK_LENGTH = 2_000;

/**
 * Reads the signs of an answer from its objects and its headers; undefined if there are none. `path`: the operation's own
 * path. Only the query of a link to this path is used, so a link never leads a request to another address.
 */
export function besideOf(body: Json | undefined, headers: Headers, path: string): Beside | undefined {
  const totals = TOTAL_HEADERS.map((name) => countOf(textOf(headers[name])));
  const pages: number[] = [];
  const nexts: (Query | undefined)[] = [nextInHeader(headers.link, path)];
  let cursor: string | undefined;
  const visit = (value: JsonObject, depth: number): void => {
    for (const [written, member] of Object.entries(value)) {
      const name = lettersOf(written);
      const count = countOf(member);
      if (isTotal(written)) totals.push(count);
      if (count !== undefined && PAGE.test(name)) pages.push(count);
      if (NEXT.test(name)) nexts.push(nextOf(written, member, path));
      if (MORE.test(name) && flagOf(member)) nexts.push({});
      if (name === 'last' && member === false) nexts.push({});
      if (CURSOR.test(name) && typeof member === 'string' && member !== '') cursor ??= member;
      // An object with an id is a record, such as the owner of the list.
      if (isJsonObject(member) && depth < MAX_LIST_DEPTH && !Object.hasOwn(member, 'id')) visit(member, depth + 1);
    }
  };
  if (isJsonObject(body)) visit(body, 0);
  const total = Math.max(...totals.filter((count) => count !== undefined));
  const found = nexts.filter((next) => next !== undefined);
  const given = found.find((next) => Object.keys(next).length > 0) ?? (cursor === undefined ? {} : { cursor });
  const [page] = pages;
  const beside = {
    ...(total >= 0 && { total }),
    ...(page !== undefined && { page }),
    ...(found.length > 0 && { next: given }),
  };
  return Object.keys(beside).length === 0 ? undefined : beside;
}

/** Whether a member of this name states how many records the whole list has. */
export function isTotal(member: string): boolean {
  return TOTAL.test(lettersOf(member));
}

function lettersOf(member: string): string {
  return member.toLowerCase().replace(/[^a-z]/g, '');
}

/** Where a list continues, by a member such as `next`, `next_cursor` or `links.next`. */
function nextOf(written: string, member: Json | undefined, path: string): Query | undefined {
  if (isJsonObject(member)) {
    const { href, url } = member;
    const link = href ?? url;
    return typeof link === 'string' ? nextOf(written, link, path) : undefined;
  }
  if (member === true) return {};
  const isText = typeof member === 'string' && member !== '';
  if (!isText && !(typeof member === 'number' && member > 0)) return undefined;
  if (isText && /^https?:|^\/|\?/i.test(member)) return queryOf(member, path);
  const named = written.replace(/^.*next[_-]?/i, '');
  const fallback = isText ? 'cursor' : 'page';
  return String(member).length > MAX_LINK_LENGTH
    ? {}
    : { [named === '' ? fallback : named.charAt(0).toLowerCase() + named.slice(1)]: member };
}

function nextInHeader(header: Headers[string], path: string): Query | undefined {
  const links = textOf(header).split(/,\s*(?=<)/);
  const next = links.find((link) => /;\s*rel="?next"?\s*(;|$)/i.test(link));
  return next === undefined ? undefined : queryOf(/^\s*<([^>]*)>/.exec(next)?.[1] ?? '', path);
}

function queryOf(link: string, path: string): Query {
  const base = `http://localhost${path}`;
  if (link.length > MAX_LINK_LENGTH || !URL.canParse(link, base)) return {};
  const { pathname, searchParams } = new URL(link, base);
  return pathname.endsWith(path) ? Object.fromEntries(searchParams) : {};
}

function countOf(value: Json | undefined): number | undefined {
  if (typeof value === 'number') return Number.isSafeInteger(value) && value >= 0 ? value : undefined;
  return typeof value === 'string' && /^\d{1,15}$/.test(value) ? Number(value) : undefined;
}

function textOf(header: Headers[string]): string {
  return typeof header === 'string' ? header : (header ?? []).join(', ');
}
