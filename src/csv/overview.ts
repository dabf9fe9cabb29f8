/**
 * What a person should know about the orders of a file before they are sent: how many the filter leaves out, and which
 * statuses and currencies the others have.
 */
import { shellWord } from '../base/reasons/template.ts';
import type { ColumnMapping } from './columns.ts';
import { cellOf } from './combine.ts';
import type { CheckedRow } from './validate.ts';
import { type ColumnCondition, selectorOf } from './where.ts';

/** A column with more values than this says what differs in each order, not what kind of order it is. */
const MOST_VALUES = 10;
const MOST_LETTERS = 40;

/** The parts of a sheet that it is made from. */
interface Columns {
  readonly columns: readonly string[];
  readonly mapping: ColumnMapping;
  readonly where: readonly ColumnCondition[];
  readonly currencyIndex: number | undefined;
}

export class Overview {
  readonly #takes: (row: CheckedRow) => boolean;
  readonly #status: Tally | undefined;
  readonly #currency: Tally | undefined;
  /** Of the orders that are left out. */
  readonly #others: readonly Tally[];
  #taken = 0;
  #leftOut = 0;

  constructor({ mapping, columns, where, currencyIndex }: Columns) {
    const tally = (index: number) => new Tally(index, columns[index] ?? '');
    const status = mapping.columns.find(({ field, also, take }) => field === 'status' && !also && !take);
    this.#takes = selectorOf(where);
    this.#status = status && tally(status.index);
    this.#currency = currencyIndex === undefined ? undefined : tally(currencyIndex);
    this.#others = where.map(({ index }) => tally(index));
  }

  /** How many orders the filter has left out. */
  get leftOut(): number {
    return this.#leftOut;
  }

  /** Whether the order is loaded; counts it. */
  takes(row: CheckedRow): boolean {
    const isTaken = this.#takes(row);
    if (isTaken) this.#taken += 1;
    else this.#leftOut += 1;
    for (const tally of isTaken ? [this.#status, this.#currency] : this.#others) tally?.add(row);
    return isTaken;
  }

  /** Sentences without a full stop. `signs`: the currencies that are written in the amounts. */
  notes(signs: readonly string[]): readonly string[] {
    return [...this.#filterNote(), ...this.#statusNote(), ...this.#currencyNote(signs)];
  }

  #filterNote(): readonly string[] {
    if (this.#others.length === 0) return [];
    const of = this.#taken + this.#leftOut;
    const what = this.#leftOut === 0 ? '' : `: ${this.#others.map((tally) => tally.words()).join('; ')}`;
    return [`the filter (where) leaves out ${this.#leftOut} of ${of} orders${what}`];
  }

  #statusNote(): readonly string[] {
    const tally = this.#status;
    if (!tally?.isKind) return [];
    return [
      `the orders have different statuses (${tally.words()}), and all are loaded. To load only one, ${tally.example()}`,
    ];
  }

  #currencyNote(signs: readonly string[]): readonly string[] {
    const tally = this.#currency;
    const why = 'and an order has no currency: all amounts are sent as plain numbers';
    if (tally?.isKind)
      return [`the orders have different currencies (${tally.words()}), ${why}. To load only one, ${tally.example()}`];
    return signs.length > 1 ? [`the amounts are in ${signs.join(', ')}, ${why}`] : [];
  }
}

/** How many orders have which value in a column. */
class Tally {
  readonly #index: number;
  readonly #name: string;
  readonly #values = new Map<string, { readonly text: string; count: number }>();
  #more = 0;

  constructor(index: number, name: string) {
    this.#index = index;
    this.#name = name;
  }

  /** Whether the column tells several kinds of orders apart. */
  get isKind(): boolean {
    return this.#values.size > 1 && this.#more === 0;
  }

  add(row: CheckedRow): void {
    const text = cellOf(row, this.#index).slice(0, MOST_LETTERS);
    const key = text.toLowerCase();
    const known = this.#values.get(key);
    if (known) known.count += 1;
    else if (this.#values.size < MOST_VALUES) this.#values.set(key, { text, count: 1 });
    else this.#more += 1;
  }

  /** `column "Status" has Paid 5, (empty) 2`, the most frequent first */
  words(): string {
    const values = this.#sorted().map(({ text, count }) => `${text === '' ? '(empty)' : text} ${count}`);
    return `column "${this.#name}" has ${[...values, ...(this.#more > 0 ? [`others ${this.#more}`] : [])].join(', ')}`;
  }

  /** An option that selects the orders with the most frequent value. */
  example(): string {
    const value = this.#sorted().find(({ text }) => text !== '')?.text ?? '';
    return `add --where ${shellWord(`${this.#name}=${value}`)} to orders load`;
  }

  #sorted() {
    return [...this.#values.values()].sort((one, other) => other.count - one.count);
  }
}
