/**
 * The ids that a list skips although a service that counts may have given them to records: the one before its lowest, those
 * between its ids, and those after its highest. A record that the service returns under such an id is hidden from the list
 * by a filter or a limit, or is newer than the read. Ids that count after the same letters, such as
 * `ord_17` or `C-0017`, are numbers too.
 */
import { evenly, Sample } from './list-sample.ts';

/** Larger ids are not counted: a bit for each id takes 8 MB up to here. */
const HIGHEST = 2 ** 26;
/** Some of the ids after the highest may be of records that were removed. */
const AFTER = 3;
/** Of the ids between the lowest and the highest, a list that has fewer may be of a tenant that shares its numbers with others. */
const DENSE = 3 / 4;
/** UUIDs and other random ids are longer. */
const COUNTED = /^(.{0,11}\D|)(\d{1,15})$/;

export class SkippedIds {
  #bits = new Uint32Array(32);
  #lowest = Number.POSITIVE_INFINITY;
  #highest = 0;
  /** What is before the number of every id. */
  #letters: string | undefined;
  #count = 0;
  /** How many digits a number has that is filled up with zeros. */
  #digits = 0;

  /** The same record may come more than once. */
  add(id: string): void {
    const number = this.#numberOf(id);
    this.#lowest = Math.min(this.#lowest, number);
    this.#highest = Math.max(this.#highest, number);
    if (!(number < HIGHEST)) return;
    const at = number >>> 5;
    if (at >= this.#bits.length) {
      const bits = new Uint32Array(2 ** Math.ceil(Math.log2(at + 1)));
      bits.set(this.#bits);
      this.#bits = bits;
    }
    if (!this.#has(number)) this.#count++;
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (number & 31));
  }

  /** Of the ids that count. */
  get count(): number {
    return this.#count;
  }

  /** Whether ids that the list skips can be named. */
  get areCounted(): boolean {
    return this.#highest > 0 && this.#highest < HIGHEST;
  }

  /** Whether a record that the list hides probably has one of the ids next to those of the list. */
  get areDense(): boolean {
    return this.areCounted && this.#count >= DENSE * (this.#highest - this.#lowest + 1);
  }

  /** At most `most` of them, those after the highest last; empty if an id does not count. */
  sample(most: number): readonly string[] {
    if (!(this.#highest > 0)) return [];
    const before = this.#lowest > 1 ? [this.#lowest - 1] : [];
    const between = evenly(this.#between(), most - before.length - AFTER);
    return [...[...before, ...between].map((number) => this.#idOf(number)), ...this.after()];
  }

  /** The first ids after the highest; empty if an id does not count. */
  after(): readonly string[] {
    return this.#highest > 0 ? Array.from({ length: AFTER }, (_, n) => this.#idOf(this.#highest + 1 + n)) : [];
  }

  /** NaN if the id does not count like those before it. */
  #numberOf(id: string): number {
    const [, letters = '', digits = ''] = COUNTED.exec(id) ?? [];
    this.#letters ??= letters;
    if (digits.startsWith('0')) this.#digits = Math.max(this.#digits, digits.length);
    return letters === this.#letters && Number(digits) > 0 ? Number(digits) : Number.NaN;
  }

  #idOf(number: number): string {
    return `${this.#letters}${String(number).padStart(this.#digits, '0')}`;
  }

  #has(number: number): boolean {
    return number < HIGHEST && ((this.#bits[number >>> 5] ?? 0) & (1 << (number & 31))) !== 0;
  }

  #between(): readonly number[] {
    const skipped = new Sample<number>();
    if (this.#highest >= HIGHEST) return [];
    for (let id = this.#lowest; id < this.#highest; id++) if (!this.#has(id)) skipped.add(id);
    return skipped.records;
  }
}
