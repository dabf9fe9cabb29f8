/**
 * SIGINT and SIGTERM: the first one asks a long command to finish cleanly, the second one ends it at once. SIGHUP asks it
 * to read its settings again.
 */
import { LockstepError } from '../base/errors.ts';

type Signal = 'SIGINT' | 'SIGTERM' | 'SIGHUP';

export interface SignalSource {
  on(name: Signal, listener: () => void): unknown;
  off(name: Signal, listener: () => void): unknown;
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
      stop.abort(new LockstepError('STOPPED', 'Stopped by a signal before the work was done. Run the command again'));
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

/** Calls `reload` for each SIGHUP, one call after another; several signals during a call make one more. `reload` never rejects. */
export function listenForReload(source: SignalSource, reload: () => Promise<void>): { close(): Promise<void> } {
  let isAsked = false;
  let reloading: Promise<void> | undefined;
  const reloadWhileAsked = async (): Promise<void> => {
    while (isAsked) {
      isAsked = false;
      await reload();
    }
    reloading = undefined;
  };
  const listener = (): void => {
    isAsked = true;
    reloading ??= reloadWhileAsked();
  };
  source.on('SIGHUP', listener);
  return {
    async close() {
      source.off('SIGHUP', listener);
      await reloading;
    },
  };
}

/** Resolves once the signal is aborted. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
