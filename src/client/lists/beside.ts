/**
 * What an answer says beside its list: how many records the whole list has, and whether and how it continues. Runs and the
 * doctor read these signs with the same function. Pure. Source: our choice; the contract shows none of them (docs/gaps.md,
 * "unpaged-lists").
 */
import { flagOf, isJsonObject } from '../call/dialect.ts';
import { type Json, type JsonObject, parseJson } from '../call/json.ts';
import { MAX_LIST_DEPTH } from './list-choice.ts';

/** Query parameters by name. */
export type Query = Readonly<Record<string, string | number>>;

export interface Beside {
  /** How many records the whole list has; the largest number if the answer states several. */
  readonly total?: number;
  /** The number of this page. */
  readonly page?: number;
  /** How many pages the whole list has. */
  readonly pages?: number;
  /** Set if more records follow: the query parameters that the answer gives for them; empty if it gives none. */
  readonly next?: Query;
  /** Set if the answer says that no records follow. */
  readonly end?: true;
}

/** Headers with names in lower case. */
type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

/** In lower case, and letters only: `total_count` and `totalCount` are `totalcount`. */
const TOTAL =
  /^(total|count|odatacount|total(count|items|records|elements|rows|results|entries|hits|size|found)|(records|items|results)total|(record|item)count|numfound)$/;
const PAGE = /^(page|currentpage|page(number|no))$/;
const PAGES = /^(pages|total(of)?pages|pages(count|total)|pagecount|num(berof)?pages|lastpage)$/;
const MORE =
  /^(is)?(has(more|next)(page|items|records|results)?|more(items|records|results)?(incollection)?|(list)?truncated)$/;
const LAST = /^(is)?(last|end)(page)?$/;
const NEXT =
  /^((odata)?next(page|records|results)?(cursor|token|offset|link|url|uri|marker|start|skip|id|key)?|lastevaluatedkey)$/;
/** Answers give it at the end of a list too, so it is no sign that more records follow. GraphQL calls its parameter `after`. */
const END_CURSOR = /^endcursor$/;
/** A sign that more records follow, unless the answer says that none do. */
const CONTINUATION = /^(cursor|offset|marker|scrollid|continuation(token)?)$/;
const MAX_LINK_LENGTH = 2_000;

/**
 * Reads the signs of an answer from its objects and its headers; undefined if there are none. `path`: the operation's own
 * path. Only the query of a link to this path is used, so a link never leads a request to another address.
 */
export function besideOf(body: Json | undefined, headers: Headers, path: string): Beside | undefined {
  const signs = new Signs(path);
  signs.readHeaders(headers);
  if (isJsonObject(body)) signs.read(body);
  return signs.beside();
}

class Signs {
  readonly #path: string;
  readonly #totals: (number | undefined)[] = [];
  readonly #pages: (number | undefined)[] = [];
  /** The number of this page. */
  #page: number | undefined;
  /** Signs that more records follow: their parameters, or empty. */
  readonly #nexts: Query[] = [];
  #saysEnd = false;
  #endCursor: Query | undefined;
  #continuation: Query | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  readHeaders(headers: Headers): void {
    this.#totals.push(totalInRange(headers['content-range']));
    const next = nextInHeader(headers.link, this.#path);
    if (next !== undefined) this.#nexts.push(next);
    this.read(signsInHeaders(headers));
  }

  read(value: JsonObject, depth = 0): void {
    for (const [written, member] of Object.entries(value)) {
      const name = lettersOf(written);
      this.#readCount(name, member);
      if (NEXT.test(name)) {
        this.#noteNext(nextOf(written, member, this.#path));
        continue; // what it says is of the next page
      }
      const isMore = moreOf(name, member);
      if (isMore !== undefined) this.#noteNext(isMore ? {} : undefined);
      if (isText(member)) this.#readCursor(written, name, member);
      // An object with an id is a record, such as the owner of the list.
      if (isJsonObject(member) && depth < MAX_LIST_DEPTH && !Object.hasOwn(member, 'id')) this.read(member, depth + 1);
    }
  }

