/**
 * Recognises rows that were loaded before from another file: a spreadsheet that saves a file changes its encoding, its delimiter,
 * or the form of its numbers, and people add rows. Orders without an order_id have a label of their file, so they would be created
 * again. What the rows say is the same; but two files may say the same of different orders, so a person decides.
 */
import { formatCount, plural } from '../../base/counts.ts';
import { hashInto } from '../../base/text-hash.ts';
import { FIELDS } from '../../csv/fields.ts';
import type { CheckedRow } from '../../csv/validate.ts';
import type { Repeat } from '../../engine/ledger/repeated-loads.ts';

/** Enough to find a file of a million rows that has a thousand rows of another one. */
const MOST_HASHES = 1_000;

/** The smallest hashes of the rows without an order_id. */
export class Sample {
  #hashes: number[] = [];
  #most = Number.POSITIVE_INFINITY;
  readonly #words = new Uint32Array(2);

  add({ status, values }: CheckedRow): void {
    if (status === 'invalid' || values.order_id !== undefined) return;
    hashInto(this.#words, 0, JSON.stringify(FIELDS.map((field) => values[field])), 0);
    const [high = 0, low = 0] = this.#words;
    const hash = (high & 0x1f_ffff) * 2 ** 32 + low;
    if (hash >= this.#most) return;
    this.#hashes.push(hash);
    if (this.#hashes.length === 2 * MOST_HASHES) this.#cut();
  }

  /** In ascending order, each once; at most 1,000. */
  hashes(): readonly number[] {
    this.#cut();
    return this.#hashes;
  }

  #cut(): void {
    this.#hashes = [...new Set(this.#hashes)].sort((one, other) => one - other).slice(0, MOST_HASHES);
    if (this.#hashes.length === MOST_HASHES) this.#most = this.#hashes.at(-1) ?? this.#most;
  }
}

/** A sentence without a full stop. */
export function repeatsWords({ run, rows, of }: Repeat): string {
  const same = rows === 1 ? 'has the same content as a row' : 'have the same content as rows';
  return `${formatCount(rows)} of ${plural(of, 'row')} without an order_id ${same} that run ${run} loaded from another file, and would be created again`;
}
