/** Starts syncs when they are due. Any number of processes may do so: each start is made by one of them. */
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { elapsedMs } from '../../base/clock.ts';
import { type DueStart, makeDueStarts, type StartOutcome } from '../ledger/schedules.ts';

const LOOK_MS = 1_000;

export interface Scheduler {
  /** Milliseconds since it last looked for due syncs without an error. */
  idleMs(): number;
  /** Finishes the start in progress. Idempotent. */
  close(): Promise<void>;
}

/** A sync whose `begin` fails is due again at its next time. */
export function startDueSyncs(needs: {
  readonly pool: pg.Pool;
  readonly begin: (start: DueStart) => Promise<StartOutcome>;
  readonly log: Logger;
}): Scheduler {
  const { pool, log } = needs;
  const closing = new AbortController();
  const { signal } = closing;
  let lookedAtMs = elapsedMs();

  function begin(start: DueStart): Promise<StartOutcome> {
    return needs.begin(start).catch((error: unknown) => {
      log.error({ err: error, sync: start.sync }, 'a sync was not started');
      return { status: 'failed' };
    });
  }

  async function keepLooking(): Promise<void> {
    while (!signal.aborted) {
      try {
        await makeDueStarts(pool, begin, { signal });
        lookedAtMs = elapsedMs();
      } catch (error) {
        log.warn({ err: error }, 'the schedules could not be read');
      }
      await delay(LOOK_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  const looking = keepLooking();
  return {
    idleMs: () => elapsedMs() - lookedAtMs,
    async close() {
      closing.abort();
      await looking;
    },
  };
}
