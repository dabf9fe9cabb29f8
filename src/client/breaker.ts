/**
 * The circuit breaker of one account or target in this process: after a row of failures it holds calls back, so that a
 * service that is down is not kept down, and lets one call find out whether it is back. Who makes that call is up to the
 * caller: guarded-client.ts sends a harmless read, and deliveries send the next one, which does no harm when it comes twice.
 * After Michael Nygard, "Release It!" (2007). Pure but for the clock, which is given.
 */

export type Admission =
  /** Send it. */
  | { readonly status: 'go' }
  /** Send one call, and no more before its outcome. */
  | { readonly status: 'probe' }
  | { readonly status: 'wait'; readonly forMs: number };

/** `fails`: no answer, or one that a working service would not give. Every other answer shows that it works. */
export type Health = 'answers' | 'fails';

export interface Breaker {
  admit(nowMs: number): Admission;
  isOpen(): boolean;
  /** Receives every outcome; of the probe's as well. */
  saw(health: Health, nowMs: number): void;
}

/** Failures in a row that open it: more than chance brings at a service that fails now and then. */
export const FAILURES_TO_OPEN = 10;
/** The first pause; each failed probe doubles it. */
const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

export function createBreaker(): Breaker {
  let failures = 0;
  let pauses = 0;
  /** Set while it is open: when the next probe may be made. */
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
      // Calls that were in flight when it opened fail as well, and say nothing new.
      const isProbeOver = probeAtMs !== undefined && nowMs >= probeAtMs;
      if (!isProbeOver && (probeAtMs !== undefined || failures < FAILURES_TO_OPEN)) return;
      probeAtMs = nowMs + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses);
      pauses++;
    },
  };
}
