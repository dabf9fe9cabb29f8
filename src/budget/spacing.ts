/**
 * Keeps the calls of one process a little apart. Calls that start together are answered together, and with as many in flight
 * as may be they go on together: a service that answers in 20 ms works through a bunch of them, each waiting for the others,
 * and stands idle until the next. So of several that may start at once each waits for a part of the mean time between calls,
 * and after a few rounds hardly any two meet. It takes no throughput: what is late by a timer's doing is made good at once.
 */

const WINDOW_MS = 50;
/** Part of the mean time between starts. Far less than one, or calls that could go would queue here. */
const SHARE = 0.3;
/** A service that is slower gains nothing from more, and the first calls would wait for it. */
const MOST_MS = 1;
/** Closer than that no timer keeps them apart. */
const LEAST_MS = 0.1;

export class Spacing {
  #startsAtMs = 0;
  #isHolding = false;
  #windowEndsAtMs = 0;
  #starts = 0;
  #apartMs = 0;

  /** Whether something may start but for this. */
  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** When the next may start. */
  get startsAtMs(): number {
    return this.#startsAtMs;
  }

  /** Asked where a call could start now; it holds until it lets one go, or nothing waits for it any more (`letGo`). */
  holds(nowMs: number): boolean {
    if (nowMs < this.#startsAtMs) this.#isHolding = true;
    return nowMs < this.#startsAtMs;
  }

  started(nowMs: number): void {
    this.#count(nowMs);
    this.#startsAtMs = (this.#isHolding ? this.#startsAtMs : nowMs) + this.#apartMs;
  }

  letGo(): void {
    this.#isHolding = false;
  }

  #count(nowMs: number): void {
    if (nowMs >= this.#windowEndsAtMs) {
      const isRecent = nowMs < this.#windowEndsAtMs + WINDOW_MS && this.#starts > 0;
      const apartMs = isRecent ? Math.min(MOST_MS, (SHARE * WINDOW_MS) / this.#starts) : 0;
      this.#apartMs = apartMs < LEAST_MS ? 0 : apartMs;
      this.#starts = 0;
      this.#windowEndsAtMs = nowMs + WINDOW_MS;
    }
    this.#starts++;
  }
}
