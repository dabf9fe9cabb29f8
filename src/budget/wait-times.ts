/** How long callers waited, as percentiles within 5% in memory that does not grow. */
import type { WaitStats } from './budget.ts';

const LEAST_MS = 0.1;
const STEP = 1.05;
/** Up to about an hour. */
const STEPS = 360;

export class WaitTimes {
  readonly #counts = new Uint32Array(STEPS);
  #total = 0;

  add(waitedMs: number): void {
    const step = Math.ceil(Math.log(Math.max(waitedMs, LEAST_MS) / LEAST_MS) / Math.log(STEP));
    const place = Math.min(step, STEPS - 1);
    this.#counts[place] = (this.#counts[place] ?? 0) + 1;
    this.#total++;
  }

  stats(): WaitStats {
    return { p50Ms: this.#percentile(0.5), p99Ms: this.#percentile(0.99) };
  }

  #percentile(part: number): number | undefined {
    if (this.#total === 0) return undefined;
    let left = Math.ceil(this.#total * part);
    for (const [step, count] of this.#counts.entries()) {
      left -= count;
      if (left <= 0) return step === 0 ? 0 : Number((LEAST_MS * STEP ** step).toPrecision(3));
    }
    return undefined;
  }
}
