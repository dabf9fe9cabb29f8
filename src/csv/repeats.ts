/**
 * Finds order_ids that a file has twice, in memory that does not grow with the file.
 *
 * Each row leaves 20 bytes: 64 bits of its order_id's hash, 64 of its content's, its line and whether it is valid. Up to
 * 100,000 rows they stay in memory (2 MB); beyond, they go to a private file, which is read at the end once for every 100,000
 * rows, each time looking at its share of the hashes. Answers come at the end because they concern the first row too: where
 * two rows of one order_id differ, nobody can say which is meant, and neither may be sent.
 *
 * Two order_ids of a million share a hash by chance once in some 10^7 files; the rows are then reported, not lost in silence.
 */
import { randomInt, randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { codeOf, LockstepError } from '../errors.ts';
import { hashInto } from '../text-hash.ts';
import type { OrderValues, Problem } from './validate.ts';

export interface Repeat {
  readonly line: number;
  /** The first row with this order_id; for that row itself, the first that differs from it. */
  readonly otherLine: number;
  readonly kind: 'same' | 'different';
  /** Was the row valid otherwise? If not, it has its own problems, and counts as invalid already. */
  readonly wasValid: boolean;
}

const WORDS = 5;
const ROWS_IN_MEMORY = 100_000;
const ROWS_A_PASS = 100_000;
const CAPACITY = 1 << 17;
const LINE_BITS = 31;

export class RepeatFinder {
  readonly #dir: string;
  readonly #seed = randomInt(2 ** 32);
  #records = new Uint32Array(WORDS * 4096);
  #count = 0;
  #file: { readonly handle: fs.FileHandle; readonly rows: number } | undefined;

  /** `dir`: where rows that do not fit in memory are kept until `close`. */
  constructor(dir: string) {
    this.#dir = dir;
  }

  /** Notes one row, valid or not. True when `flush` is due. */
  add(line: number, values: OrderValues, wasValid: boolean): boolean {
    if (values.order_id === undefined) return false;
    if (this.#count * WORDS === this.#records.length) this.#grow();
    const at = this.#count * WORDS;
    hashInto(this.#records, at, values.order_id, this.#seed);
    hashInto(this.#records, at + 2, contentOf(values), this.#seed);
    this.#records[at + 4] = ((line % 2 ** LINE_BITS) << 1) | (wasValid ? 1 : 0);
    this.#count += 1;
    return this.#count === ROWS_IN_MEMORY;
  }

  /** Moves what is in memory to the file. Throws DISK_FULL. */
  async flush(): Promise<void> {
    const bytes = Buffer.from(this.#records.buffer, 0, this.#count * WORDS * 4);
    try {
      const file = this.#file ?? (await this.#open());
      await file.handle.appendFile(bytes);
      this.#file = { ...file, rows: file.rows + this.#count };
      this.#count = 0;
    } catch (error) {
      if (codeOf(error) !== 'ENOSPC') throw error;
      const message = `There is no space left in ${this.#dir} to look for repeated order_ids. Free some and load again.`;
      throw new LockstepError('DISK_FULL', message, { cause: error });
    }
  }

  /** After the last row: every row that repeats another, and the first of those that differ. In no order. */
  async *repeats(): AsyncGenerator<Repeat> {
    if (!this.#file) {
      yield* new Pass(0, 1).add(this.#records.subarray(0, this.#count * WORDS));
      return;
    }
    if (this.#count > 0) await this.flush();
    const passes = Math.ceil(this.#file.rows / ROWS_A_PASS);
    const block = Buffer.from(this.#records.buffer);
    const pass = new Pass(0, passes);
    for (let share = 0; share < passes; share += 1) {
      pass.restart(share);
      for (let from = 0; ; ) {
        const { bytesRead } = await this.#file.handle.read(block, 0, block.length, from);
        if (bytesRead === 0) break;
        yield* pass.add(this.#records.subarray(0, bytesRead / 4));
        from += bytesRead;
      }
    }
  }

  /** Removes the file, if there is one. */
  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.handle.close();
  }

  async #open(): Promise<{ handle: fs.FileHandle; rows: number }> {
    const file = path.join(this.#dir, `order-ids-${randomUUID()}`);
    const handle = await fs.open(file, 'wx+', 0o600);
    await fs.rm(file); // no name: nothing is left behind by a kill
    return { handle, rows: 0 };
  }

  #grow(): void {
    const larger = new Uint32Array(Math.min(this.#records.length * 2, ROWS_IN_MEMORY * WORDS));
    larger.set(this.#records);
    this.#records = larger;
  }
}

/** The problem that a repeat is, for the row's verdict. */
export function repeatProblem({ line, otherLine, kind }: Repeat): Problem {
  const code = kind === 'same' ? 'DUP_IN_FILE' : 'ORDER_ID_REPEATED';
  return { code, field: 'order_id', severity: 'error', facts: { line, other: otherLine } };
}

/** One share of the hashes: an open table of first rows, of fixed size. */
class Pass {
  #share: number;
  readonly #shares: number;
  /** Index into the entries, from 1. */
  readonly #slots = new Uint32Array(CAPACITY * 2);
  readonly #entries = new Uint32Array(CAPACITY * WORDS);
  readonly #isTold = new Uint8Array(CAPACITY);
  #count = 0;

  constructor(share: number, shares: number) {
    this.#share = share;
    this.#shares = shares;
  }

  /** The tables are used again: new ones each time would pile up until they are collected. */
  restart(share: number): void {
    this.#share = share;
    this.#count = 0;
    this.#slots.fill(0);
    this.#isTold.fill(0);
  }

  *add(records: Uint32Array): Generator<Repeat> {
    for (let at = 0; at < records.length; at += WORDS) {
      const high = records[at] ?? 0;
      if (high % this.#shares !== this.#share) continue;
      const first = this.#firstOf(records, at);
      if (first !== -1) yield* this.#compare(records, at, first);
    }
  }

  /** The entry with the same order_id, else -1 and the record becomes the first. */
  #firstOf(records: Uint32Array, at: number): number {
    const mask = this.#slots.length - 1;
    const low = records[at + 1] ?? 0;
    for (let slot = low & mask; ; slot = (slot + 1) & mask) {
      const entry = this.#slots[slot] ?? 0;
      if (entry === 0) {
        this.#entries.set(records.subarray(at, at + WORDS), this.#count * WORDS);
        this.#count += 1;
        this.#slots[slot] = this.#count;
        return -1;
      }
      const from = (entry - 1) * WORDS;
      if (this.#entries[from] === records[at] && this.#entries[from + 1] === low) return entry - 1;
    }
  }

  *#compare(records: Uint32Array, at: number, first: number): Generator<Repeat> {
    const from = first * WORDS;
    const [line, wasValid] = lineOf(records[at + 4] ?? 0);
    const [firstLine, firstWasValid] = lineOf(this.#entries[from + 4] ?? 0);
    const isSame = this.#entries[from + 2] === records[at + 2] && this.#entries[from + 3] === records[at + 3];
    yield { line, otherLine: firstLine, kind: isSame ? 'same' : 'different', wasValid };
    if (isSame || this.#isTold[first] === 1) return;
    this.#isTold[first] = 1;
    yield { line: firstLine, otherLine: line, kind: 'different', wasValid: firstWasValid };
  }
}

const lineOf = (word: number): readonly [line: number, wasValid: boolean] => [word >>> 1, (word & 1) === 1];

/** Equal for rows that would be sent as the same order; lengths keep `ab`,`c` apart from `a`,`bc`. */
function contentOf(values: OrderValues): string {
  let content = '';
  for (const field in values) {
    const value = String(values[field as keyof OrderValues]); // the keys of a literal made by the validator, always in its order
    content += `${field}:${value.length}:${value}`;
  }
  return content;
}
