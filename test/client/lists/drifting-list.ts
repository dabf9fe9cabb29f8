/** A numbered-page list that changes between reads, to check scans against. */
import { LockstepError } from '../../../src/base/errors.ts';
import { hashInto } from '../../../src/base/text-hash.ts';
import type { Query } from '../../../src/client/lists/beside.ts';
import type { Kept, ScannedRecord } from '../../../src/client/lists/pass.ts';
import type { Page } from '../../../src/client/lists/scan-pages.ts';

export interface ListOptions {
  readonly length: number;
  /** The most rows a page holds. */
  readonly cap: number;
  readonly seed?: number;
  readonly changesPerRead?: number;
  readonly deletesShare?: number;
  /** Of the other changes, this share updates a record, which moves. */
  readonly updatesShare?: number;
  /** Where it moves: to the beginning of a list that is sorted by the last update, or anywhere in one that is sorted by name, whose ids are in no order if `order` is undefined. */
  readonly movesTo?: 'beginning' | 'anywhere';
  /** `tied`: by a name that a tenth of the records share; these come in an order that depends on the request. */
  readonly order?: 'oldest' | 'newest' | 'random' | 'tied';
  readonly inserts?: 'end' | 'anywhere';
  readonly firstPage?: 0 | 1;
  readonly pageZero?: 'empty' | 'first' | 'missing';
  /** Pages past the end are answered with 404. */
  readonly missingPastEnd?: boolean;
  /** A page past the end is the first one, or the last one, again. */
  readonly pastEnd?: 'first' | 'last';
  readonly ignoresPage?: boolean;
  /** Pages hold this many rows, whatever size is requested. */
  readonly fixedSize?: number;
  readonly roundsTo?: number;
  /** Past its end the list begins again. */
  readonly endless?: boolean;
  /** Every record with a multiple of this id is taken out of its page after the page was cut. */
  readonly hides?: number;
  /** Each answer says how many records the list has: all, or without the hidden ones. */
  readonly total?: 'all' | 'shown';
  /**
   * Page numbers are ignored: the list continues by this parameter. With a cursor, answers give the next one; with an id,
   * they say whether there are more.
   */
  readonly continues?: 'offset' | 'cursor' | 'starting_after';
}

export class DriftingList {
  readonly #options: ListOptions;
  readonly #random: () => number;
  readonly #persistent: Set<string>;
  #records: ScannedRecord[];
  #lastId: number;

  constructor(options: ListOptions) {
    this.#options = options;
    this.#random = mulberry32(options.seed ?? 1);
    this.#records = Array.from({ length: options.length }, (_, i) => ({ id: String(i + 1) }));
    if (options.order === 'newest') this.#records.reverse();
    if (options.movesTo === 'anywhere' && !options.order) this.#records.sort(() => this.#random() - 0.5);
    this.#persistent = new Set(this.#records.map((record) => record.id));
    this.#lastId = options.length;
  }

