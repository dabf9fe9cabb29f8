/** The syncs of the settings that start by themselves. */
import type { Logger } from 'pino';
import { type DueStart, MISSED_MS, type ScheduledSync } from '../engine/ledger/schedules.ts';
import type { Settings } from '../settings/settings.ts';
import type { StartHow, startSyncRun } from './start-sync.ts';

export function scheduledIn({ syncs }: Settings): readonly ScheduledSync[] {
  return Object.values(syncs).flatMap(({ name, schedule }) => (schedule ? [{ sync: name, schedule }] : []));
}

/** Starts a sync that is due. Logs the start, or once the unfinished run that is in its way. */
export function dueStarter(
  startSync: (name: string, how: StartHow) => ReturnType<typeof startSyncRun>,
  log: Logger,
): (start: DueStart) => Promise<void> {
  const inTheWay = new Map<string, string>();
  return async ({ sync, lateMs }) => {
    const begun = await startSync(sync, { lane: 'batch', dryRun: false });
    const run = begun.run.id;
    if (begun.status === 'busy') {
      if (inTheWay.get(sync) !== run) log.warn({ sync, run }, 'not started: an earlier run is unfinished');
      inTheWay.set(sync, run);
      return;
    }
    log.info({ sync, run, ...(lateMs > MISSED_MS && { lateMs }) }, 'run started');
  };
}
