/** A bounded sample of a list of any length: its beginning, its end, and some records between. */

/** How many records are kept of each end and of the middle. */
const AT_ENDS = 8;
const BETWEEN = 48;

interface Named {
  readonly id: string;
}

export class Sample<T> {
  readonly #first: T[] = [];
  readonly #last: T[] = [];
  readonly #between: T[] = [];
  #passed = 0;

  add(record: T): void {
    if (this.#first.length < AT_ENDS) {
      this.#first.push(record);
      return;
    }
    this.#last.push(record);
    const leaving = this.#last.length > AT_ENDS ? this.#last.shift() : undefined;
    if (leaving === undefined) return;
    // Reservoir sampling: each record in the middle has the same chance to be kept.
    const index = this.#passed < BETWEEN ? this.#passed : Math.floor(Math.random() * (this.#passed + 1));
    this.#passed++;
    if (index < BETWEEN) this.#between[index] = leaving;
  }

  get records(): readonly T[] {
    return [...this.#first, ...this.#between, ...this.#last];
  }
}

/** The oldest, the newest and some evenly spread records, by their ids. */
export function spread<T extends Named>(records: readonly T[]): readonly T[] {
  const sorted = [...new Map(records.map((record) => [record.id, record])).values()].toSorted(byId);
  if (sorted.length <= 2 * AT_ENDS + BETWEEN) return sorted;
  return [...sorted.slice(0, AT_ENDS), ...evenly(sorted.slice(AT_ENDS, -AT_ENDS), BETWEEN), ...sorted.slice(-AT_ENDS)];
}

/** At most `most` of the items, the first among them, evenly spread. */
export function evenly<T>(items: readonly T[], most: number): readonly T[] {
  const step = Math.max(1, items.length / most);
  return items.filter((_, at) => Math.floor(at / step) !== Math.floor((at - 1) / step));
}

function byId({ id: one }: Named, { id: other }: Named): number {
  return one.length - other.length || (one < other ? -1 : Number(one > other));
}