  beside(): Beside | undefined {
    const total = Math.max(...this.#totals.filter((count) => count !== undefined));
    const pages = Math.max(...this.#pages.filter((count) => count !== undefined));
    const next = this.#next();
    const beside = {
      ...(total >= 0 && { total }),
      ...(this.#page !== undefined && { page: this.#page }),
      ...(pages >= 0 && { pages }),
      ...(next !== undefined ? { next } : this.#saysEnd && { end: true as const }),
    };
    return Object.keys(beside).length === 0 ? undefined : beside;
  }

  #readCount(name: string, member: Json | undefined): void {
    const count = countOf(member);
    // Elasticsearch: { "value": 120, "relation": "eq" }
    if (TOTAL.test(name)) this.#totals.push(isJsonObject(member) ? countOf(member.value) : count);
    if (PAGE.test(name)) this.#page ??= count;
    if (PAGES.test(name)) this.#pages.push(count);
  }

  /** Undefined: no records follow. */
  #noteNext(next: Query | undefined): void {
    if (next === undefined) this.#saysEnd = true;
    else this.#nexts.push(next);
  }

  #readCursor(written: string, name: string, member: string): void {
    if (END_CURSOR.test(name)) this.#endCursor ??= { cursor: member, after: member };
    if (CONTINUATION.test(name) && countOf(member) === undefined) this.#continuation ??= givenBy(written, member);
  }

  #next(): Query | undefined {
    const continuation = this.#saysEnd || this.#continuation === undefined ? [] : [this.#continuation];
    const all = [...this.#nexts, ...continuation];
    if (all.length === 0) return undefined;
    return all.find((next) => Object.keys(next).length > 0) ?? this.#endCursor ?? {};
  }
}

/** Whether a member of this name states how many records the whole list has. */
export function isTotal(member: string): boolean {
  return TOTAL.test(lettersOf(member));
}

function lettersOf(member: string): string {
  return member.toLowerCase().replace(/[^a-z]/g, '');
}

/** `X-WP-TotalPages` is read like a member `TotalPages`, and the JSON of `X-Pagination` like an object. */
function signsInHeaders(headers: Headers): JsonObject {
  const signs = Object.entries(headers).flatMap(([name, value]): [string, Json][] => {
    const sign = /^x-(?:wp-)?(.*)$/.exec(name)?.[1];
    return sign === undefined ? [] : [[sign, jsonOf(textOf(value))]];
  });
  return Object.fromEntries(signs);
}

function jsonOf(text: string): Json {
  if (!text.startsWith('{')) return text;
  try {
    return parseJson(text);
  } catch {
    return text;
  }
}

/** `items 0-49/120`: 120. */
function totalInRange(header: Headers[string]): number | undefined {
  return countOf(/\/(\d+)$/.exec(textOf(header).trim())?.[1]);
}

/** Whether a flag says that more records follow; undefined if it says neither. */
function moreOf(name: string, member: Json | undefined): boolean | undefined {
  if (MORE.test(name)) return flagOf(member);
  return LAST.test(name) && typeof member === 'boolean' ? !member : undefined; // a number is a page or a row
}

/** Where a list continues, by a member such as `next`, `next_cursor` or `links.next`. */
function nextOf(written: string, member: Json | undefined, path: string): Query | undefined {
  if (isJsonObject(member)) {
    const { href, url, link, ...others } = member;
    const given = [href, url, link].find(isText);
    const query = given === undefined ? {} : (nextOf(written, given, path) ?? {});
    const parameters = Object.entries(others).flatMap(([name, value]) => Object.entries(givenBy(name, value) ?? {}));
    if (given === undefined && parameters.length === 0) return undefined;
    return Object.keys(query).length > 0 ? query : Object.fromEntries(parameters);
  }
  if (member === true) return {};
  if (!isText(member) && !(typeof member === 'number' && member > 0)) return undefined;
  if (isText(member) && /^https?:|^\/|\?/i.test(member)) return queryOf(member, path);
  const named = written.replace(/^.*next[_-]?/i, '');
  const fallback = isText(member) ? 'cursor' : 'page';
  return givenBy(named === '' ? fallback : named.charAt(0).toLowerCase() + named.slice(1), member);
}

/** The parameter for a value; empty if the value is too long for one, undefined if there is none. */
function givenBy(name: string, value: Json | undefined): Query | undefined {
  if (!isText(value) && typeof value !== 'number') return undefined;
  return String(value).length > MAX_LINK_LENGTH ? {} : { [name]: value };
}

function isText(value: Json | undefined): value is string {
  return typeof value === 'string' && value !== '';
}

function nextInHeader(header: Headers[string], path: string): Query | undefined {
  const next = nextLink(textOf(header));
  return next === undefined ? undefined : queryOf(next, path);
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

const LINK = /<([^>]*)>((?:\s*;\s*[^\s;,="]+(?:\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s;,"]*))?)*)/g;
const RELATION = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,"]+))/i;

/** The address of the next page, as it is written in the header; undefined without one. */
export function nextLink(header: string | undefined): string | undefined {
  const links = [...(header ?? '').matchAll(LINK)];
  return links.find(([, , parameters = '']) => relationsIn(parameters).includes('next'))?.[1];
}

function relationsIn(parameters: string): readonly string[] {
  const [, quoted, bare = ''] = RELATION.exec(parameters) ?? [];
  return (quoted ?? bare).toLowerCase().split(/\s+/);
}
