/**
 * Elapsed time that includes pauses of this machine. `performance.now()` never jumps, but it may stop while the machine is
 * suspended; the wall clock includes the pause, but a user can set it. Each step therefore counts as the longer of the two:
 * what a process holds for a limited time (a token, a claim) expires as soon as it has expired on either clock.
 */

/** Time services adjust the wall clock by up to 500 µs a second: that is not a pause. */
const SLEWED = 0.0005;
/** Smaller differences are rounding of the wall clock, or time between the two readings. */
const LEAST_PAUSE_MS = 50;
/** If the two readings are further apart, the process was interrupted between them, and they are not used together. */
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
    const nowMs = monotonic();
    const apartNowMs = wall() - nowMs;
    const expectedMs = apartMs + (nowMs - seenAtMs) * SLEWED;
    const pauseMs = apartNowMs - expectedMs;
    if (pauseMs < LEAST_PAUSE_MS) {
      seenAtMs = nowMs;
      apartMs = Math.min(apartNowMs, expectedMs);
      return nowMs + pausedMs;
    }
    // This reading was interrupted; if there was a pause, the next reading sees it.
    if (monotonic() - nowMs > TORN_MS) return nowMs + pausedMs;
    seenAtMs = nowMs;
    pausedMs += pauseMs;
    apartMs = apartNowMs;
    return nowMs + pausedMs;
  };
}

/** The clock of this process: expiry times are compared on this scale. */
export const elapsedMs: () => number = createElapsedClock();
