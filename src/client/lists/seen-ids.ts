/**
 * The ids that a scan has seen, in little memory of known size: 16 bytes a slot, of which half to three quarters are filled, so
 * 21 to 32 bytes an id (24 MB for a million). A `Map` of the same ids takes about 100 bytes each.
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
/** Each part has its own table: when one grows, the memory for its old and its new table is a small part of all. */
const PART_BITS = 6;
const FIRST_SLOTS = 1 << 4;
const MOST_FILLED = 0.75;
const GROWTH = 1.5;
/** The mark: a bit for "filled", the pass, the row number. */
const PASS_BITS = 3;
const PASSES = 1 << PASS_BITS;
const ROW_NUMBERS = 2 ** (31 - PASS_BITS);

interface Part {
  table: Uint32Array;
  size: number;
}

export class SeenIds {
  readonly #seed = randomInt(2 ** 32);
  readonly #key = new Uint32Array(WORDS);
  readonly #parts = Array.from(
    { length: 1 << PART_BITS },
    (): Part => ({ table: new Uint32Array(FIRST_SLOTS * WORDS), size: 0 }),
  );
  #size = 0;

  get size(): number {
    return this.#size;
  }

  has(id: string): boolean {
    const { table } = this.#partOf(id);
    return table[this.#slotOf(table) + MARK] !== 0;
  }

  /** The last pass that saw the id, and whether with this content; undefined if there is none. */
  sighting(id: string, content = ''): { readonly pass: number; readonly isSame: boolean } | undefined {
    hashInto(this.#key, CONTENT, content, this.#seed);
    const contentHash = this.#key[CONTENT];
    const { table } = this.#partOf(id);
    const at = this.#slotOf(table);
    const mark = table[at + MARK] ?? 0;
    return mark === 0 ? undefined : { pass: (mark >>> 1) % PASSES, isSame: table[at + CONTENT] === contentHash };
  }

  /** Records an id in a pass (from 0 to 7), at a row number of the caller. `content`: equal for equal records. */
  note(id: string, pass: number, content = '', rowNumber = 0): Sighting {
    hashInto(this.#key, CONTENT, content, this.#seed);
    const contentHash = this.#key[CONTENT] ?? 0;
    const part = this.#partOf(id);
    const { table } = part;
    const at = this.#slotOf(table);
    const mark = table[at + MARK] ?? 0;
    const before = mark === 0 ? undefined : (mark >>> 1) % PASSES;
    const isOther = before === pass && table[at + CONTENT] !== contentHash;
    table[at] = this.#key[0] ?? 0;
    table[at + 1] = this.#key[1] ?? 0;
    if (!isOther) {
      table[at + CONTENT] = contentHash;
      table[at + MARK] = ((rowNumber % ROW_NUMBERS) << (PASS_BITS + 1)) | (pass << 1) | 1;
    }
    if (mark === 0) {
      this.#size++;
      if (++part.size > (table.length / WORDS) * MOST_FILLED) part.table = this.#grown(table);
    }
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

  /** Hashes the id into the key. */
  #partOf(id: string): Part {
    hashInto(this.#key, 0, id, this.#seed);
    return this.#parts[(this.#key[0] ?? 0) >>> (32 - PART_BITS)] as Part; // safe: there is one for each number of these bits
  }

  /** Where the key is, or would be. */
  #slotOf(table: Uint32Array): number {
    const slots = table.length / WORDS;
    for (let slot = Math.floor(((this.#key[1] ?? 0) / 2 ** 32) * slots); ; slot = (slot + 1) % slots) {
      const at = slot * WORDS;
      if (table[at + MARK] === 0 || (table[at] === this.#key[0] && table[at + 1] === this.#key[1])) return at;
    }
  }

  #grown(table: Uint32Array): Uint32Array {
    const larger = new Uint32Array(WORDS * Math.ceil((table.length / WORDS) * GROWTH));
    for (let from = 0; from < table.length; from += WORDS) {
      if (table[from + MARK] === 0) continue;
      for (let word = 0; word < WORDS; word++) this.#key[word] = table[from + word] ?? 0;
      const at = this.#slotOf(larger);
      for (let word = 0; word < WORDS; word++) larger[at + word] = this.#key[word] ?? 0;
    }
    return larger;
  }
}
