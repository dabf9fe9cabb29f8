/** Starts syncs when they are due. Any number of processes may do so: each start is made by one of them. */
import type pg from 'pg';
import type { Logger } from 'pino';
import { elapsedMs } from '../../base/clock.ts';
import { type Repeated, repeat } from '../../base/repeat.ts';
import { type BeginStart, makeDueStarts } from '../ledger/schedules.ts';

const LOOK_MS = 1_000;

export interface Scheduler extends Repeated {
  /** Milliseconds since it last looked for due syncs without an error. */
  idleMs(): number;
}

/** A sync whose `begin` fails is due again at its next time. */
export function startDueSyncs(needs: {
  readonly pool: pg.Pool;
  readonly begin: BeginStart;
  /** The syncs that the settings of this process have now. */
  readonly syncs: () => readonly string[];
  readonly log: Logger;
}): Scheduler {
  const { pool, log } = needs;
  let lookedAtMs = elapsedMs();

  const begin: BeginStart = (start, db) =>
    needs.begin(start, db).catch((error: unknown) => {
      log.error({ err: error, sync: start.sync }, 'a sync was not started');
      return { status: 'failed' };
    });

  async function look(signal: AbortSignal): Promise<void> {
    await makeDueStarts(pool, begin, { signal, syncs: needs.syncs() });
    lookedAtMs = elapsedMs();
  }

  const failed = (error: unknown) => log.warn({ err: error }, 'the schedules could not be read');
  const looking = repeat(look, { pauseMs: () => LOOK_MS, failed });
  return { idleMs: () => elapsedMs() - lookedAtMs, close: looking.close };
}
