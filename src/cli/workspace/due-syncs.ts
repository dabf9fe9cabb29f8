/** The syncs of the settings that start by themselves. */
import type { Logger } from 'pino';
import { type BeginStart, MISSED_MS, type ScheduledSync } from '../../engine/ledger/schedules.ts';
import type { Settings } from '../../settings/settings.ts';
import type { StartArguments, startSyncRun } from './start-sync.ts';

export function scheduledIn({ syncs }: Settings): readonly ScheduledSync[] {
  return Object.values(syncs).flatMap(({ name, schedule }) => (schedule ? [{ sync: name, schedule }] : []));
}

/**
 * Starts a sync that is due, unless its own run is unfinished; a run of another sync, which writes the same records, delays it. Logs
 * the start, or once the run that is in its way.
 */
export function dueStarter(
  startSync: (...start: StartArguments) => ReturnType<typeof startSyncRun>,
  log: Logger,
): BeginStart {
  const inTheWay = new Map<string, string>();
  return async ({ sync, lateMs }, db) => {
    const begun = await startSync(sync, { lane: 'batch', dryRun: false }, db);
    const run = begun.run.id;
    if (begun.status === 'busy') {
      const isOwn = begun.run.sync === sync;
      if (inTheWay.get(sync) !== run) {
        if (isOwn) log.warn({ sync, run }, 'not started: an earlier run is unfinished');
        else
          log.info(
            { sync, run },
            `not started yet: a run of ${begun.run.title}, which writes the same records, is unfinished`,
          );
      }
      inTheWay.set(sync, run);
      return isOwn ? { status: 'made' } : { status: 'waits', run };
    }
    log.info({ sync, run, ...(lateMs > MISSED_MS && { lateMs }) }, 'run started');
    return { status: 'made' };
  };
}