  /** The records that existed before the first read and still exist. */
  persistent(): readonly string[] {
    return [...this.#persistent].filter((id) => this.#isShown(id));
  }

  /** One page, and what the answer says beside it. */
  answer(page: number, size: number, instead: Query = {}): Page<ScannedRecord> {
    const { continues, cap, order, total } = this.#options;
    const asked = Number(instead[continues ?? ''] ?? 0);
    const isBehind = ({ id }: ScannedRecord) => (order === 'newest' ? Number(id) < asked : Number(id) > asked);
    const behind = this.#records.findIndex(isBehind);
    const from = continues === 'starting_after' && asked > 0 ? (behind < 0 ? this.#records.length : behind) : asked;
    const rows = continues === undefined ? this.page(page, size) : this.#from(from, Math.min(size, cap));
    const records = rows.filter(({ id }) => this.#isShown(id));
    const end = from + rows.length;
    const all = total === 'shown' ? this.#records.filter(({ id }) => this.#isShown(id)) : this.#records;
    const hasNext = rows.length > 0 && end < this.#records.length;
    const next: Query | undefined =
      continues === 'cursor' ? { cursor: end } : continues === 'starting_after' ? {} : undefined;
    return { records, beside: { ...(total && { total: all.length }), ...(hasNext && next && { next }) } };
  }

  #from(from: number, rows: number): readonly ScannedRecord[] {
    this.#drift();
    return this.#records.slice(from, from + rows);
  }

  #isShown(id: string): boolean {
    const { hides } = this.#options;
    return hides === undefined || Number(id) % hides !== 0;
  }

  page(page: number, size: number): readonly ScannedRecord[] {
    this.#drift();
    const {
      cap,
      fixedSize,
      roundsTo,
      ignoresPage,
      firstPage = 0,
      pageZero,
      missingPastEnd,
      order,
      endless,
      pastEnd,
    } = this.#options;
    if (order === 'random') this.#records.sort(() => this.#random() - 0.5);
    let rows = Math.min(fixedSize ?? size, cap);
    if (roundsTo && rows !== cap) rows = Math.max(roundsTo, rows - (rows % roundsTo));
    let index = ignoresPage ? 0 : page - firstPage;
    if (index < 0) {
      if (pageZero === 'empty') return [];
      if (pageZero === 'missing') throw missing(page);
      index = 0;
    }
    if (missingPastEnd && index > 0 && index * rows >= this.#records.length) throw missing(page);
    if (pastEnd !== undefined && index * rows >= this.#records.length)
      index = pastEnd === 'first' ? 0 : Math.max(0, Math.ceil(this.#records.length / rows) - 1);
    if (order === 'tied') this.#sortTies(`${index}/${rows}`);
    const from = endless ? (index * rows) % this.#records.length : index * rows;
    return this.#records.slice(from, from + rows);
  }

  /** As a database sorts without a unique key: another limit or offset is another plan. */
  #sortTies(request: string): void {
    const { seed = 1 } = this.#options;
    const hash = new Uint32Array(2);
    const rank = ({ id }: ScannedRecord) => {
      hashInto(hash, 0, `${id} ${request}`, seed);
      return (Number(id) % 10) + (hash[0] ?? 0) / 2 ** 32;
    };
    const ranks = new Map(this.#records.map((record) => [record, rank(record)]));
    this.#records.sort((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
  }

  /** What a ledger does with the records of a window. */
  keeper(): { seen: Set<string>; keep: (records: readonly ScannedRecord[], pass: number) => Promise<Kept> } {
    const seen = new Set<string>();
    const passes = new Map<number, Set<string>>();
    return {
      seen,
      keep: async (records, pass) => {
        const inPass = passes.get(pass) ?? new Set();
        passes.set(pass, inPass);
        const before = { inPass: inPass.size, inAll: seen.size };
        for (const { id } of records) {
          inPass.add(id);
          seen.add(id);
        }
        return { newInPass: inPass.size - before.inPass, newInAll: seen.size - before.inAll };
      },
    };
  }

  #drift(): void {
    const { changesPerRead = 0, deletesShare = 0.5, updatesShare = 0, inserts = 'end', order } = this.#options;
    const { movesTo = 'beginning' } = this.#options;
    for (let left = changesPerRead; left > 0; left--) {
      if (this.#random() >= left) continue;
      if (this.#random() < deletesShare) {
        const [gone] = this.#records.splice(Math.floor(this.#random() * this.#records.length), 1);
        if (gone) this.#persistent.delete(gone.id);
      } else if (updatesShare > 0 && this.#random() < updatesShare) {
        const moved = this.#records.splice(Math.floor(this.#random() * this.#records.length), 1);
        const to = movesTo === 'beginning' ? 0 : Math.floor(this.#random() * (this.#records.length + 1));
        this.#records.splice(to, 0, ...moved);
      } else {
        const record = { id: String(++this.#lastId) };
        const last = order === 'newest' ? 0 : this.#records.length;
        this.#records.splice(inserts === 'end' ? last : Math.floor(this.#random() * (last + 1)), 0, record);
      }
    }
  }
}

function missing(page: number): LockstepError {
  return new LockstepError('SERVICE_REFUSED', `no page ${page}`, { httpStatus: 404 });
}

function mulberry32(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}
