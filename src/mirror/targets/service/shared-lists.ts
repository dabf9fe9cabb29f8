/**
 * Reads of an account's tasks that many deliveries share. A caller that asks during a read waits for that read. If the read
 * began too early to show what the caller looks for, it waits for the next one, with all other callers that need it.
 */
import type { TargetFailure } from '../../../contract/target.ts';
import { unlessAborted } from '../calls/unless-aborted.ts';
import type { ServiceAccount } from './service-account.ts';
import { readTaskList, type TaskList } from './service-list.ts';

export interface SharedList extends TaskList {
  /** On the given clock. */
  readonly startedMs: number;
  readonly endedMs: number;
}

export interface SharedLists {
  /**
   * A read that began then or later: an earlier one if it did, otherwise one that begins now. Rejects when the signal
   * aborts, while the other callers still wait for it.
   */
  since(account: ServiceAccount, sinceMs: number, signal: AbortSignal): Promise<SharedList | TargetFailure>;
  /** Aborts the read that is under way. */
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

/** Whatever its result, all callers that wait for it receive it. */
async function afterwards(reading: Reading | undefined): Promise<void> {
  await reading?.catch(() => undefined);
}
