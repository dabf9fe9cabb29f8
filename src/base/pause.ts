/** Waits that a signal ends early. */
import { setTimeout as delay } from 'node:timers/promises';

/** Resolves after `ms`, or at once when the signal aborts; never rejects. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => undefined);
}
