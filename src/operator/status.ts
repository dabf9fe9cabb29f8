/** What an operator looks at first: what needs a person, what runs, what starts next, and how accounts and targets are. */
import { isDeepStrictEqual } from 'node:util';
import { firstOf } from '../base/counts.ts';
import { meaningOf } from '../base/reasons/reasons.ts';
import {
  isOverdue,
  type PausedSync,
  pausedSyncs,
  type SavedSchedule,
  savedSchedules,
} from '../engine/ledger/schedules.ts';
import { lastRates, pausesAsked } from '../engine/ledger/scopes/budget-minutes.ts';
import { pausedRuns, unfinishedAndAuditing } from '../engine/ledger/views/run-list.ts';
import type { TargetState } from '../mirror/outbox/target-states.ts';
import { nextStarts } from '../settings/next-start.ts';
import type { Schedule } from '../settings/schedules.ts';
import { budgetLimits, type Settings } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { aboutOf, type Problem } from './alerts/problem.ts';
import { findProblems, readStates, type States } from './current-problems.ts';
import type { About } from './page-paths.ts';
import type { RunReport, RunState } from './report.ts';
import { budgetWords, reportRuns } from './run-report.ts';
import { startCondition, startWords, zoneOf } from './schedule-words.ts';

export interface Status {
  readonly needs: readonly Need[];
  readonly running: readonly StatusRun[];
  /** The next start of each scheduled sync that is not paused, the earliest first. */
  readonly next: readonly NextStart[];
  /** The syncs that no scheduler starts, although they have a schedule. */
  readonly unscheduled: readonly string[];
  /** Deprecated: whether there is none of these. */
  readonly hasScheduler: boolean;
  readonly paused: ReadonlyMap<string, PausedSync>;
  readonly accounts: readonly StatusAccount[];
  readonly targets: readonly TargetState[];
}

export interface NextStart {
  readonly sync: string;
  readonly at: Date;
  /** Its run that must end before it starts again, because a person has to decide. */
  readonly pausedRun: string | undefined;
  readonly words: string;
}

export interface StatusRun extends RunReport {
  readonly title: string;
}

export interface StatusAccount {
  readonly account: string;
  readonly allowed: string;
  /** Calls a second that it was allowed when it was last used; if it was not used for a week, what the settings say. */
  readonly ratePerSecond: number;
  /** Why nothing is sent to it; null if it is not suspended. */
  readonly suspended: string | null;
  /** Until when its service asks to wait (429); null if it does not. */
  readonly pausedUntil: Date | null;
}

/** Something that needs a person. */
export interface Need extends Pick<Problem, 'event' | 'what' | 'why' | 'command' | 'inReview'> {
  /** The name that people know: of the sync, file, account or target. */
  readonly title: string;
  /** Since when it is so; null if that is not known. */
  readonly since: Date | null;
  readonly about: About;
}

/** Reads the ledger only, and calls no service. Reads at the same time, so `db` is no single connection. */
export async function statusOf(db: Queryable, settings: Settings): Promise<Status> {
  const [reported, { problems, targets, suspended }, starts, pauses, rates] = await Promise.all([
    unfinishedAndAuditing(db).then((runs) => reportRuns(db, runs, settings)),
    readProblems(db, settings),
    startsOf(db, settings),
    pausesAsked(db, Object.keys(settings.accounts)),
    lastRates(db, Object.keys(settings.accounts)),
  ]);
  const runs = reported.map(({ run: { title }, report }) => ({ ...report, title }));
  return {
    needs: [...problems.map(needOf), ...schedulerNeed(starts.unscheduled, problems)],
    running: runs.filter(({ state }) => WORKING.includes(state)),
    ...starts,
    accounts: accountsOf(settings, suspended, pauses, rates),
    targets,
  };
}

