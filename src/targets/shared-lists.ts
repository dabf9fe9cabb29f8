/**
 * Reads of an account's tasks that many deliveries share: whoever asks while one is under way waits for it or, where it
 * began too early to show what is looked for, for the next one, with all the others who need that.
 */

import type { ServiceAccount } from './service-account.ts';
import { readTaskList, type TaskList } from './service-list.ts';
import type { TargetFailure } from './target.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface SharedList extends TaskList {
  /** On the given clock. */
  readonly startedMs: number;
  readonly endedMs: number;
}

export interface SharedLists {
  /**
   * A read that began then or later; an earlier one's where it did, else one that begins now. Rejects when the signal
   * aborts, while the others still wait for it.
   */
  since(account: ServiceAccount, sinceMs: number, signal: AbortSignal): Promise<SharedList | TargetFailure>;
  /** Breaks off what is under way. */
  close(): Promise<void>;
}

type Reading = Promise<SharedList | TargetFailure>;

export function createSharedLists(nowMs: () => number): SharedLists {
  const closing = new AbortController();
  let last: SharedList | undefined;
  let flight: { readonly startedMs: number; readonly reading: Reading } | undefined;
  let next: Reading | undefined;

  async function read(account: ServiceAccount, startedMs: number): Reading {
    const list = await readTaskList(account, closing.signal);
    if (list.status !== 'read') return list;
    last = { ...list, startedMs, endedMs: nowMs() };
    return last;
  }

  function start(account: ServiceAccount): Reading {
    const startedMs = nowMs();
    const reading = read(account, startedMs).finally(() => {
      flight = undefined;
    });
    flight = { startedMs, reading };
    return reading;
  }

  function begun(account: ServiceAccount, sinceMs: number): Reading {
    if (last !== undefined && last.startedMs >= sinceMs) return Promise.resolve(last);
    if (flight !== undefined && flight.startedMs >= sinceMs) return flight.reading;
    if (flight === undefined && next === undefined) return start(account);
    next ??= afterwards(flight?.reading).then(() => {
      next = undefined;
      return start(account);
    });
    return next;
  }

  return {
    since: (account, sinceMs, signal) => unlessAborted(signal, () => begun(account, sinceMs)),
    async close() {
      closing.abort();
      while (flight !== undefined || next !== undefined) await afterwards(next ?? flight?.reading);
      last = undefined;
    },
  };
}

/** However it ended: those who asked for it hear of that. */
async function afterwards(reading: Reading | undefined): Promise<void> {
  await reading?.catch(() => undefined);
}
