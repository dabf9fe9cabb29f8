/** Gathers what arrives within a short time, and sends it together. */
import { stoppablesOf } from '../../../base/stoppables.ts';

export interface Gathering<Item, Result> {
  /** The result of sending this item together with the others. `signal` ends the waiting: what was gathered is sent at once. */
  add(item: Item, signal: AbortSignal): Promise<Result>;
}

export interface GatheringNeeds<Item, Result> {
  /** Sends as soon as nothing has arrived for this time, */
  readonly quietMs: number;
  /** or after this time, */
  readonly longestMs: number;
  /** or when there are this many. */
  readonly most: number;
  /** The signal aborts when that of any item does. */
  send(items: readonly Item[], signal: AbortSignal): Promise<Result>;
}

interface Waiting<Item, Result> {
  readonly item: Item;
  readonly signal: AbortSignal;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: unknown) => void;
}

export function createGathering<Item, Result>(needs: GatheringNeeds<Item, Result>): Gathering<Item, Result> {
  const { quietMs, longestMs, most, send } = needs;
  let gathered: Waiting<Item, Result>[] = [];
  let quiet: NodeJS.Timeout | undefined;
  let longest: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    const batch = gathered;
    gathered = [];
    clearTimeout(quiet);
    clearTimeout(longest);
    if (batch.length === 0) return;
    const items = batch.map(({ item }) => item);
    try {
      const result = await send(items, AbortSignal.any(batch.map(({ signal }) => signal)));
      for (const { resolve } of batch) resolve(result);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  return {
    async add(item, signal) {
      const waiting = { stopped: () => void flush() };
      stoppablesOf(signal).add(waiting);
      try {
        return await new Promise<Result>((resolve, reject) => {
          if (gathered.length === 0) longest = setTimeout(flush, longestMs);
          gathered.push({ item, signal, resolve, reject });
          clearTimeout(quiet);
          if (gathered.length >= most || signal.aborted) void flush();
          else quiet = setTimeout(flush, quietMs);
        });
      } finally {
        stoppablesOf(signal).delete(waiting);
      }
    },
  };
}
