/** Paces one key in one process, for callers without a shared store: calls are sent at even intervals. */
import { EventEmitter, once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Budget, Permit, Taken, TakeOptions } from './budget/budget.ts';

export interface OwnPace {
  /** Calls a second, > 0. */
  readonly requestsPerSecond: number;
  /** Maximum calls in flight, ≥ 1. */
  readonly concurrency: number;
}

interface Clock {
  /** A monotonic clock in milliseconds. */
  nowMs(): number;
  wait(ms: number, signal?: AbortSignal): Promise<unknown>;
}

const realClock: Clock = {
  nowMs: () => performance.now(),
  wait: (ms, signal) => delay(ms, undefined, { signal }),
};

/** Calls are sent in the order of their requests; after a 429 no call is sent before its Retry-After is over. */
export function createOwnPace(
  { requestsPerSecond, concurrency }: OwnPace,
  { nowMs, wait }: Clock = realClock,
): Pick<Budget, 'take'> {
  const ended = new EventEmitter();
  let inFlight = 0;
  let nextAt = 0;
  let line: Promise<unknown> = Promise.resolve();

  async function admit({ cost = 1, signal }: TakeOptions, giveUpAt: number): Promise<Taken> {
    signal?.throwIfAborted();
    while (inFlight >= concurrency) await once(ended, 'call', { signal });
    for (let now = nowMs(); now < nextAt; now = nowMs()) {
      if (nextAt > giveUpAt) return { status: 'wait', retryAfterMs: Math.ceil(nextAt - now) };
      await wait(nextAt - now, signal);
    }
    nextAt = nowMs() + (cost * 1_000) / requestsPerSecond;
    inFlight++;
    return { status: 'taken', permit: permit() };
  }

  function permit(): Permit {
    let isReleased = false;
    return {
      release() {
        if (isReleased) return;
        isReleased = true;
        inFlight--;
        ended.emit('call');
      },
      async limited(retryAfterMs) {
        nextAt = Math.max(nextAt, nowMs() + retryAfterMs);
      },
      hinted: async () => undefined,
      succeeded: () => undefined,
    };
  }

  return {
    take(options) {
      const giveUpAt = nowMs() + (options.maxWaitMs ?? Number.POSITIVE_INFINITY);
      const taken = line.then(() => admit(options, giveUpAt));
      line = taken.catch(() => undefined);
      return taken;
    },
  };
}
