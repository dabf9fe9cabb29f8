/** A clock that stops until a test moves it: an hour passes as fast as the work due in it. */
import type pg from 'pg';
import type { Clock } from '../../../src/engine/dispatch/clock.ts';

export interface VirtualClock extends Clock {
  /**
   * Lets time pass until `isOver`: in steps of `stepMs`, or to the next wait that ends if that is later. Each step begins
   * once all work started by the previous step has settled.
   */
  passUntil(isOver: () => boolean | Promise<boolean>, stepMs?: number): Promise<void>;
  pass(ms: number, stepMs?: number): Promise<void>;
  /** Wakes nothing that waits for it any more, as if the process had been killed. */
  die(): void;
}

const STEP_MS = 100;

/** `pools`: the pools whose queries count as work. Targets of the test must finish within a turn of the event loop. */
export function createVirtualClock(pools: readonly pg.Pool[], startsAt = new Date()): VirtualClock {
  let nowMs = 0;
  const waiting = new Set<{ readonly untilMs: number; readonly over: () => void }>();

  const isBusy = () => pools.some((pool) => pool.waitingCount > 0 || pool.idleCount < pool.totalCount);

  async function rest(): Promise<void> {
    for (let quiet = 0; quiet < 5; quiet = isBusy() ? 0 : quiet + 1) await new Promise(setImmediate);
  }

  function stepTo(ms: number): void {
    nowMs = ms;
    for (const one of [...waiting]) if (one.untilMs <= nowMs) one.over();
  }

  async function passTo(endMs: number, isOver: () => boolean | Promise<boolean>, stepMs = STEP_MS): Promise<void> {
    for (;;) {
      await rest();
      if (await isOver()) return;
      const nextMs = waiting.size === 0 ? 0 : Math.min(...[...waiting].map(({ untilMs }) => untilMs));
      stepTo(Math.min(endMs, Math.max(nowMs + stepMs, nextMs)));
    }
  }

  return {
    nowMs: () => nowMs,
    ledgerNow: () => new Date(startsAt.getTime() + nowMs),
    wait: (ms, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const one = {
          untilMs: nowMs + ms,
          over() {
            waiting.delete(one);
            signal.removeEventListener('abort', one.over);
            resolve();
          },
        };
        waiting.add(one);
        signal.addEventListener('abort', one.over);
      }),
    passUntil: (isOver, stepMs) => passTo(Number.POSITIVE_INFINITY, isOver, stepMs),
    die: () => waiting.clear(),
    pass(ms, stepMs) {
      const untilMs = nowMs + ms;
      return passTo(untilMs, () => nowMs >= untilMs, stepMs);
    },
  };
}
