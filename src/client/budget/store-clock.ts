/**
 * The offset between the store's clock and this process's clock, from the times of request and answer. The fastest recent
 * answers define the estimate, so that a slow answer (a busy event loop, a slow network) does not shift the times of its
 * tokens: they are late, and expire if too late.
 */

/** How fast an estimate ages: clocks are slewed by up to 500 µs a second. */
const DRIFT = 0.0005;
/** After this long without an answer the estimate starts again. */
const VOID_AFTER_MS = 10_000;
/** This many slow answers in a row are no accident: the network to the store is that slow. */
const ENOUGH_ANSWERS = 3;

export function createStoreClock() {
  // store − own lies within [low, high]: the store read its clock after the question and before the answer
  let low = Number.NEGATIVE_INFINITY;
  let high = Number.POSITIVE_INFINITY;
  let answers = 0;
  let observedAtMs = Number.NEGATIVE_INFINITY;

  return {
    /** By how much the store's clock was certainly set forward; 0 where it was not. */
    observe(sentAtMs: number, receivedAtMs: number, storeNowMs: number): number {
      const passedMs = receivedAtMs - observedAtMs;
      observedAtMs = receivedAtMs;
      const [lowNow, highNow] = [storeNowMs - receivedAtMs, storeNowMs - sentAtMs];
      low = Math.max(low - passedMs * DRIFT, lowNow);
      high = Math.min(high + passedMs * DRIFT, highNow);
      answers++;
      const aheadMs = Math.max(0, lowNow - high);
      const isClockSet = low > high;
      if (isClockSet || passedMs > VOID_AFTER_MS) {
        [low, high] = [lowNow, highNow];
        answers = 1;
      }
      return aheadMs;
    },
    /** Whether times are known within `errorMs`, or as exactly as the network to the store allows. */
    isSettled: (errorMs: number) => high - low <= errorMs || answers >= ENOUGH_ANSWERS,
    /** This process's time for a time of the store; only after an observation. */
    toOwn: (storeMs: number) => storeMs - low,
    /** The store's time for a time of this process: too early rather than too late. */
    toStore: (ownMs: number) => ownMs + low,
  };
}
