/** Work that is repeated for as long as a process runs. */
import { elapsedMs } from './clock.ts';
import { pause } from './pause.ts';

export interface Repeated {
  /** Waits for the work in progress. Idempotent. */
  close(): Promise<void>;
}

export interface RepeatHow {
  /** How long to wait after work that took `tookMs`. */
  readonly pauseMs: (tookMs: number) => number;
  /** Receives what the work throws; the work is repeated anyway. */
  readonly failed: (error: unknown) => void;
}

/** Does the work at once, and again and again until closed; the signal then aborts. */
export function repeat(work: (signal: AbortSignal) => Promise<unknown>, { pauseMs, failed }: RepeatHow): Repeated {
  const closing = new AbortController();
  const { signal } = closing;
  const repeating = (async () => {
    while (!signal.aborted) {
      const startedMs = elapsedMs();
      await work(signal).catch(failed);
      await pause(pauseMs(elapsedMs() - startedMs), signal);
    }
  })();
  return {
    async close() {
      closing.abort();
      await repeating;
    },
  };
}
