/** Lets the next piece of work be prepared while the ones before it are being kept. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Behind {
  /** Waits until there is room, then begins this and returns. @throws what any work before threw */
  begin(work: () => Promise<void>): Promise<void>;
  /** Waits for all that was begun. @throws what any of it threw */
  end(): Promise<void>;
}

/** `most`: pieces on their way at once; with more than one they may end in any order. */
export function behind(most = 1): Behind {
  const underWay = new Set<Promise<void>>();
  let failure: { readonly error: unknown } | undefined;

  function throwFailure(): void {
    if (failure) throw failure.error;
  }

  return {
    async begin(work) {
      while (underWay.size >= most) await Promise.race(underWay);
      throwFailure();
      const working = work()
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => underWay.delete(working));
      underWay.add(working);
      await nextTurn(); // preparing the next leaves no room for anything else: this one has to be on its way by then
    },
    async end() {
      await Promise.all(underWay);
      throwFailure();
    },
  };
}
