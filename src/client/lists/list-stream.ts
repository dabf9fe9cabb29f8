/**
 * Reads the list of records from a JSON answer while it arrives, at any path (list-choice.ts), in constant memory.
 *
 * json-scan.ts finds where values begin and end; JSON.parse then reads whole runs of records. That is five times as fast
 * as a tokenizer in JavaScript, and JSON.parse alone decides what is valid. Everything outside the lists, the *outline*,
 * is kept and parsed at the end: it proves that the answer is complete, and shows whether its envelope reports a failure.
 */
import { LockstepError } from '../../base/errors.ts';
import { failureIn } from '../../contract/envelope.ts';
import type { Kind } from '../../contract/kinds.ts';
import { contractRecord } from '../call/contract-record.ts';
import {
  adviceOnList,
  adviceOnNothing,
  decodeBody,
  holdingOf,
  isDisputed,
  likelyFirst,
  looksLike,
  saysEmpty,
} from '../call/decode.ts';
import { type Dialect, isJsonObject, withKey } from '../call/dialect.ts';
import type { Json } from '../call/json.ts';
import { CLOSE_BRACE, CLOSE_BRACKET, GrowingBytes, OutlineWalker } from './json-scan.ts';
import {
  chooseList,
  explicitPath,
  isCalledRecords,
  type ListSpot,
  MAX_LIST_DEPTH,
  mayHoldRecords,
  spellingsOf,
} from './list-choice.ts';
import { OpenList, parseRun, RUN_BYTES } from './open-list.ts';

/** Maximum records per batch. */
export const BATCH_RECORDS = 1000;
const MAX_RECORD_BYTES = 8 * 1024 * 1024;
const MAX_OUTLINE_BYTES = 4 * 1024 * 1024;
/** Choosing among the lists of an answer is fast for tens of lists. */
const MAX_LISTS = 1000;

/** Why an answer has no list: a web page, not JSON or truncated, one record or the outline too large, or no list found. */
export class ListProblem extends LockstepError {
  override readonly name = 'ListProblem';
  readonly reason: 'html' | 'empty' | 'unreadable' | 'too-large' | 'no-list';

  constructor(reason: ListProblem['reason'], message: string) {
    super(`LIST_${reason.replace('-', '_').toUpperCase()}`, message);
    this.reason = reason;
  }
}

export type ListEnd =
  /** `take` returns the last records. `outline`: the answer without the records. */
  | { readonly status: 'whole'; readonly outline: Json }
  /** The envelope reports a failure; discard the records handed over. */
  | { readonly status: 'failing'; readonly message: string };

/** Reads one answer. `write` and `end` throw a ListProblem. */
export class ListReader {
  readonly #kind: Kind;
  readonly #dialect: Dialect;
  readonly #isPage: boolean;
  readonly #explicit: readonly string[] | undefined;
  readonly #outline = new GrowingBytes(MAX_OUTLINE_BYTES);
  readonly #walker = new OutlineWalker(this.#outline);
  readonly #spots: ListSpot[] = [];
  #list: OpenList | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #records: Json[] = [];
  /** The first element of the first list at the path of the records, if it is not recognised as a record. */
  #unread: Json | undefined;
  #handedOver = false;
  #begun = false;
  #whole = false;
  #path: readonly string[] = [];

  /** `isPage`: see `AskedFor`. */
  constructor(kind: Kind, dialect: Dialect, isPage = false) {
    this.#kind = kind;
    this.#isPage = isPage;
    this.#dialect = dialect;
    this.#explicit = explicitPath(dialect, kind);
  }

  /** The path of the list in the answer; known once `end` returns `whole`. */
  get path(): readonly string[] {
    return this.#path;
  }

