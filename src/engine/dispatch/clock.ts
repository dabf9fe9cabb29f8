/** Time as a dispatcher takes it: a test gives a clock of its own, under which an hour passes in a moment. */
import { elapsedMs } from '../../clock.ts';

export interface Clock {
  /** Milliseconds that only ever grow. */
  nowMs(): number;
  /** What the ledger takes for now; undefined: its own clock, the same for all machines. */
  ledgerNow(): Date | undefined;
  /** Resolves after `ms`, or at once when the signal aborts; never rejects. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  nowMs: elapsedMs,
  ledgerNow: () => undefined,
  wait: (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const over = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', over);
        resolve();
      };
      const timer = setTimeout(over, ms);
      signal.addEventListener('abort', over);
    }),
};

/** A wait of one caller that can be cut short: a ring that comes before the wait is not lost. */
export interface Bell {
  ring(): void;
  /** Until it rings, or `ms` have passed. */
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
