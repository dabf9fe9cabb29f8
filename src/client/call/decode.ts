/**
 * Decodes an answer: the JSON, the content without its envelope, the list or the record in it.
 */
import { isUtf8 } from 'node:buffer';
import { shortJson } from '../../base/texts.ts';
import { failureIn } from '../../contract/envelope.ts';
import type { Kind } from '../../contract/kinds.ts';
import { isTotal } from '../lists/beside.ts';
import {
  chooseList,
  explicitPath,
  isCalledRecords,
  type ListSpot,
  MAX_LIST_DEPTH,
  mayHoldRecords,
  spellingsOf,
} from '../lists/list-choice.ts';
import { contractRecord } from './contract-record.ts';
import { autoDialect, type Dialect, idFieldOf, idOf, isJsonArray, isJsonObject, whyNoId, withKey } from './dialect.ts';
import { ID_FORM } from './flat-record.ts';
import { type Json, type JsonObject, parseJson } from './json.ts';

export type Decoded =
  | { readonly status: 'empty' }
  | { readonly status: 'json'; readonly value: Json }
  /** `looks` describes the body: "an HTML page", "text that is not JSON". */
  | { readonly status: 'unreadable'; readonly looks: string; readonly html: boolean; readonly isAlmostJson: boolean };

const BYTE_ORDER_MARK = '\uFEFF';

