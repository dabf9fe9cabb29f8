/** Orders of which one line may have the amount of the whole order, where the amounts of lines are added. */
import { unitsOf } from '../base/amount.ts';
import { type CellSource, cellFrom } from './cell-source.ts';
import { unitsIn } from './fits.ts';
import { type CheckedRow, shownCell } from './validate.ts';

export class WholeAmounts {
  readonly #amount: CellSource | undefined;
  #example: string | undefined;
  /** What holds for the lines of each order. */
  readonly #holds = { equal: true, first: true, last: true };

  /** `amount`: its column, if a person said that the amounts of lines are added. */
  constructor(amount: CellSource | undefined) {
    this.#amount = amount;
  }

  add({ lines = [], values: { amount: sum = '' } }: CheckedRow): void {
    const amount = this.#amount;
    if (!amount || lines.length < 2 || !/[1-9]/.test(sum)) return;
    const cells = lines.map((line) => cellFrom(line.cells, amount));
    const isSumOfOthers = (cell = '') => (unitsIn(cell) ?? 0n) * 2n === unitsOf(sum);
    this.#holds.equal &&= new Set(cells).size === 1;
    this.#holds.first &&= isSumOfOthers(cells[0]);
    this.#holds.last &&= isSumOfOthers(cells.at(-1));
    this.#example ??= `lines ${lines[0]?.line}-${lines.at(-1)?.line} have ${shownCell(cells.join(' + '))}`;
  }

  /** Sentences without a full stop. */
  notes(): readonly string[] {
    const { equal, first, last } = this.#holds;
    if (this.#example === undefined || !(equal || first || last)) return [];
    const found = equal
      ? 'all lines have the same amount'
      : `the ${first ? 'first' : 'last'} amount is the sum of the others`;
    const remedy =
      equal || first
        ? 'the first one is the amount of the whole order, let it count when you load the file (`--combine-lines first`)'
        : 'the last one is the amount of the whole order, delete its line from the file';
    return [`in each order of several lines, ${found}, and the amounts are added: ${this.#example}. If ${remedy}`];
  }
}
