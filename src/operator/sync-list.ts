/** The syncs of the settings: when they start next, and how they ended. */
import { runsOf } from '../engine/ledger/run-list.ts';
import type { Run } from '../engine/ledger/runs.ts';
import {
  MISSED_MS,
  type PausedSync,
  pausedSyncs,
  type SavedSchedule,
  savedSchedules,
} from '../engine/ledger/schedules.ts';
import { nextStarts } from '../settings/next-start.ts';
import type { Settings, SyncSettings } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { type RunReport, reportRun } from './run-result.ts';
import { formatTime } from './words.ts';

const STARTS = 5;

export interface ListedSync {
  readonly sync: SyncSettings;
  readonly paused: PausedSync | undefined;
  readonly next: readonly Date[];
  /** A start in the past that no process was there to make. */
  readonly overdueSince: Date | undefined;
  readonly unfinished: RunReport | undefined;
  readonly last: (RunReport & { readonly endedAt: Date | undefined }) | undefined;
}

/** In the order of the settings. */
export async function listSyncs(db: Queryable, settings: Settings): Promise<readonly ListedSync[]> {
  const [saved, paused] = [await savedSchedules(db), await pausedSyncs(db)];
  return Promise.all(
    Object.values(settings.syncs).map(async (sync) => {
      const pausedSync = paused.get(sync.name);
      return {
        sync,
        paused: pausedSync,
        ...(pausedSync ? { next: [], overdueSince: undefined } : startsOf(sync, saved.get(sync.name), new Date())),
        ...(await lastRuns(db, sync.name, settings)),
      };
    }),
  );
}

function startsOf({ name, schedule }: SyncSettings, saved: SavedSchedule | undefined, now: Date) {
  if (!schedule) return { next: [], overdueSince: undefined };
  const isOverdue = saved !== undefined && now.getTime() - saved.dueAt.getTime() > MISSED_MS;
  return { next: nextStarts(name, schedule, now, STARTS), overdueSince: isOverdue ? saved.dueAt : undefined };
}

async function lastRuns(db: Queryable, name: string, settings: Settings) {
  const runs = await runsOf(db, name, 2);
  const reported = (run: Run | undefined) => run && reportRun(db, run, settings);
  const ended = runs.find((run) => !isUnfinished(run));
  const report = await reported(ended);
  return {
    unfinished: await reported(runs.find(isUnfinished)),
    last: report && { ...report, endedAt: ended?.endedAt },
  };
}

const isUnfinished = ({ status }: Run): boolean => status === 'running' || status === 'paused';

/** `since 2026-11-22 02:00:05 (the service is moving)` */
export function pausedWords({ pausedAt, reason }: PausedSync): string {
  return `since ${formatTime(pausedAt)}${reason === undefined ? '' : ` (${reason})`}`;
}
