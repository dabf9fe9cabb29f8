/** A budget that grants every call at once and records what is reported to it. */
import type { Budget, Permit, RateHint, RetryTaken, Taken, TakeOptions } from '../../src/client/budget/budget.ts';

export interface FreeBudget extends Budget {
  readonly takes: readonly TakeOptions[];
  /** The waits reported by 429 answers, in milliseconds. */
  readonly limits429: readonly number[];
  /** What the headers of answers said about the limit. */
  readonly hints: readonly RateHint[];
  /** Calls reported as successful. */
  readonly successes: () => number;
  /** Permits not yet released. */
  readonly open: () => number;
}

/** A permit that records nothing, to be spread and changed. */
export const FREE_PERMIT: Permit = {
  release: () => undefined,
  limited: async () => undefined,
  hinted: async () => undefined,
  succeeded: () => undefined,
};

/** `answer` replaces the grant for tests that need another one; `retry` replaces the retry that is always granted. */
export function freeBudget(
  answer?: (options: TakeOptions) => Promise<Taken>,
  retry: () => Promise<RetryTaken> = async () => ({ status: 'granted' }),
): FreeBudget {
  const takes: TakeOptions[] = [];
  const limits429: number[] = [];
  const hints: RateHint[] = [];
  let open = 0;
  let successes = 0;
  const nobodyWaited = { p50Ms: undefined, p99Ms: undefined };
  return {
    takes,
    limits429,
    hints,
    successes: () => successes,
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
      const limited = async (retryAfterMs: number) => {
        limits429.push(retryAfterMs);
      };
      const hinted = async (hint: RateHint) => {
        hints.push(hint);
      };
      const succeeded = () => {
        successes++;
      };
      return { status: 'taken', permit: { release, limited, hinted, succeeded } };
    },
    retry,
    stats: () => ({
      used: takes.length,
      limited: limits429.length,
      ratePerSecond: undefined,
      learntPerSecond: undefined,
      blockedForMs: 0,
      retries: { granted: 0, empty: 0 },
      waits: { interactive: nobodyWaited, batch: nobodyWaited },
    }),
    async close() {},
  };
}
