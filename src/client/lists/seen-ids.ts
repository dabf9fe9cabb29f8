/**
 * The ids that a scan has seen, in little memory of known size: 16 bytes a slot, of which at most three in four are
 * filled, so 21 to 43 bytes an id (34 MB for a million). A `Map` of the same ids takes about 100 bytes each.
 *
 * An id is stored as 64 bits of its hash, with a random seed. In a list of a million, two ids share a hash about once in
 * 10^7 lists; then an unseen record counts as seen.
 */
import { randomInt } from 'node:crypto';
import { hashInto } from '../../base/text-hash.ts';
import type { Kept, ScannedRecord } from './pass.ts';

export interface Sighting {
  /** The last pass that saw the id before this sighting; undefined if there is none. */
  readonly lastPass: number | undefined;
  /** The row number where it was seen with other content in this pass. */
  readonly otherwiseAt: number | undefined;
}

const WORDS = 4;
const CONTENT = 2;
const MARK = 3;
const FIRST_SLOTS = 1 << 10;
const MOST_FILLED = 0.75;
/** The mark: a bit for "filled", the pass, the row number. */
const PASS_BITS = 3;
const PASSES = 1 << PASS_BITS;
const ROW_NUMBERS = 2 ** (31 - PASS_BITS);

export class SeenIds {
  readonly #seed = randomInt(2 ** 32);
  readonly #key = new Uint32Array(WORDS);
  #table = new Uint32Array(FIRST_SLOTS * WORDS);
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(id: string): boolean {
    hashInto(this.#key, 0, id, this.#seed);
    return this.#table[this.#slotOf(this.#table) + MARK] !== 0;
  }

  /** The last pass that saw the id, and whether with this content; undefined if there is none. */
  sighting(id: string, content = ''): { readonly pass: number; readonly isSame: boolean } | undefined {
    hashInto(this.#key, CONTENT, content, this.#seed);
    const contentHash = this.#key[CONTENT];
    hashInto(this.#key, 0, id, this.#seed);
    const at = this.#slotOf(this.#table);
    const mark = this.#table[at + MARK] ?? 0;
    return mark === 0 ? undefined : { pass: (mark >>> 1) % PASSES, isSame: this.#table[at + CONTENT] === contentHash };
  }

  /** Records an id in a pass (from 0 to 7), at a row number of the caller. `content`: equal for equal records. */
  note(id: string, pass: number, content = '', rowNumber = 0): Sighting {
    hashInto(this.#key, CONTENT, content, this.#seed);
    const contentHash = this.#key[CONTENT] ?? 0;
    hashInto(this.#key, 0, id, this.#seed);
    const at = this.#slotOf(this.#table);
    const mark = this.#table[at + MARK] ?? 0;
    const before = mark === 0 ? undefined : (mark >>> 1) % PASSES;
    const isOther = before === pass && this.#table[at + CONTENT] !== contentHash;
    this.#table[at] = this.#key[0] ?? 0;
    this.#table[at + 1] = this.#key[1] ?? 0;
    if (!isOther) {
      this.#table[at + CONTENT] = contentHash;
      this.#table[at + MARK] = ((rowNumber % ROW_NUMBERS) << (PASS_BITS + 1)) | (pass << 1) | 1;
    }
    if (mark === 0 && ++this.#size > (this.#table.length / WORDS) * MOST_FILLED) this.#grow();
    return { lastPass: before, otherwiseAt: isOther ? mark >>> (PASS_BITS + 1) : undefined };
  }

  /** Records a page in a pass. `page`: its number among the pages of all passes. `onNew` receives each id that no pass has seen. */
  notePage(
    records: readonly ScannedRecord[],
    pass: number,
    page: number,
    onNew?: (id: string) => void,
  ): Required<Kept> {
    const otherwise: { id: string; keptIn: number }[] = [];
    let [newInPass, newInAll] = [0, 0];
    for (const { id, hash } of records) {
      const { lastPass, otherwiseAt } = this.note(id, pass, hash, page);
      if (lastPass !== pass) newInPass++;
      if (otherwiseAt !== undefined) otherwise.push({ id, keptIn: otherwiseAt });
      if (lastPass !== undefined) continue;
      newInAll++;
      onNew?.(id);
    }
    return { newInPass, newInAll, otherwise };
  }

  /** Where the key is, or would be. */
  #slotOf(table: Uint32Array): number {
    const slots = table.length / WORDS;
    for (let slot = (this.#key[1] ?? 0) & (slots - 1); ; slot = (slot + 1) & (slots - 1)) {
      const at = slot * WORDS;
      if (table[at + MARK] === 0 || (table[at] === this.#key[0] && table[at + 1] === this.#key[1])) return at;
    }
  }

  #grow(): void {
    const larger = new Uint32Array(this.#table.length * 2);
    for (let from = 0; from < this.#table.length; from += WORDS) {
      if (this.#table[from + MARK] === 0) continue;
      for (let word = 0; word < WORDS; word++) this.#key[word] = this.#table[from + word] ?? 0;
      const at = this.#slotOf(larger);
      for (let word = 0; word < WORDS; word++) larger[at + word] = this.#key[word] ?? 0;
    }
    this.#table = larger;
  }
}
