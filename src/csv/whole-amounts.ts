/** Orders whose first line may have the amount of the whole order, where the amounts of lines are added. */
import { unitsOf } from '../base/amount.ts';
import { type CellSource, cellFrom } from './cell-source.ts';
import { unitsIn } from './fits.ts';
import { type CheckedRow, shownCell } from './validate.ts';

export class WholeAmounts {
  readonly #amount: CellSource | undefined;
  #example: string | undefined;
  #areEqual = true;
  #areSums = true;

  /** `amount`: its column, if a person said that the amounts of lines are added. */
  constructor(amount: CellSource | undefined) {
    this.#amount = amount;
  }

  add({ lines = [], values: { amount: sum = '' } }: CheckedRow): void {
    const amount = this.#amount;
    if (!amount || lines.length < 2 || !/[1-9]/.test(sum)) return;
    const cells = lines.map((line) => cellFrom(line.cells, amount));
    const [first = ''] = cells;
    this.#areEqual &&= cells.every((cell) => cell === first);
    this.#areSums &&= (unitsIn(first) ?? 0n) * 2n === unitsOf(sum);
    this.#example ??= `lines ${lines[0]?.line}-${lines.at(-1)?.line} have ${shownCell(cells.join(' + '))}`;
  }

  /** Sentences without a full stop. */
  notes(): readonly string[] {
    if (this.#example === undefined || !(this.#areEqual || this.#areSums)) return [];
    const found = this.#areEqual ? 'all lines have the same amount' : 'the first amount is the sum of the others';
    return [
      `in each order of several lines, ${found}, and the amounts are added: ${this.#example}. If the first one is the amount of the whole order, let it count when you load the file (\`--combine-lines first\`)`,
    ];
  }
}
