/**
 * How many tokens a lane will use soon, from what it just used: callers that come back one by one are then served from
 * one lease instead of asking the store for each. Where many tokens found no caller the forecast was too high, and pauses.
 */

const WINDOW_MS = 50;
const PAUSE_MS = 250;
/** A little more than was used, so that growing demand is followed. */
const GROWTH = 1.25;
/** Tokens that found no caller, against those that did: more of them than growth explains. */
const MANY = 0.25;

export class Forecast {
  #windowEndsAtMs = 0;
  #used = 0;
  #usedBefore = 0;
  #pausedUntilMs = 0;

  used(nowMs: number): void {
    this.#turn(nowMs);
    this.#used++;
  }

  /** So many tokens found no caller. */
  wasTooHigh(tokens: number, nowMs: number): void {
    this.#turn(nowMs);
    if (tokens > MANY * Math.max(this.#usedBefore, this.#used)) this.#pausedUntilMs = nowMs + PAUSE_MS;
  }

  /** For the next `horizonMs`, at most 50 ms. */
  tokens(nowMs: number, horizonMs: number): number {
    this.#turn(nowMs);
    if (nowMs < this.#pausedUntilMs) return 0;
    const used = Math.max(this.#usedBefore, this.#used);
    return Math.floor((used * GROWTH * Math.min(horizonMs, WINDOW_MS)) / WINDOW_MS);
  }

  #turn(nowMs: number): void {
    if (nowMs < this.#windowEndsAtMs) return;
    this.#usedBefore = nowMs < this.#windowEndsAtMs + WINDOW_MS ? this.#used : 0;
    this.#used = 0;
    this.#windowEndsAtMs = nowMs + WINDOW_MS;
  }
}
