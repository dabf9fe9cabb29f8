/** What a vendor says about its own labels, fields and states: read once for many deliveries. */
import type { Calls } from './item-calls.ts';
import type { Asked } from './item-target.ts';

const KEPT_MS = 10 * 60_000;

export interface KeptMetadata<T> {
  /** Reads it again after ten minutes, and if what was read is not enough for the caller. `of`: the team that it belongs to. */
  read(calls: Calls, isEnough: (value: T) => boolean, of?: string): Promise<Asked<T>>;
  /** Called after a write was refused, because the metadata may have changed. */
  forget(of: string): void;
}

export function keptMetadata<T>(
  now: () => Date,
  read: (calls: Calls, of: string) => Promise<Asked<T>>,
): KeptMetadata<T> {
  const kept = new Map<string, { readonly asked: Extract<Asked<T>, { status: 'ok' }>; readonly untilMs: number }>();
  return {
    async read(calls, isEnough, of = '') {
      const known = kept.get(of);
      if (known !== undefined && known.untilMs > now().getTime() && isEnough(known.asked.value)) return known.asked;
      const asked = await read(calls, of);
      if (asked.status === 'ok') kept.set(of, { asked, untilMs: now().getTime() + KEPT_MS });
      return asked;
    },
    forget: (of) => void kept.delete(of),
  };
}
