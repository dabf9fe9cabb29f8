import { type Stoppable, stoppablesOf } from '../../../base/stoppables.ts';

/** Waits for work until the signal aborts. The work itself continues, and its result is ignored. */
export async function unlessAborted<T>(signal: AbortSignal, begin: () => Promise<T>): Promise<T> {
  signal.throwIfAborted();
  const work = begin();
  let waiting: Stoppable | undefined;
  const aborted = new Promise<never>((_, reject) => {
    waiting = { stopped: reject };
    stoppablesOf(signal).add(waiting);
  });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    if (waiting) stoppablesOf(signal).delete(waiting);
    work.catch(() => undefined); // its error has no receiver any more
  }
}
