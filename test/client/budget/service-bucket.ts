/** A service's own limiter, exact to the token; the budget must never make it answer 429. Independent of the budget's code. */

/** Returns whether a call at this time is allowed. Times are in milliseconds and never go back. */
export function serviceBucket(ratePerSecond: number, burst: number): (atMs: number) => boolean {
  let tokens = burst;
  let filledAtMs = Number.NEGATIVE_INFINITY;
  return (atMs) => {
    const passedMs = filledAtMs === Number.NEGATIVE_INFINITY ? 0 : atMs - filledAtMs;
    tokens = Math.min(burst, tokens + (passedMs * ratePerSecond) / 1000);
    filledAtMs = atMs;
    if (tokens < 0.999) return false; // times since 1970 are rounded
    tokens -= 1;
    return true;
  };
}

/** How many of these calls such a service refuses. */
export function refusals(arrivalsMs: readonly number[], ratePerSecond: number, burst: number): number {
  const isAllowed = serviceBucket(ratePerSecond, burst);
  return [...arrivalsMs].sort((a, b) => a - b).filter((atMs) => !isAllowed(atMs)).length;
}
