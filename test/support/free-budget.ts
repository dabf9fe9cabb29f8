/** A budget that grants every call at once and keeps account of what it was told. */
import type { Budget, Taken, TakeOptions } from '../../src/budget/budget.ts';

export interface FreeBudget extends Budget {
  readonly takes: readonly TakeOptions[];
  /** The waits reported by 429 answers, in milliseconds. */
  readonly limits429: readonly number[];
  /** Permits not yet given back. */
  readonly open: () => number;
}

/** `answer` stands in for the grant where a test needs another. */
export function freeBudget(answer?: (options: TakeOptions) => Promise<Taken>): FreeBudget {
  const takes: TakeOptions[] = [];
  const limits429: number[] = [];
  let open = 0;
  return {
    limits: { ratePerSecond: 1000, burst: 1000, concurrency: 16 },
    takes,
    limits429,
    open: () => open,
    async take(options) {
      takes.push(options);
      if (answer !== undefined) return answer(options);
      open++;
      let released = false;
      const release = () => {
        if (!released) open--;
        released = true;
      };
      return { status: 'taken', permit: { release } };
    },
    async limited(retryAfterMs) {
      limits429.push(retryAfterMs);
    },
    stats: () => ({ used: takes.length, expired: 0, limited: limits429.length, storeCalls: 0 }),
    async close() {},
  };
}
