/** Orders whose lines all have the same amount: where lines are added, it may be the amount of the whole order. */
import { type CellSource, cellFrom } from './cell-source.ts';
import { type CheckedRow, shownCell } from './validate.ts';

export class EqualLines {
  readonly #amount: CellSource | undefined;
  #example: string | undefined;
  #hasOthers = false;

  /** `amount`: its column, if a person said that the amounts of lines are added. */
  constructor(amount: CellSource | undefined) {
    this.#amount = amount;
  }

  add({ lines = [], values }: CheckedRow): void {
    const amount = this.#amount;
    if (!amount || lines.length < 2 || !/[1-9]/.test(values.amount ?? '')) return;
    const [first = '', ...others] = lines.map(({ cells }) => cellFrom(cells, amount));
    if (others.some((cell) => cell !== first)) this.#hasOthers = true;
    else this.#example ??= `lines ${lines[0]?.line}-${lines.at(-1)?.line} have ${shownCell(first)} each`;
  }

  /** Sentences without a full stop. */
  notes(): readonly string[] {
    if (this.#example === undefined || this.#hasOthers) return [];
    return [
      `in each order of several lines, all lines have the same amount, and the amounts are added: ${this.#example}. If that is the amount of the whole order, let the first line count when you load the file (\`--combine-lines first\`)`,
    ];
  }
}
