/**
 * A rate limit for the test bed: the contract names none (docs/contract.md, "Limits" 3) and our service has none by
 * default. One token bucket per API key, on this process's clock.
 */
import type { RateLimit } from './testbed/behaviour.ts';

export type Admission = {
  readonly allowed: boolean;
  /** Retry-After on a refusal, and RateLimit-* if the behaviour sends them. */
  readonly headers: Readonly<Record<string, string>>;
};

export type RateLimiter = (keyId: number, nowMs: number) => Admission;

const FREE: Admission = { allowed: true, headers: {} };

/** `wallClockMs` is the current time for a Retry-After in the form of an HTTP date. */
export function rateLimiter(limit: RateLimit | undefined, sendHeaders: boolean, wallClockMs = Date.now): RateLimiter {
  if (limit === undefined) return () => FREE;
  const { requestsPerSecond, burst, retryAfter } = limit;
  const buckets = new Map<number, { tokens: number; atMs: number }>(); // bounded by the number of keys
  return (keyId, nowMs) => {
    const bucket = buckets.get(keyId) ?? { tokens: burst, atMs: nowMs };
    const refilled = Math.min(burst, bucket.tokens + ((nowMs - bucket.atMs) / 1_000) * requestsPerSecond);
    const allowed = refilled >= 1;
    const tokens = allowed ? refilled - 1 : refilled;
    buckets.set(keyId, { tokens, atMs: nowMs });
    const waitMs = Math.max(0, ((1 - tokens) / requestsPerSecond) * 1_000);
    const headers = sendHeaders ? rateHeaders(burst, tokens, waitMs) : {};
    if (allowed) return { allowed, headers };
    return { allowed, headers: { ...headers, ...retryAfterHeader(retryAfter, waitMs, wallClockMs) } };
  };
}

function rateHeaders(burst: number, tokens: number, waitMs: number): Record<string, string> {
  return {
    'ratelimit-limit': String(burst),
    'ratelimit-remaining': String(Math.floor(tokens)),
    'ratelimit-reset': String(Math.ceil(waitMs / 1_000)),
  };
}

function retryAfterHeader(
  form: RateLimit['retryAfter'],
  waitMs: number,
  wallClockMs: () => number,
): Record<string, string> {
  if (form === 'none') return {};
  const seconds = Math.max(1, Math.ceil(waitMs / 1_000)); // both forms have whole seconds; 0 would mean "now"
  if (form === 'seconds') return { 'retry-after': String(seconds) };
  return { 'retry-after': new Date(wallClockMs() + seconds * 1_000).toUTCString() };
}
