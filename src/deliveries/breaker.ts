/**
 * The circuit breaker of one target in this process: after a row of failures it lets through one delivery at a time, each
 * after a longer pause, until one is answered. Pure but for the clock, which is given. Unlike the client's, which sends a
 * harmless read to find out, the probe here is the next delivery itself: sending it twice does no harm.
 */

/** Failures in a row that open it. */
const FAILURES_TO_OPEN = 10;
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export type Admission =
  | { readonly status: 'go' }
  /** One delivery, and no more before its outcome. */
  | { readonly status: 'probe' }
  | { readonly status: 'wait'; readonly forMs: number };

export interface Breaker {
  admit(nowMs: number): Admission;
  isOpen(): boolean;
  /** Told of every outcome. */
  saw(health: 'answers' | 'fails', nowMs: number): void;
}

export function createBreaker(): Breaker {
  let failures = 0;
  let pauses = 0;
  /** Set while it is open. */
  let probeAtMs: number | undefined;
  return {
    admit(nowMs) {
      if (probeAtMs === undefined) return { status: 'go' };
      return nowMs < probeAtMs ? { status: 'wait', forMs: probeAtMs - nowMs } : { status: 'probe' };
    },
    isOpen: () => probeAtMs !== undefined,
    saw(health, nowMs) {
      if (health === 'answers') {
        failures = 0;
        pauses = 0;
        probeAtMs = undefined;
        return;
      }
      failures++;
      // What was on its way when it opened fails as well, and says nothing new.
      const isProbeOver = probeAtMs !== undefined && nowMs >= probeAtMs;
      if (!isProbeOver && (probeAtMs !== undefined || failures < FAILURES_TO_OPEN)) return;
      probeAtMs = nowMs + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses);
      pauses++;
    },
  };
}
