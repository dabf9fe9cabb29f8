/**
 * How records moved while a list was read, as its windows show. A record that is renamed may move from a window that was not
 * read into one that was, and no later window shows it. But the records between have moved back by one, and the next window shows that.
 */

/** Some records of the list in their order. */
export interface Placed {
  /** The position of the first id. */
  readonly start: number;
  readonly ids: readonly string[];
}

export class Drift {
  /** The order of the ids, as far as the list was read. */
  #direction: ReturnType<typeof directionOf>;
  /** By how many positions windows were moved back: so many more records came before them than went. */
  #came = 0;
  #went = 0;

  constructor(firstIds: readonly string[]) {
    this.#direction = directionOf(firstIds);
  }

  /** `before`: the window read before `after`, which may be the same one. */
  note(before: Placed, after: Placed): void {
    const shift = shiftBetween(before, after);
    if (shift > 0) this.#came += shift;
    else this.#went -= shift;
    if (after.ids.length > 1 && directionOf(after.ids) !== this.#direction) this.#direction = undefined;
  }

  /** Whether records may have come before windows. `newFirst`: the new ones at the beginning of the list. */
  isSuspected(newFirst: number): boolean {
    return this.#came + newFirst > 0;
  }

  /**
   * Whether the new records at the beginning are all that came before windows. What went can hide what came, unless the list is in the
   * order of its ids: they do not change, so new records come at one end.
   */
  isExplained(newFirst: number): boolean {
    return this.#direction === undefined ? this.#went === 0 && this.#came === newFirst : this.#came <= newFirst;
  }
}

/** By how many positions the records that two windows share have moved back: less than 0 if they moved forward. */
function shiftBetween(before: Placed, after: Placed): number {
  const offset = after.start - before.start;
  const index = after.ids.findIndex((id) => before.ids.includes(id));
  const shared = after.ids[index];
  if (shared === undefined || before.ids[offset + index] === shared) return 0;
  return offset + index - before.ids.indexOf(shared);
}

/** Whether ids only rise or only fall: numbers of any length, or texts of one length, such as those that begin with a time. */
function directionOf(ids: readonly string[]): 'rising' | 'falling' | undefined {
  const isRising = (before: string, after: string) =>
    before.length === after.length ? before < after : before.length < after.length;
  const steps = ids.slice(1).map((id, i) => isRising(ids[i] ?? '', id));
  if (steps.every(Boolean)) return 'rising';
  return steps.some(Boolean) || new Set(ids).size < ids.length ? undefined : 'falling';
}
