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
    this.#hashOf(text);
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = this.#bit(probe);
      this.#bits[bit >>> 5] = (this.#bits[bit >>> 5] ?? 0) | (1 << (bit & 31));
    }
  }

  has(text: string): boolean {
    this.#hashOf(text);
    for (let probe = 0; probe < PROBES; probe++) {
      const bit = this.#bit(probe);
      if (((this.#bits[bit >>> 5] ?? 0) & (1 << (bit & 31))) === 0) return false;
    }
    return true;
  }

  #hashOf(text: string): void {
    hashInto(this.#hash, 0, text, this.#seed);
  }

  #bit(probe: number): number {
    return ((this.#hash[0] ?? 0) + Math.imul(probe, this.#hash[1] ?? 0)) & (BITS - 1);
  }
}
