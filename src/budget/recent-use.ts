/** How many tokens were used lately, and so how many will be soon: callers that come back one by one then share a lease. */

const WINDOW_MS = 50;
/** A little more than was used, so that growing demand is followed. */
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

  /** Of the last whole window. */
  perMs(nowMs: number): number {
    this.#move(nowMs);
    return this.#usedBefore / WINDOW_MS;
  }

  #move(nowMs: number): void {
    if (nowMs < this.#windowEndsAtMs) return;
    this.#usedBefore = nowMs < this.#windowEndsAtMs + WINDOW_MS ? this.#used : 0;
    this.#used = 0;
    this.#windowEndsAtMs = nowMs + WINDOW_MS;
  }
}
