/** What a vendor says about its own labels and fields: read once for many deliveries. */
import type { Calls } from './item-calls.ts';
import type { Asked } from './item-target.ts';

const KEPT_MS = 10 * 60_000;

/** Reads it again after ten minutes, and if what was read is not enough for the caller. */
export type ReadMetadata<T> = (calls: Calls, isEnough: (value: T) => boolean) => Promise<Asked<T>>;

export function keptMetadata<T>(now: () => Date, read: (calls: Calls) => Promise<Asked<T>>): ReadMetadata<T> {
  let kept: { readonly asked: Extract<Asked<T>, { status: 'ok' }>; readonly untilMs: number } | undefined;
  return async (calls, isEnough) => {
    if (kept !== undefined && kept.untilMs > now().getTime() && isEnough(kept.asked.value)) return kept.asked;
    const asked = await read(calls);
    if (asked.status === 'ok') kept = { asked, untilMs: now().getTime() + KEPT_MS };
    return asked;
  };
}
