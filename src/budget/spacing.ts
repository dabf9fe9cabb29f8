/**
 * Keeps the calls of one process a little apart. Calls that start together are answered together and start together again: a
 * service that takes 20 ms works through the bunch, each call waiting for the others, and is idle until the next. So each call
 * waits for a part of the mean time between calls, and after a few rounds hardly any two meet. A late timer costs no throughput:
 * the calls it held back start at once.
 */

/** Part of the mean time between calls. Far less than one, or calls that could start would queue here. */
const SHARE = 0.3;
/** A slower service gains nothing from more, and the first calls would wait for it. */
const MOST_MS = 1;
/** No timer keeps calls apart that are closer. */
const LEAST_MS = 0.1;
/** So much of the time that a late timer took is made good: more would let bunches through. */
const LATE_MS = 0.5;

/** When the next call may start, after one that starts now and might have started at `startsAtMs`, at `perMs` calls lately. */
export function nextStartMs(startsAtMs: number, nowMs: number, perMs: number): number {
  const apartMs = perMs > 0 ? Math.min(MOST_MS, SHARE / perMs) : 0;
  return Math.max(startsAtMs, nowMs - LATE_MS) + (apartMs < LEAST_MS ? 0 : apartMs);
}
