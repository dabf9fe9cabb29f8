/** The dispatcher's clock; tests pass their own, in which an hour takes a moment. */
import { elapsedMs } from '../../base/clock.ts';
import { pause } from '../../base/pause.ts';

export interface Clock {
  /** A monotonic clock in milliseconds. */
  nowMs(): number;
  /** The ledger's current time; undefined: the database's clock, the same for all machines. */
  ledgerNow(): Date | undefined;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: elapsedMs,
  ledgerNow: () => undefined,
  wait: pause,
};

/** A wait of one caller that a ring ends early; a ring before the wait is not lost. */
export interface Bell {
  ring(): void;
  /** Resolves when it rings, or after `ms`. */
  wait(ms: number): Promise<void>;
}

export function createBell(clock: Clock): Bell {
  let isRung = false;
  let waiting: AbortController | undefined;
  return {
    ring() {
      isRung = true;
      waiting?.abort();
    },
    async wait(ms) {
      if (!isRung) {
        waiting = new AbortController();
        await clock.wait(ms, waiting.signal);
        waiting = undefined;
      }
      isRung = false;
    },
  };
}
