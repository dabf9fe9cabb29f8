/** Lets the next piece of work be prepared while the ones before it are being kept. */
import { setImmediate as nextTurn } from 'node:timers/promises';

export interface Behind {
  /**
   * Waits until there is room and nothing under way is about one of `ids`, then begins this and returns: of two pieces about
   * one thing the later is kept last. @throws what any work before threw
   */
  begin(work: () => Promise<void>, ids?: readonly string[]): Promise<void>;
  /** Waits for all that was begun. @throws what any of it threw */
  end(): Promise<void>;
}

/** One is being taken apart by Postgres while another is on its way there. */
const MOST = 2;

/** Pieces that have no id in common may end in any order. */
export function behind(): Behind {
  const underWay = new Map<Promise<void>, ReadonlySet<string>>();
  let failure: { readonly error: unknown } | undefined;

  function throwFailure(): void {
    if (failure) throw failure.error;
  }

  function mustWait(ids: readonly string[]): boolean {
    return underWay.size >= MOST || [...underWay.values()].some((others) => ids.some((id) => others.has(id)));
  }

  return {
    async begin(work, ids = []) {
      while (mustWait(ids)) await Promise.race(underWay.keys());
      throwFailure();
      const working = work()
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => underWay.delete(working));
      underWay.set(working, new Set(ids));
      await nextTurn(); // preparing the next leaves no room for anything else: this one has to be on its way by then
    },
    async end() {
      await Promise.all(underWay.keys());
      throwFailure();
    },
  };
}