/** Decodes a whole body. A blank body counts as empty; a byte order mark is skipped. */
export function decodeBody(body: Uint8Array): Decoded {
  if (!isUtf8(body)) return unreadable('bytes that are not UTF-8');
  const decoded = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const text = decoded.startsWith(BYTE_ORDER_MARK) ? decoded.slice(1) : decoded;
  if (text.trim() === '') return { status: 'empty' };
  try {
    const value = parseJson(text);
    return typeof value === 'string' && /^\s*[[{]/.test(value) ? unreadable(TWICE) : { status: 'json', value };
  } catch {
    return unreadable(looksLike(text));
  }
}

const TWICE = 'JSON as a text within JSON (it is encoded twice)';

function unreadable(looks: string): Decoded {
  const html = looks === PAGE || looks === MARKUP;
  return { status: 'unreadable', looks, html, isAlmostJson: !html && looks !== NO_JSON };
}

const PAGE = 'an HTML page';
const MARKUP = 'markup (XML or HTML)';
const NO_JSON = 'text that is not JSON';

/** Whether a body is a web page, as a page to sign in is. */
export function isWebPage(text: string): boolean {
  return looksLike(text) === PAGE;
}

/** Describes a body that is not JSON, for a message. */
export function looksLike(text: string): string {
  if (/^\s*<(!doctype\s+html|html|head|body|title|h1)\b/i.test(text)) return PAGE;
  if (/^\s*</.test(text)) return MARKUP;
  if (/^\s*[[{"]/.test(text))
    return /[\]}]\s*$/.test(text) ? 'broken JSON' : 'JSON that is truncated, or followed by other text';
  return NO_JSON;
}

/**
 * The answer without its envelope. An envelope is an object without an id that has a `content` member (or `data`,
 * `result`), alone or beside a member that reports on the call.
 */
export function unwrap(body: Json): Json {
  if (!isJsonObject(body) || Object.hasOwn(body, 'id')) return body;
  const reports = ['status', 'success', 'ok', 'message', 'code', 'error', 'errors'].some((name) =>
    Object.hasOwn(body, name),
  );
  if (!reports && Object.keys(body).length !== 1) return body;
  for (const name of ['content', 'data', 'result']) {
    const inner = Object.hasOwn(body, name) ? body[name] : undefined;
    if (inner !== undefined) return inner;
  }
  return body;
}

/** What `listIn` looks at. */
export interface AskedFor {
  /** The whole answer, or the content of its envelope. Default the answer. */
  readonly of?: 'answer' | 'content';
  /** Whether one page was requested: past the end, an answer may have no list and still count the whole list's records. */
  readonly isPage?: boolean;
}

/**
 * The list of records in an answer, in the contract's names, and the path to it, with or without the envelope; undefined if
 * there is none or if two lists fit equally well. The caller reports that and never treats it as an empty list.
 */
export function listIn(body: unknown, dialect: Dialect, kind: Kind, asked: AskedFor = {}): FoundList | undefined {
  const found = arrayIn(body, dialect, kind);
  if (found === undefined) return saysEmpty(body, kind, asked) ? { path: [], list: [], raw: [] } : undefined;
  const { path, list: raw, keys } = found;
  const records = raw.map((record, at) => withKey(record, keys?.[at], kind, dialect));
  return { path, raw, list: records.map((record) => contractRecord(record, kind, dialect)) };
}

function arrayIn(body: unknown, dialect: Dialect, kind: Kind): FoundArray | undefined {
  const explicit = explicitPath(dialect, kind);
  if (explicit !== undefined) {
    for (const path of spellingsOf(explicit)) {
      const elements = elementsOf(memberAt(body, path), [], () => true);
      if (elements !== undefined) return { path, ...elements };
    }
    return undefined;
  }
  const isRecord: IsRecord = (first, key) => holdingOf(withKey(first, key, kind, dialect), kind, dialect) === 'records';
  const found = arraysIn(body, isRecord).filter(({ list }) => list.length === 0 || isJsonObject(list[0]));
  const spots = found.map(
    ({ path, list: [first], keys }): ListSpot => ({
      path,
      holds: keys === undefined ? holdingOf(first, kind, dialect) : 'records',
    }),
  );
  const choice = chooseList(spots, kind);
  const chosen = choice === undefined ? undefined : found[choice];
  if (chosen === undefined || (chosen.list.length > 0 && isDisputed(chosen.path, body, kind, isRecord)))
    return undefined;
  return chosen;
}

/** True for a list under another name while the member that should hold the records is null. `isRecord`: see `arraysIn`. */
export function isDisputed(path: readonly string[], body: unknown, kind: Kind, isRecord = NO_RECORD): boolean {
  const hasNullRecords = (value: unknown, at: readonly string[]): boolean => {
    if (value === null) return at.length > 0 && isCalledRecords(at, kind);
    if (!isJsonObject(value) || at.length === MAX_LIST_DEPTH || elementsOf(value, at, isRecord)) return false;
    return Object.entries(value).some(([name, member]) => hasNullRecords(member, [...at, name]));
  };
  return !isCalledRecords(path, kind) && hasNullRecords(body, []);
}

/**
 * True if an answer shows an empty list by a null, or by omitting it: it contains only flags, counts and text about the
 * call. A count must be zero, or the total beside a page. Text counts only beside a sign of success: an error message does
 * not mean that there are no records.
 */
export function saysEmpty(body: unknown, kind: Kind, { of = 'answer', isPage = false }: AskedFor): boolean {
  if (body === null || (of === 'content' && body === '')) return true;
  if (!isJsonObject(body) || failureIn(body) !== undefined) return false;
  const values = Object.values(body);
  const hasWords = values.some((value) => typeof value === 'string' && value.trim() !== '');
  const isBare = of === 'answer' && !values.some((value) => value === null || isJsonObject(value));
  if ((hasWords || isBare) && !values.some(saysGood)) return false;
  return Object.entries(body).every(([name, value]) =>
    typeof value === 'string'
      ? value.trim() === '' || !isCalledRecords([name], kind)
      : holdsNothing(name, value, { kind, isPage, depth: 1 }),
  );
}

function holdsNothing(
  name: string,
  value: Json | undefined,
  { kind, isPage, depth }: { kind: Kind; isPage: boolean; depth: number },
): boolean {
  if (value === null || value === '' || typeof value === 'boolean' || /^_?links$/i.test(name)) return true;
  if (typeof value === 'number') return value === 0 || !isCount(name) || (isPage && isTotal(name));
  if (isJsonArray(value)) return value.length === 0;
  if (!isJsonObject(value) || depth > MAX_LIST_DEPTH || idFieldOf(value, kind, autoDialect) !== undefined) return false;
  return Object.entries(value).every(([inner, within]) =>
    holdsNothing(inner, within, { kind, isPage, depth: depth + 1 }),
  );
}

function isCount(name: string): boolean {
  return /total|count|records|rows$|found|elements|items/i.test(name) && !/page/i.test(name);
}

function saysGood(value: Json | undefined): boolean {
  if (typeof value === 'string') return /^(success|succeeded|ok|okay|true|1|200)$/i.test(value.trim());
  return value === true || value === 1 || value === 200;
}

/**
 * What is in the place of the first record, for `adviceOnList`: the first element of the list that is called as the records are, or
 * of the only one of objects; or a list as a text.
 */
export function likelyFirst(body: unknown, kind: Kind): Json | undefined {
  const lists = arraysIn(body, () => true).filter(({ list }) => list.length > 0);
  const called = lists.find(({ path }) => isCalledRecords(path, kind));
  const [only, ...others] = lists.filter(({ list }) => isJsonObject(list[0]));
  const list = called ?? (others.length === 0 ? only : undefined);
  const texts = [body, ...Object.values(isJsonObject(body) ? body : {})].filter((value) => typeof value === 'string');
  return list === undefined ? texts.find((text) => /^\s*[[{]/.test(text)) : list.list[0];
}

/**
 * Why an answer has no list of records, and what to do about it. `first`: what is in the place of the first record; `settings`:
 * where the dialect is set.
 */
export function adviceOnList(first: Json | undefined, kind: Kind, dialect: Dialect, settings: string): string {
  const listPath = `set ${settings}.listPath.${kind} to the path of the list: an array of records with ids, or an object of such records whose keys are numbers or ids.`;
  const others = `If these are not the ${kind}, ${listPath}`;
  const record = contractRecord(first ?? null, kind, dialect);
  if (first === undefined || idOf(record, kind, dialect) !== undefined) return `To fix this, ${listPath}`;
  if (isJsonObject(first))
    return `In the first record, ${whyNoId(record, kind, dialect, first)}. Set ${settings}.idField.${kind} to the name of the id member, or to $key if the list is an object whose keys are the ids. ${others}`;
  const what = shortJson(first, MOST_SHOWN);
  return `What may be the list begins with ${what}. Lockstep reads only records that are JSON objects with named members, and no setting changes that. ${others}`;
}

/** What to do if an answer without a body is in the place of a list: no setting finds one there. */
export function adviceOnNothing(kind: Kind): string {
  return `If the service answers this because it has no ${kind} yet, create one there and start again; otherwise check the account’s url and prefix.`;
}

const MOST_SHOWN = 40;

/** What a list contains, judged by its first element. */
export function holdingOf(first: Json | undefined, kind: Kind, dialect: Dialect): ListSpot['holds'] {
  if (first === undefined) return 'nothing';
  return idOf(contractRecord(first, kind, dialect), kind, dialect) === undefined ? 'objects without ids' : 'records';
}

/**
 * The one record in an answer to a get or a create, in the contract's names: the outermost object with an id, or a list's only
 * element.
 */
export function recordIn(body: unknown, dialect: Dialect, kind: Kind): JsonObject | undefined {
  let level: unknown[] = [body];
  for (let depth = 0; depth <= MAX_LIST_DEPTH; depth++) {
    const candidates = level.map((value) => (isJsonArray(value) && value.length === 1 ? value[0] : value));
    const found = candidates.filter(isJsonObject).map((value) => contractRecord(value, kind, dialect));
    const record = found.find((value) => idOf(value, kind, dialect) !== undefined);
    if (record !== undefined) return record;
    level = found.flatMap((value) =>
      Object.entries(value).map(([key, inner]) => withKey(inner, ID_FORM.test(key) ? key : undefined, kind, dialect)),
    );
  }
  return undefined;
}

export interface FoundList extends FoundArray {
  /** The records as they were answered. */
  readonly raw: readonly Json[];
}

interface FoundArray {
  readonly path: readonly string[];
  readonly list: readonly Json[];
  /** The keys of the records, if the list is an object. */
  readonly keys?: readonly string[];
}

/**
 * The elements of an array, or of an object whose keys are numbers or ids and whose first member is a record; undefined if it is
 * neither.
 */
function elementsOf(value: unknown, path: readonly string[], isRecord: IsRecord): Omit<FoundArray, 'path'> | undefined {
  if (isJsonArray(value)) return { list: value };
  if (!isJsonObject(value) || !mayHoldRecords(path)) return undefined;
  const [list, keys] = [Object.values(value), Object.keys(value)];
  const [[first], [key]] = [list, keys];
  const areKeyed = list.every(isJsonObject) && keys.every((one) => ID_FORM.test(one));
  return areKeyed && isJsonObject(first) && key !== undefined && isRecord(first, key) ? { list, keys } : undefined;
}

/** Judges the first member of an object whose keys are numbers or ids. */
type IsRecord = (first: JsonObject, key: string) => boolean;
const NO_RECORD: IsRecord = () => false;

/** Every array that may hold records, with its path, and every object whose keys are numbers or ids and that holds records. */
export function arraysIn(body: unknown, isRecord = NO_RECORD): FoundArray[] {
  const arrays: FoundArray[] = [];
  const visit = (value: unknown, path: readonly string[]): void => {
    const elements = elementsOf(value, path, isRecord);
    if (elements !== undefined) {
      if (mayHoldRecords(path)) arrays.push({ path, ...elements });
    } else if (isJsonObject(value) && path.length < MAX_LIST_DEPTH) {
      for (const [name, member] of Object.entries(value)) visit(member, [...path, name]);
    }
  };
  visit(body, []);
  return arrays;
}

function memberAt(body: unknown, path: readonly string[]): unknown {
  let value = body;
  for (const name of path) {
    if (!isJsonObject(value) || !Object.hasOwn(value, name)) return undefined;
    value = value[name];
  }
  return value;
}
