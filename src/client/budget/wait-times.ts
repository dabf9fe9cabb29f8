/** How long callers waited, as percentiles within 1% in memory that does not grow. */
import { createHistogram } from 'node:perf_hooks';
import type { WaitStats } from './budget.ts';

const TENTHS_A_DAY = 24 * 60 * 60 * 10_000;

export class WaitTimes {
  /** In tenths of a millisecond, plus one: a histogram has no zero. */
  readonly #tenths = createHistogram({ lowest: 1, highest: TENTHS_A_DAY, figures: 2 });

  add(waitedMs: number): void {
    this.#tenths.record(Math.min(Math.round(waitedMs * 10) + 1, TENTHS_A_DAY));
  }

  stats(): WaitStats {
    if (this.#tenths.count === 0) return { p50Ms: undefined, p99Ms: undefined };
    const msOf = (percentile: number) => (this.#tenths.percentile(percentile) - 1) / 10;
    return { p50Ms: msOf(50), p99Ms: msOf(99) };
  }
}
