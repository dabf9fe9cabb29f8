/** The syncs of the settings: when they start next, and how they ended. */
import { isUnfinished } from '../engine/ledger/runs.ts';
import {
  isOverdue,
  type PausedSync,
  pausedSyncs,
  type SavedSchedule,
  savedSchedules,
} from '../engine/ledger/schedules.ts';
import { type Night, nightsOf } from '../engine/ledger/views/nights.ts';
import { newestRuns } from '../engine/ledger/views/run-list.ts';
import { nextStarts } from '../settings/next-start.ts';
import type { Settings, SyncSettings } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { formatTime } from './format.ts';
import type { RunReport } from './report.ts';
import { reportRuns } from './run-report.ts';
import { zoneOf } from './schedule-words.ts';

const STARTS = 5;

export interface ListedSync {
  readonly sync: SyncSettings;
  readonly paused: PausedSync | undefined;
  readonly next: readonly Date[];
  /** Its run that must end before it starts again, because a person has to decide. */
  readonly pausedRun: string | undefined;
  /** A scheduler knows its schedule. */
  readonly isScheduled: boolean;
  /** A start in the past that was not made: it waits for a run, or no process was there to make it. */
  readonly overdue: { readonly since: Date; readonly waitsFor: string | undefined } | undefined;
  readonly unfinished: RunReport | undefined;
  readonly last: (RunReport & { readonly endedAt: Date | undefined }) | undefined;
}

/** In the order of the settings. */
export async function listSyncs(db: Queryable, settings: Settings): Promise<readonly ListedSync[]> {
  const [saved, paused, reported] = await Promise.all([
    savedSchedules(db),
    pausedSyncs(db),
    // An unfinished run, of which a sync has one at most, and the run before.
    newestRuns(db, Object.keys(settings.syncs), 2).then((runs) => reportRuns(db, runs, settings)),
  ]);
  return Object.values(settings.syncs).map((sync) => {
    const pausedSync = paused.get(sync.name);
    const own = reported.filter(({ run }) => run.sync === sync.name);
    const ended = own.find(({ run }) => !isUnfinished(run));
    const unfinished = own.find(({ run }) => isUnfinished(run));
    return {
      sync,
      paused: pausedSync,
      isScheduled: saved.has(sync.name),
      ...(pausedSync ? { next: [], overdue: undefined } : startsOfSync(sync, saved.get(sync.name), new Date())),
      pausedRun: unfinished?.run.status === 'paused' ? unfinished.run.id : undefined,
      unfinished: unfinished?.report,
      last: ended && { ...ended.report, endedAt: ended.run.endedAt },
    };
  });
}

function startsOfSync({ name, schedule }: SyncSettings, saved: SavedSchedule | undefined, now: Date) {
  if (!schedule) return { next: [], overdue: undefined };
  const overdue = saved && isOverdue(saved, now) ? { since: saved.dueAt, waitsFor: saved.waitsFor } : undefined;
  return { next: nextStarts(name, schedule, now, STARTS), overdue };
}

/** `since 2026-11-22 02:00:05 (the service is moving)` */
export function pausedWords({ pausedAt, reason }: PausedSync): string {
  return `since ${formatTime(pausedAt)}${reason === undefined ? '' : ` (${reason})`}`;
}

/** Days of the strip of squares that shows each sync. */
export const NIGHTS = 14;

/** The zone of each sync: of its schedule, or UTC. */
export function zonesOf({ syncs }: Pick<Settings, 'syncs'>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.values(syncs).map(({ name, schedule }) => [name, schedule === undefined ? 'UTC' : zoneOf(schedule)]),
  );
}

/** The outcomes of the last days of each sync, in its zone. */
export function lastNights(db: Queryable, settings: Settings): Promise<readonly Night[]> {
  return nightsOf(db, zonesOf(settings), NIGHTS);
}
