/**
 * The circuit breaker of one account or target in this process: after several failures in a row it pauses calls, so that
 * retries do not keep a failing service down. Then it lets one call test whether the service works again. The caller
 * chooses that call: guarded-client.ts sends a harmless read; deliveries send the next delivery, which may safely arrive
 * twice. After Michael Nygard, "Release It!" (2007). Pure; the clock is passed in.
 */

export type Admission =
  /** Send it. */
  | { readonly status: 'go' }
  /** Send one call, and wait for its outcome before the next. */
  | { readonly status: 'probe' }
  | { readonly status: 'wait'; readonly forMs: number };

/** `fails`: no answer, or one that a working service would not give. Every other answer shows that it works. */
export type Health = 'answers' | 'fails';

export interface Breaker {
  admit(nowMs: number): Admission;
  isOpen(): boolean;
  /** Receives every outcome, including the probe's. */
  saw(health: Health, nowMs: number): void;
}

/** Failures in a row that open it: more than a service that fails occasionally has by chance. */
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
      // Calls in flight when it opened fail as well; their failures do not count.
      const isProbeOver = probeAtMs !== undefined && nowMs >= probeAtMs;
      if (!isProbeOver && (probeAtMs !== undefined || failures < FAILURES_TO_OPEN)) return;
      probeAtMs = nowMs + Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** pauses);
      pauses++;
    },
  };
}
