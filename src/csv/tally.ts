/** How many orders have which value in a column, and the options that select some of them. */
import { formatCount } from '../base/counts.ts';
import { shellWord } from '../base/reasons/template.ts';
import { cellOf } from './combine.ts';
import type { CheckedRow } from './validate.ts';

/** A column with more values than this says what differs in each order, not what kind of order it is. */
const MOST_VALUES = 10;
const MOST_LETTERS = 40;

export class Tally {
  readonly #index: number;
  readonly name: string;
  readonly #values = new Map<string, { readonly text: string; count: number }>();
  #more = 0;

  constructor(index: number, name = '') {
    this.#index = index;
    this.name = name;
  }

  /** Whether the column tells several kinds of orders apart: a "Documento" may also be the number of each customer's identity card. */
  get isKind(): boolean {
    const areNumbers = [...this.#values.values()].every(({ text }) => /\d{4}/.test(text));
    return this.#values.size > 1 && this.#more === 0 && !areNumbers;
  }

  cellOf(row: CheckedRow): string {
    return cellOf(row, this.#index).slice(0, MOST_LETTERS);
  }

  add(row: CheckedRow): void {
    const text = this.cellOf(row);
    const key = text.toLowerCase();
    const known = this.#values.get(key);
    if (known) known.count += 1;
    else if (this.#values.size < MOST_VALUES) this.#values.set(key, { text, count: 1 });
    else this.#more += 1;
  }

  /** `column "Status": 5 × Paid, 2 × (empty)`, the most frequent first */
  words(): string {
    const values = this.#sorted().map(({ text, count }) => `${formatCount(count)} × ${text === '' ? '(empty)' : text}`);
    return `column "${this.name}": ${[...values, ...(this.#more > 0 ? [`${formatCount(this.#more)} × others`] : [])].join(', ')}`;
  }

  /** How to load only the orders with one value, such as the most frequent. */
  onlyOne(): string {
    const value = this.#sorted().find(({ text }) => text !== '')?.text ?? '';
    const option = `--where ${shellWord(`${this.name}=${value}`)}`;
    return `To load only the orders with one of these values, choose it when you load the file (\`${option}\`), or delete the others from the file`;
  }

  /** Options that select the orders with one of the values, or without all of them. */
  options(sign: '=' | '!='): readonly string[] {
    return this.#sorted().map(({ text }) => `--where ${shellWord(`${this.name}${sign}${text}`)}`);
  }

  #sorted() {
    return [...this.#values.values()].sort((one, other) => other.count - one.count);
  }
}
