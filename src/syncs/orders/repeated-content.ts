/**
 * Recognises rows that were loaded before from a file in another form: a spreadsheet that saves a file changes its encoding,
 * its delimiter, or the form of its numbers. Orders without an order_id have a label of their file, so they would be created
 * again. What the rows say is the same; but two files may say the same of different orders, so a person decides.
 */
import { createHash } from 'node:crypto';
import { FIELDS } from '../../csv/fields.ts';
import type { CheckedRow } from '../../csv/validate.ts';

/** What the rows of a file say, in their order. */
export class Content {
  readonly #hash = createHash('sha256');
  #isAnyUnnamed = false;

  add({ values }: CheckedRow): void {
    this.#isAnyUnnamed ||= values.order_id === undefined;
    this.#hash.update(JSON.stringify(FIELDS.map((field) => values[field])));
  }

  /** Null if each row has an order_id, by which its order is recognised. */
  digest(): string | null {
    return this.#isAnyUnnamed ? this.#hash.digest('hex') : null;
  }
}

/** A sentence without a full stop. */
export function repeatsWords(other: string): string {
  return `its rows were loaded before as run ${other}, from a file in another form, and rows without an order_id would be created again`;
}
