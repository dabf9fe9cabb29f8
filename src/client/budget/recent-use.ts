/** Estimates from recent use how many tokens will be needed soon, so that callers that return one by one share a lease. */

const WINDOW_MS = 50;
/** Expect a little more than was used, to follow growing demand. */
const GROWTH = 1.25;

export class RecentUse {
  #windowEndsAtMs = 0;
  #used = 0;
  #usedBefore = 0;

  add(nowMs: number): void {
    this.#move(nowMs);
    this.#used++;
  }

  /** Expected in the next `horizonMs`, at most 50 ms. */
  expected(nowMs: number, horizonMs: number): number {
    this.#move(nowMs);
    const used = Math.max(this.#usedBefore, this.#used);
    return Math.floor((used * GROWTH * Math.min(horizonMs, WINDOW_MS)) / WINDOW_MS);
  }

  #move(nowMs: number): void {
    if (nowMs < this.#windowEndsAtMs) return;
    this.#usedBefore = nowMs < this.#windowEndsAtMs + WINDOW_MS ? this.#used : 0;
    this.#used = 0;
    this.#windowEndsAtMs = nowMs + WINDOW_MS;
  }
}
