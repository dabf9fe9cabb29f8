/**
 * Jobs that wait in place, such as a read on a key with a small budget, keep what they have read; so they go on here
 * without a worker slot, and other accounts' runs get it.
 */
import { setTimeout as delay } from 'node:timers/promises';

export interface Parking<T> {
  /**
   * Begins `work`, or stays with it where it has begun. Its result if it ends soon; else `parked`, and `whenDone` is
   * given its promise, and the work counts as parked until `whenDone` is over.
   */
  await(key: string, work: () => Promise<T>, whenDone: (ended: Promise<T>) => Promise<void>): Promise<T | 'parked'>;
  /** Resolves when nothing is parked any more. */
  empty(): Promise<void>;
}

export interface ParkingOptions {
  /** How long a job may keep its slot while it waits. */
  readonly slotMs: number;
  /** Told of what `whenDone` throws. */
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
