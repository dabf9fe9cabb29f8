/** Work that ends when a signal aborts. One listener per signal: many calls share a signal, and a listener costs more than a call. */
export interface Stoppable {
  /** Called at most once, when the signal aborts. */
  stopped(reason: unknown): void;
}

const known = new WeakMap<AbortSignal, Set<Stoppable>>();

/** What the signal stops; the work leaves the set when it ends. A signal that has aborted already stops nothing. */
export function stoppablesOf(signal: AbortSignal): Set<Stoppable> {
  const found = known.get(signal);
  if (found !== undefined) return found;
  const stoppables = new Set<Stoppable>();
  known.set(signal, stoppables);
  const stop = () => {
    for (const each of stoppables) each.stopped(signal.reason);
  };
  signal.addEventListener('abort', stop, { once: true });
  return stoppables;
}