  write(chunk: Uint8Array): void {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    this.#lookAtStart(bytes);
    const data = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = this.#rest.length;
    while (at < data.length) at = this.#list === undefined ? this.#walk(data, at) : this.#read(this.#list, data, at);
    this.#rest = this.#list === undefined ? Buffer.alloc(0) : data.subarray(this.#list.runStart);
    if (this.#list === undefined) return;
    this.#list.lastEnd -= this.#list.runStart;
    this.#list.runStart = 0;
    if (this.#rest.length > MAX_RECORD_BYTES) {
      throw new ListProblem('too-large', `a single record is larger than ${MAX_RECORD_BYTES} bytes`);
    }
  }

  /**
   * A full batch, as soon as more records than one batch were read. The last records wait until `end` has confirmed that
   * the answer is complete.
   */
  take(): readonly Json[] | undefined {
    const kept = this.#whole ? 0 : BATCH_RECORDS;
    if (this.#records.length <= kept) return undefined;
    this.#handedOver = true;
    return this.#records.splice(0, BATCH_RECORDS);
  }

  end(): ListEnd {
    if (this.#list !== undefined) throw new ListProblem('unreadable', 'JSON that is truncated within the list');
    const outline = decodeBody(this.#outline.view());
    if (outline.status === 'unreadable') throw new ListProblem('unreadable', outline.looks);
    if (outline.status === 'empty')
      throw new ListProblem('empty', `nothing where a list was expected. ${adviceOnNothing(this.#kind)}`);
    const message = failureIn(outline.value);
    if (message !== undefined) return { status: 'failing', message };
    const choice = this.#explicit === undefined ? chooseList(this.#spots, this.#kind) : this.#spots.length - 1;
    const spot = choice === undefined ? undefined : this.#spots[choice];
    if (
      spot === undefined &&
      this.#spots.length === 0 &&
      saysEmpty(outline.value, this.#kind, { isPage: this.#isPage })
    ) {
      this.#whole = true;
      return { status: 'whole', outline: outline.value };
    }
    const isFound = this.#explicit === undefined && spot?.holds === 'records';
    if (spot === undefined || (isFound && isDisputed(spot.path, outline.value, this.#kind))) {
      this.#unread ??= likelyFirst(outline.value, this.#kind);
      throw this.#noList('JSON without a list that can be recognised as the records');
    }
    if (spot.holds === 'nothing' && this.#handedOver) throw this.#twoLists();
    if (spot.holds === 'nothing') this.#records = [];
    this.#whole = true;
    this.#path = spot.path;
    return { status: 'whole', outline: outline.value };
  }

  #lookAtStart(bytes: Buffer): void {
    if (this.#begun) return;
    const text = bytes.subarray(0, 512).toString();
    if (text.trim() === '') return;
    this.#begun = true;
    // Reported at once: a page's scripts could look like lists, and a page may be large.
    if (text.trimStart().startsWith('<')) throw new ListProblem('html', `${looksLike(text)} where JSON was expected`);
  }

  #walk(data: Buffer, from: number): number {
    const stop = this.#walker.walk(data, from);
    const at = this.#walker.index;
    if (stop === 'too-large') throw this.#tooLarge();
    if (stop === 'too-deep') throw new ListProblem('too-large', 'JSON with too many levels');
    const isKeyed = stop === 'first-keyed';
    const depth = this.#walker.depth - Number(isKeyed);
    if (stop === 'more' || depth > (this.#explicit?.length ?? MAX_LIST_DEPTH)) return at;
    const names = this.#walker.path();
    const path = names.slice(0, depth);
    const named = this.#explicit !== undefined && this.#spots.length === 0 && this.#isNamed(path);
    const looked = this.#explicit === undefined && mayHoldRecords(path);
    if (stop === 'empty-array') {
      if (named || looked) this.#addSpot({ path, holds: 'nothing' });
    } else if (named || (looked && data[at] === 0x7b)) {
      if (named) this.#addSpot({ path, holds: 'records' });
      this.#list = new OpenList({ path, isKeyed, key: names[depth], taking: named ? true : undefined, at });
    }
    return at;
  }

  #read(list: OpenList, data: Buffer, from: number): number {
    const [close, other] = list.isKeyed ? [CLOSE_BRACE, CLOSE_BRACKET] : [CLOSE_BRACKET, CLOSE_BRACE];
    const start = list.guessRuns(data, from, (records) => this.#keep(list, records));
    for (let at = list.scanner.separator(data, start); at !== -1; at = list.scanner.separator(data, at + 1)) {
      if (data[at] === other) throw brokenList();
      if (list.taking === undefined && !this.#judge(list, data.subarray(list.runStart, at)))
        return list.isKeyed ? list.runStart : at;
      list.learnSeparator(data, at);
      const isEnd = data[at] === close;
      if (isEnd || list.isKeyed || at - list.runStart > RUN_BYTES) this.#parseRun(list, data, at);
      list.lastEnd = at;
      if (isEnd) {
        this.#close(list);
        return at;
      }
    }
    if (list.lastEnd > list.runStart) this.#parseRun(list, data, list.lastEnd);
    return data.length;
  }

  #close(list: OpenList): void {
    if (list.isKeyed) this.#outline.append(Buffer.from('0')); // its first key is in the outline
    this.#list = undefined;
  }

  /** Whether the first element is a record; if not, it belongs to the outline. */
  #judge(list: OpenList, element: Buffer): boolean {
    const [read = null] = parseRun(element) ?? [];
    const first = this.#record(read, list);
    const holds = holdingOf(first, this.#kind, this.#dialect);
    const spot = { path: list.path, holds };
    if (holds !== 'records') {
      this.#list = undefined;
      if (list.isKeyed) return false; // an object like others, which may hold the list
      if (isJsonObject(first)) this.#addSpot(spot);
      if (isCalledRecords(list.path, this.#kind)) this.#unread ??= read;
      if (!this.#outline.append(element)) throw this.#tooLarge();
      return false;
    }
    const index = this.#addSpot(spot);
    list.taking = chooseList(this.#spots, this.#kind) === index;
    if (list.taking) {
      if (this.#handedOver) throw this.#twoLists();
      this.#records = [];
    }
    return true;
  }

  /** Its index. */
  #addSpot(spot: ListSpot): number {
    if (this.#spots.length === MAX_LISTS) throw this.#noList(`JSON with more than ${MAX_LISTS} lists`);
    return this.#spots.push(spot) - 1;
  }

  #parseRun(list: OpenList, data: Buffer, end: number): void {
    const records = list.endRun(data, end);
    if (records === undefined) throw brokenList();
    this.#keep(list, records);
  }

  #keep(list: OpenList, records: readonly Json[]): void {
    if (!list.taking) return;
    for (const record of records) this.#records.push(this.#record(record, list));
  }

  #record(read: Json, { key }: OpenList): Json {
    return contractRecord(withKey(read, key, this.#kind, this.#dialect), this.#kind, this.#dialect);
  }

  #isNamed(path: readonly string[]): boolean {
    const spellings = this.#explicit === undefined ? [] : spellingsOf(this.#explicit);
    return spellings.some((spelling) => spelling.join('.') === path.join('.'));
  }

  #twoLists(): ListProblem {
    return this.#noList('JSON with two lists that could be the records');
  }

  #noList(what: string): ListProblem {
    const advice = adviceOnList(this.#unread, this.#kind, this.#dialect, 'the account’s dialect');
    return new ListProblem('no-list', `${what}. ${advice}`);
  }

  /** Records that are not recognised count towards the outline. */
  #tooLarge(): ListProblem {
    const what = `more than ${MAX_OUTLINE_BYTES} bytes beside the list`;
    return this.#unread === undefined ? new ListProblem('too-large', what) : this.#noList(what);
  }
}

const brokenList = () => new ListProblem('unreadable', 'broken JSON, or bytes that are not UTF-8, within the list');
