/** SIGINT and SIGTERM: the first one asks a long command to finish cleanly, the second one ends it at once. */

export interface SignalSource {
  on(name: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
  off(name: 'SIGINT' | 'SIGTERM', listener: () => void): unknown;
}

export interface Stopping {
  /** Aborted by the first signal. */
  readonly signal: AbortSignal;
  /** Removes the listeners. Idempotent. */
  close(): void;
}

/** `onFirst` tells the user; `onSecond` ends the process. */
export function listenForStop(
  source: SignalSource,
  { onFirst, onSecond }: { onFirst: () => void; onSecond: () => void },
): Stopping {
  const stop = new AbortController();
  const listener = (): void => {
    if (stop.signal.aborted) {
      onSecond();
    } else {
      stop.abort(new Error('stopped by a signal'));
      onFirst();
    }
  };
  for (const name of ['SIGINT', 'SIGTERM'] as const) source.on(name, listener);
  return {
    signal: stop.signal,
    close() {
      for (const name of ['SIGINT', 'SIGTERM'] as const) source.off(name, listener);
    },
  };
}

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
