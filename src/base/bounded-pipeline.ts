import { setImmediate as nextTurn } from 'node:timers/promises';

/** Postgres processes one piece while another is being sent to it. */
const MOST = 2;

/**
 * A bounded pipeline: the caller prepares the next piece of work while earlier pieces are being saved. Pieces without a common
 * id may finish in any order.
 */
export function boundedPipeline() {
  const underWay = new Map<Promise<void>, ReadonlySet<string>>();
  let failure: { readonly error: unknown } | undefined;

  function throwFailure(): void {
    if (failure) throw failure.error;
  }

  function mustWait(ids: readonly string[]): boolean {
    return underWay.size >= MOST || [...underWay.values()].some((others) => ids.some((id) => others.has(id)));
  }

  return {
    /**
     * Waits until there is room and no work in progress has one of `ids`, then starts `work` and returns. Two pieces with the
     * same id are therefore saved in order. @throws what any earlier work threw
     */
    async begin(work: () => Promise<void>, ids: readonly string[] = []): Promise<void> {
      while (mustWait(ids)) await Promise.race(underWay.keys());
      throwFailure();
      const working = work()
        .catch((error: unknown) => {
          failure ??= { error };
        })
        .finally(() => underWay.delete(working));
      underWay.set(working, new Set(ids));
      await nextTurn(); // the caller's preparation blocks the event loop: this piece must be sent before that
    },
    /** Waits for all work that was started. @throws what any of it threw */
    async end(): Promise<void> {
      await Promise.all(underWay.keys());
      throwFailure();
    },
  };
}
