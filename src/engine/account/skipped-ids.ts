/**
 * The ids that a list skips although a service that counts may have given them to records: the one before its lowest, those
 * between its ids, and the one after its highest. A record that the service returns under such an id is hidden from the list
 * by a filter or a limit. The id after the highest may also be of a record that is newer than the read, so it is only named
 * for a list with a round number of records: services cut lists off at round numbers.
 */
import { evenly, Sample } from './sample.ts';

const ROUND = 10;
/** Larger ids are not counted: a bit for each id takes 8 MB up to here. */
const HIGHEST = 2 ** 26;

export class SkippedIds {
  #bits = new Uint32Array(32);
  #lowest = Number.POSITIVE_INFINITY;
  #highest = 0;
  #records = 0;

  /** The same record may come more than once. */
  add(id: string): void {
    const number = /^[1-9]\d{0,14}$/.test(id) ? Number(id) : Number.NaN;
    this.#lowest = Math.min(this.#lowest, number);
    this.#highest = Math.max(this.#highest, number);
    if (this.#has(number)) return;
    this.#records++;
    if (!(number < HIGHEST)) return;
    const at = number >>> 5;
    if (at >= this.#bits.length) {
      const bits = new Uint32Array(2 ** Math.ceil(Math.log2(at + 1)));
      bits.set(this.#bits);
      this.#bits = bits;
    }
    this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (number & 31));
  }

  /** At most `most` of them: the ends, and some of the others, evenly spread; empty if an id is not a number. */
  sample(most: number): readonly string[] {
    if (this.#records === 0 || Number.isNaN(this.#highest)) return [];
    const isRound = this.#records % ROUND === 0;
    const ends = [this.#lowest - 1, ...(isRound ? [this.#highest + 1] : [])].filter((id) => id > 0);
    return [...ends.map(String), ...evenly(this.#between(), most - ends.length)];
  }

  #has(number: number): boolean {
    return number < HIGHEST && ((this.#bits[number >>> 5] ?? 0) & (1 << (number & 31))) !== 0;
  }

  #between(): readonly string[] {
    const skipped = new Sample<{ id: string }>();
    if (this.#highest >= HIGHEST) return [];
    for (let id = this.#lowest; id < this.#highest; id++) if (!this.#has(id)) skipped.add({ id: String(id) });
    return skipped.records.map(({ id }) => id);
  }
}
