/**
 * Jobs that wait without returning, such as a read on a key with a small budget, keep their data in memory. They continue
 * here without a worker slot, so that runs of other accounts can use it.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** `slotMs`: how long a job may keep its slot while it waits; `onError`: receives errors that `whenDone` throws. */
export function createParking<T>(slotMs: number, onError: (error: unknown) => void) {
  const parked = new Map<string, Promise<void>>();
  return {
    /**
     * Starts `work`, or joins it if it has started. Returns its result if it ends soon; otherwise returns `parked` and
     * passes the promise to `whenDone`. The work counts as parked until `whenDone` ends.
     */
    async await(
      key: string,
      work: () => Promise<T>,
      whenDone: (ended: Promise<T>) => Promise<void>,
    ): Promise<T | 'parked'> {
      if (parked.has(key)) return 'parked';
      const working = work();
      const isOver = new AbortController();
      const tooLong = delay(slotMs, 'parked' as const, { signal: isOver.signal }).catch(() => 'parked' as const);
      const first = await Promise.race([working, tooLong]).finally(() => isOver.abort());
      if (first !== 'parked') return first;
      const ending = whenDone(working)
        .catch(onError)
        .finally(() => parked.delete(key));
      parked.set(key, ending);
      return 'parked';
    },
    /** Resolves when no job is parked. */
    async empty(): Promise<void> {
      await Promise.allSettled(parked.values());
    },
  };
}
