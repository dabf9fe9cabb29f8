/**
 * Time as it passed for the rest of the world. `performance.now()` cannot jump, and it may stand still while the machine
 * is suspended; the wall clock sees the pause and can be set. So each step counts as the longer of the two: what a process
 * holds for a limited time (a token, a claim) has expired as soon as it has expired on either clock.
 */

/** Wall clocks are slewed by up to 500 µs a second: no pause. */
const SLEWED = 0.0005;
/** Below this it is the rounding of the wall clock, or a moment between two readings. */
const LEAST_PAUSE_MS = 50;
/** The process was interrupted between two readings: they do not belong together. */
const TORN_MS = 5;

interface Clocks {
  readonly monotonic: () => number;
  readonly wall: () => number;
}

/** Milliseconds that only ever grow, on the scale of `monotonic` until the first pause. */
export function createElapsedClock(clocks: Partial<Clocks> = {}): () => number {
  const { monotonic = () => performance.now(), wall = () => Date.now() } = clocks;
  let pausedMs = 0;
  let seenAtMs = monotonic();
  let apartMs = wall() - seenAtMs;

  return () => {
    const before = monotonic();
    const apartNowMs = wall() - before;
    const nowMs = monotonic();
    if (nowMs - before > TORN_MS) return nowMs + pausedMs;
    const expectedMs = apartMs + (nowMs - seenAtMs) * SLEWED;
    const pauseMs = apartNowMs - expectedMs;
    seenAtMs = nowMs;
    if (pauseMs >= LEAST_PAUSE_MS) pausedMs += pauseMs;
    apartMs = pauseMs >= LEAST_PAUSE_MS ? apartNowMs : Math.min(apartNowMs, expectedMs);
    return nowMs + pausedMs;
  };
}

/** This process's: what expires is compared on this scale. */
export const elapsedMs: () => number = createElapsedClock();
