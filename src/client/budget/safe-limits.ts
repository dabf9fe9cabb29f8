/**
 * The margin between what the service allows and what the store hands out, so that a service that enforces the limits
 * exactly answers no 429 even though calls arrive less evenly than planned.
 *
 * A token is used up to `graceMs` late (timers, a busy event loop; past that it expires), and then the call takes a
 * varying time to reach the service. Together that is a jitter J, by which calls may arrive closer together. Planned with
 * interval T' and burst B', k + 1 calls in a row arrive within no less than (k + 1 − B')·T' − J, and a service with
 * interval T and burst B requires (k + 1 − B)·T. So the tolerance is taken from the burst, not from the rate: B' = B −
 * J/T', as long as that leaves B' ≥ 1.
 *
 * The trade-off of tiny bursts: a service tolerates a jitter of at most (B − 1)·T. If that is less than MIN_JITTER_MS, the
 * rate is lowered instead, as k = B requires: T' = (T + J)/B. A burst of 1 is served 91% of 10/s, half of 100/s, a third
 * of 200/s; below 1/s, J is the hundredth of T that is left free anyway. The full rate needs a burst of 1 + rate · 10 ms
 * (3 at 200/s), and tolerates a busy machine or a shared network from 1 + rate · 100 ms (21 at 200/s).
 */
import type { BudgetLimits, Pace } from './budget.ts';

export interface SafeLimits {
  readonly pace: Pace;
  /** The total jitter planned for. */
  readonly jitterMs: number;
  /** How long after its time a token may still be used: our part of the jitter. */
  readonly graceMs: number;
}

/** Below the allowed rate, so that the service's bucket refills after a larger jitter than planned. */
const RATE_SHARE = 0.99;
/** What part of the service's tolerance goes to jitter; the rest stays a burst for callers after a pause. */
const JITTER_SHARE = 0.95;
const MIN_JITTER_MS = 10;
/** Covers a packet that TCP resends after 200 ms, with a margin. */
const MAX_JITTER_MS = 500;
/** A third of the jitter may be ours; the rest is for the network. */
const GRACE_SHARE = 1 / 3;
/** The jitter that a service of unknown limits is assumed to tolerate; if it does not, its 429s lower the rate. */
const DISCOVERED_JITTER_MS = 50;

export function safeLimits(limits: Omit<BudgetLimits, 'concurrency'>): SafeLimits {
  const burst = Math.floor(limits.burst);
  if (limits.mode === 'discover') {
    const pace: Pace = { ratePerSecond: limits.ratePerSecond * RATE_SHARE, burst, mode: 'discover' };
    return { pace, jitterMs: DISCOVERED_JITTER_MS, graceMs: DISCOVERED_JITTER_MS * GRACE_SHARE };
  }
  const intervalMs = 1000 / limits.ratePerSecond;
  const slowMs = intervalMs / RATE_SHARE;
  const forgivenMs = (burst - 1) * intervalMs;
  const leastMs = Math.max(MIN_JITTER_MS, slowMs - intervalMs);
  const jitterMs = Math.min(Math.max(forgivenMs * JITTER_SHARE, leastMs), MAX_JITTER_MS);
  const pacedMs = Math.max(slowMs, (intervalMs + jitterMs) / burst);
  const pace = { ratePerSecond: 1000 / pacedMs, burst: Math.max(1, burst - jitterMs / pacedMs) };
  return { pace, jitterMs, graceMs: jitterMs * GRACE_SHARE };
}
