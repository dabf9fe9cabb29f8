/**
 * Jobs that wait without returning, such as a read on a key with a small budget, keep their data in memory. They continue
 * here without a worker slot, so that runs of other accounts can use it.
 */
import { setTimeout as delay } from 'node:timers/promises';

export interface Parking<T> {
  /**
   * Starts `work`, or joins it if it has started. Returns its result if it ends soon; otherwise returns `parked` and
   * passes the promise to `whenDone`. The work counts as parked until `whenDone` ends.
   */
  await(key: string, work: () => Promise<T>, whenDone: (ended: Promise<T>) => Promise<void>): Promise<T | 'parked'>;
  /** Resolves when no job is parked. */
  empty(): Promise<void>;
}

export interface ParkingOptions {
  /** How long a job may keep its slot while it waits. */
  readonly slotMs: number;
  /** Receives errors that `whenDone` throws. */
  readonly onError: (error: unknown) => void;
}

export function createParking<T>({ slotMs, onError }: ParkingOptions): Parking<T> {
  const parked = new Map<string, Promise<void>>();
  return {
    async await(key, work, whenDone) {
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
    async empty() {
      await Promise.allSettled(parked.values());
    },
  };
}