/** When the syncs start next. */
export async function startsOf(
  db: Queryable,
  { syncs }: Settings,
): Promise<Pick<Status, 'next' | 'unscheduled' | 'hasScheduler' | 'paused'>> {
  const [paused, saved, waiting] = await Promise.all([pausedSyncs(db), savedSchedules(db), pausedRuns(db)]);
  const now = new Date();
  const next = Object.values(syncs).flatMap(({ name, schedule }) => {
    if (!schedule || paused.has(name)) return [];
    const at = nextOf(name, schedule, saved.get(name), now);
    const zone = zoneOf(schedule);
    const pausedRun = waiting.get(name);
    return [{ sync: name, at, pausedRun, words: `${startWords([at], zone)} (${zone})${startCondition(pausedRun)}` }];
  });
  next.sort((a, b) => a.at.getTime() - b.at.getTime());
  const names = next.map(({ sync }) => sync);
  const unscheduled = names.filter((name) => {
    const schedule = saved.get(name);
    return schedule === undefined || (schedule.waitsFor === undefined && isOverdue(schedule, now));
  });
  return { next, unscheduled, hasScheduler: unscheduled.length === 0, paused };
}

/** What a scheduler has planned is not worked out again: that takes longer. */
function nextOf(name: string, schedule: Schedule, planned: SavedSchedule | undefined, now: Date): Date {
  const isPlanned = planned !== undefined && planned.dueAt > now && isDeepStrictEqual(planned.schedule, schedule);
  return isPlanned ? planned.dueAt : (nextStarts(name, schedule, now, 1)[0] ?? now);
}

async function readProblems(db: Queryable, settings: Settings) {
  const states = await readStates(db, settings);
  return { ...states, problems: await findProblems(db, settings, states) };
}

const WORKING: readonly RunState[] = ['receiving', 'queued', 'running', 'waiting', 'auditing'];

function needOf(problem: Problem): Need {
  const { event, subject, what, command, since = null, inReview } = problem;
  const about = aboutOf(problem);
  const title = about.kind === 'run' ? subject : about.name;
  return {
    event,
    what,
    title,
    why: whyOf(problem),
    command,
    since,
    about,
    ...(inReview !== undefined && { inReview }),
  };
}

/** A code alone says little to a person who looks here first. */
function whyOf({ event, why, cause }: Problem): string {
  const meaning = event === 'run-failed' || event === 'run-paused' ? meaningOf(cause) : undefined;
  return meaning === undefined ? why : `${why}. ${meaning}`;
}

const MOST_NAMED = 5;

/** A scheduler reads the settings when it starts, and on SIGHUP. A sync that is late has a problem of its own. */
function schedulerNeed(unscheduled: readonly string[], problems: readonly Problem[]): readonly Need[] {
  const names = unscheduled.filter(
    (name) => !problems.some(({ event, sync }) => event === 'sync-late' && sync === name),
  );
  const [title] = names;
  if (title === undefined) return [];
  const named = firstOf(names.slice(0, MOST_NAMED), names.length);
  const [what, it] = names.length === 1 ? [`sync ${title}`, 'it'] : [`syncs ${named}`, 'them'];
  const why = `no scheduler starts ${it}. Start one; if one runs already, send it SIGHUP, so that it reads the settings again`;
  return [
    { event: 'sync-late', what, title, why, since: null, command: 'start', about: { kind: 'sync', name: title } },
  ];
}

function accountsOf(
  { accounts }: Settings,
  suspended: States['suspended'],
  pauses: ReadonlyMap<string, Date>,
  rates: ReadonlyMap<string, number>,
): readonly StatusAccount[] {
  return Object.entries(accounts).map(([account, of]) => ({
    account,
    allowed: budgetWords(of, rates.get(account)),
    ratePerSecond: rates.get(account) ?? budgetLimits(of).ratePerSecond,
    suspended: suspended.get(account)?.message ?? null,
    pausedUntil: pauses.get(account) ?? null,
  }));
}
