/**
 * The records that a list showed before a run's first write; any other record is new. It keeps 64 bits of the hash of each
 * id, at most 21 bytes per id in memory and in the ledger. If a new customer shares all bits with one of a million, it counts as
 * an old one; that happens once in 10^13.
 */
import { hashInto } from '../../base/text-hash.ts';

const FIRST_SLOTS = 1 << 10;
const MOST_FILLED = 0.75;
/** Every process uses the same hash, because hashes outlive the process that made them. */
const SEED = 7;

export class Baseline {
  readonly #key = new Uint32Array(2);
  /** Two words a slot; both 0: empty. */
  #table = new Uint32Array(FIRST_SLOTS * 2);
  #size = 0;

  static of(hashes: Uint32Array): Baseline {
    const baseline = new Baseline();
    for (let at = 0; at < hashes.length; at += 2) baseline.#insert(hashes[at] ?? 0, hashes[at + 1] ?? 0);
    return baseline;
  }

  add(id: string): void {
    hashInto(this.#key, 0, id, SEED);
    this.#insert(this.#key[0] ?? 0, this.#key[1] ?? 0);
  }

  has(id: string): boolean {
    hashInto(this.#key, 0, id, SEED);
    const at = this.#slotOf(this.#key[0] ?? 0, this.#key[1] ?? 0);
    return this.#table[at] !== 0 || this.#table[at + 1] !== 0;
  }

  /** Two words for each id. */
  hashes(): Uint32Array {
    const hashes = new Uint32Array(this.#size * 2);
    let to = 0;
    for (let at = 0; at < this.#table.length; at += 2) {
      if (this.#table[at] === 0 && this.#table[at + 1] === 0) continue;
      hashes.set(this.#table.subarray(at, at + 2), to);
      to += 2;
    }
    return hashes;
  }

  #insert(one: number, two: number): void {
    const at = this.#slotOf(one, two);
    if (this.#table[at] !== 0 || this.#table[at + 1] !== 0) return;
    this.#table[at] = one;
    this.#table[at + 1] = two;
    if (++this.#size * 2 <= this.#table.length * MOST_FILLED) return;
    const hashes = this.hashes();
    this.#table = new Uint32Array(this.#table.length * 2);
    for (let from = 0; from < hashes.length; from += 2)
      this.#table.set(hashes.subarray(from, from + 2), this.#slotOf(hashes[from] ?? 0, hashes[from + 1] ?? 0));
  }

  /** The slot of the hash, or the slot where it would be. */
  #slotOf(one: number, two: number): number {
    const slots = this.#table.length / 2;
    for (let slot = two & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      const at = slot * 2;
      const isEmpty = this.#table[at] === 0 && this.#table[at + 1] === 0;
      if (isEmpty || (this.#table[at] === one && this.#table[at + 1] === two)) return at;
    }
  }
}
