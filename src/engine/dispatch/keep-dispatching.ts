/** Dispatches until closed, under one claim after another. */
import { dispatch, POLL_MS } from './dispatcher.ts';
import type { DispatchOptions, Source } from './source.ts';

/** Never rejects: failures are logged and retried. */
export async function keepDispatching<Claim, Item, Outcome>(
  source: Source<Claim, Item, Outcome>,
  options: Omit<DispatchOptions, 'whenDry' | 'sliceMs'>,
): Promise<void> {
  const { signal, clock, log } = options;
  while (!signal.aborted) {
    try {
      const ended = await dispatch(source, { ...options, whenDry: 'wait' });
      if (ended.status !== 'lost') await clock.wait(POLL_MS, signal);
    } catch (error) {
      log.warn({ err: error }, 'a dispatch failed');
      await clock.wait(POLL_MS, signal);
    }
  }
}
