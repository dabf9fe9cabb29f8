/** Lines with an amount that name neither an order nor a customer: in a sheet with merged cells, they are items of the order above. */
import { firstOf } from '../base/counts.ts';
import { cellOf, hasAmountOnly } from './combine.ts';
import type { CheckedRow } from './validate.ts';

const MOST_NAMED = 3;

export class LinesBelow {
  readonly #orderIdIndex: number | undefined;
  readonly #first: number[] = [];
  #count = 0;
  #isBelowOrder = false;
  /** Lines follow below them: one line at the end of a file is its total. */
  #isFollowed = false;

  /** `orderIdIndex`: the column of the order_id, if there is one. */
  constructor(orderIdIndex: number | undefined) {
    this.#orderIdIndex = orderIdIndex;
  }

  add(row: CheckedRow): void {
    if (this.#count > 0) this.#isFollowed = true;
    if (row.status === 'valid') this.#isBelowOrder = true;
    else if (!hasAmountOnly(row) || this.#hasOrderId(row)) this.#isBelowOrder = false;
    else if (this.#isBelowOrder) this.#add(row.line);
  }

  /** A sentence without a full stop. */
  get doubt(): string | undefined {
    if (!this.#isFollowed) return undefined;
    const [lines, have, name, they, are] =
      this.#count === 1
        ? ['line', 'has', 'names', 'it', 'an item of the order above it']
        : ['lines', 'have', 'name', 'they', 'items of the orders above them'];
    return `${lines} ${firstOf(this.#first, this.#count)} ${have} an amount, but ${name} neither an order nor a customer: ${they} may be ${are}`;
  }

  /** Sentences without a full stop. */
  notes(): readonly string[] {
    if (this.doubt === undefined) return [];
    return [
      `${this.doubt}, so the load writes nothing without approval. If they are, write the order_id into each of these lines, and combine the lines when you load the file (\`--combine-lines sum\`)`,
    ];
  }

  #hasOrderId(row: CheckedRow): boolean {
    return this.#orderIdIndex !== undefined && cellOf(row, this.#orderIdIndex) !== '';
  }

  #add(line: number): void {
    this.#count += 1;
    if (this.#first.length < MOST_NAMED) this.#first.push(line);
  }
}
