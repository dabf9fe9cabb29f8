/** A Bloom filter of texts in 4 MB: it always finds a text that was added, and rarely finds one that was not. */
import { randomInt } from 'node:crypto';
import { hashInto } from '../../base/text-hash.ts';

const BITS = 2 ** 25;
const PROBES = 4;

export class KeyFilter {
  readonly #seed = randomInt(2 ** 32);
  readonly #hash = new Uint32Array(2);
  readonly #bits = new Uint32Array(BITS / 32);

  add(text: string): void {
    for (const bit of this.#bitsOf(text)) this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
  }

  has(text: string): boolean {
    return this.#bitsOf(text).every((bit) => ((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) !== 0);
  }

  #bitsOf(text: string): readonly number[] {
    hashInto(this.#hash, 0, text, this.#seed);
    const [one = 0, two = 0] = this.#hash;
    return Array.from({ length: PROBES }, (_, i) => (one + i * two) % BITS);
  }
}
