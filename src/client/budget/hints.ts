/**
 * What follows from the rate-limit headers of an answer. They only lower the rate: headers often promise more than the
 * limiter allows, and the configured limit applies.
 *
 * - Nothing remaining, and a reset more than a second away: no token until then. The rate is not cut, as after a 429.
 * - Something remaining: at most remaining ÷ reset until then.
 * - A reset of a second or less is ignored: it is rounded to whole seconds, and at 200/s a second is 200 calls.
 * - A limit for a window, if the service names the window: at most limit ÷ window. Of a window longer than 15 minutes,
 *   such as a daily quota, only the remaining calls count: they may all be used in one night.
 *
 * No header applies for more than 15 minutes.
 */
import type { RateBound, RateHint } from './budget.ts';

export const MAX_HINT_MS = 15 * 60 * 1000;
const ROUNDED_MS = 1000;

/** How long no call may be made; undefined if the hint asks for no stop. */
export function stopOf({ remaining, resetMs = 0 }: RateHint): number | undefined {
  return remaining !== undefined && remaining <= 0 && resetMs > ROUNDED_MS ? Math.min(resetMs, MAX_HINT_MS) : undefined;
}

/** The bounds that the last hints set: the newest of each kind, and of the two kinds the tighter. */
export class Bounds {
  #window: Held | undefined;
  #remaining: Held | undefined;

  hear({ remaining, resetMs, limit, windowMs }: RateHint, nowMs: number): void {
    if (limit !== undefined && windowMs !== undefined && limit > 0 && windowMs > 0 && windowMs <= MAX_HINT_MS) {
      this.#window = { ratePerSecond: (limit * 1000) / windowMs, untilMs: nowMs + MAX_HINT_MS };
    }
    if (remaining !== undefined && remaining > 0 && resetMs !== undefined && resetMs > ROUNDED_MS) {
      const forMs = Math.min(resetMs, MAX_HINT_MS);
      this.#remaining = { ratePerSecond: (remaining * 1000) / forMs, untilMs: nowMs + forMs };
    }
  }

  tightest(nowMs: number): RateBound | undefined {
    let tightest: Held | undefined;
    for (const held of [this.#window, this.#remaining]) {
      if (held === undefined || held.untilMs <= nowMs) continue;
      if (tightest === undefined || held.ratePerSecond < tightest.ratePerSecond) tightest = held;
    }
    return tightest && { ratePerSecond: tightest.ratePerSecond, forMs: tightest.untilMs - nowMs };
  }
}

interface Held {
  readonly ratePerSecond: number;
  readonly untilMs: number;
}
