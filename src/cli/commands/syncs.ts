/** `lockstep syncs …`: the syncs of the settings, when they start next, and how they ended; pauses and resumes them. */
import type { Command } from 'commander';
import { runsOf } from '../../engine/ledger/run-list.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import {
  MISSED_MS,
  type PausedSync,
  pausedSyncs,
  pauseSync,
  type SavedSchedule,
  savedSchedules,
  unpauseSync,
} from '../../engine/ledger/schedules.ts';
import { nextStarts } from '../../settings/next-start.ts';
import { type Settings, type SyncSettings, syncNamed } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { type RunReport, reportRun } from '../run-result.ts';
import { countsLine } from '../run-summary.ts';
import { scheduleWords, startWords, zoneOf } from '../schedule-words.ts';
import type { Perform, Session } from '../session.ts';
import { formatTime } from '../words.ts';

const STARTS = 5;

export function define(syncs: Command, perform: Perform): void {
  syncs
    .description(
      'Lists the syncs of the settings: schedule, next five starts, and how the last run ended. Starts are shown in the ' +
        'time zone of the schedule, and those of an interval in UTC.',
    )
    .addHelpText(
      'after',
      `
Examples:
  $ lockstep syncs
  $ lockstep syncs pause nightly-contacts --reason "the service is moving"
  $ lockstep syncs resume nightly-contacts`,
    )
    .action(perform(list));
  syncs
    .command('pause')
    .summary('stop starting a sync on schedule')
    .description(
      'Stops all schedulers from starting the sync, until it is resumed. Its unfinished run is not stopped, and ' +
        '`lockstep run` still runs it.',
    )
    .argument('<sync>', 'name of the sync in the settings')
    .option('--reason <text>', 'the reason, which `lockstep syncs` shows')
    .action(perform(pause));
  syncs
    .command('resume')
    .summary('start a paused sync on schedule again')
    .description('Lets the schedulers start a paused sync again. Its next start is the next one of its schedule.')
    .argument('<sync>', 'name of the sync')
    .action(perform(resume));
}

interface Listed {
  readonly sync: SyncSettings;
  readonly paused: PausedSync | undefined;
  readonly next: readonly Date[];
  /** A start in the past that no process was there to make. */
  readonly overdueSince: Date | undefined;
  readonly unfinished: RunReport | undefined;
  readonly last: (RunReport & { readonly endedAt: Date | undefined }) | undefined;
}

async function list(session: Session): Promise<void> {
  const { out, hint } = session;
  const settings = await session.settings();
  const { pool } = await session.openLedger();
  const [saved, paused] = [await savedSchedules(pool), await pausedSyncs(pool)];
  const listed = await Promise.all(
    Object.values(settings.syncs).map(async (sync): Promise<Listed> => {
      const pausedSync = paused.get(sync.name);
      return {
        sync,
        paused: pausedSync,
        ...(pausedSync ? { next: [], overdueSince: undefined } : startsOf(sync, saved.get(sync.name), new Date())),
        ...(await lastRuns(pool, sync.name, settings)),
      };
    }),
  );
  if (listed.length === 0) out.say(`The settings have no syncs: add one under syncs in ${settings.file}`);
  for (const [index, one] of listed.entries()) out.say(...(index === 0 ? [] : ['']), ...wordsOf(one, hint));
  const gone = [...paused.keys()].filter((name) => settings.syncs[name] === undefined);
  for (const name of gone) out.say('', `${name} is paused and not in the settings. ${resumeHint(name, hint)}`);
  out.result({ syncs: listed.map(toResult), pausedElsewhere: gone });
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

function wordsOf({ sync, paused, next, overdueSince, unfinished, last }: Listed, hint: Session['hint']) {
  const { name, type, account, schedule } = sync;
  const lines = [`${name}: ${type}, account ${account}`];
  const line = (label: string, words: string) => lines.push(`  ${label.padEnd(9)} ${words}`);
  line('Schedule', schedule ? scheduleWords(schedule) : `none: it runs by ${hint(`run ${name}`)} only`);
  if (paused) line('Paused', `${pausedWords(paused)}. ${resumeHint(name, hint)}`);
  if (schedule && next.length > 0) line('Next', startWords(next, zoneOf(schedule)));
  if (overdueSince)
    line('Overdue', `since ${formatTime(overdueSince)}: no scheduler runs. Start one: ${hint('start')}`);
  if (unfinished) line('Now', `run ${unfinished.run} is ${unfinished.status}: ${countsLine(unfinished)}`);
  if (last) {
    const at = last.endedAt === undefined ? '' : `, ended ${formatTime(last.endedAt)}`;
    line('Last', `run ${last.run} ${last.status}${at}: ${countsLine(last)}`);
    if (last.error) line('', last.error.message);
  } else {
    line('Last', 'no run has ended yet');
  }
  return lines;
}

/** `since 2026-11-22 02:00:05 (the service is moving)` */
export function pausedWords({ pausedAt, reason }: PausedSync): string {
  return `since ${formatTime(pausedAt)}${reason === undefined ? '' : ` (${reason})`}`;
}

function resumeHint(name: string, hint: Session['hint']): string {
  return `Resume it with: ${hint(`syncs resume ${name}`)}`;
}

function toResult({ sync, paused, next, overdueSince, unfinished, last }: Listed) {
  const { name, type, account, schedule } = sync;
  return {
    sync: name,
    type,
    account,
    schedule: schedule ?? null,
    paused: paused ? { since: paused.pausedAt, reason: paused.reason ?? null } : null,
    next,
    overdueSince: overdueSince ?? null,
    unfinished: unfinished ?? null,
    last: last ?? null,
  };
}

async function pause(session: Session, name: string, { reason }: { reason?: string }): Promise<void> {
  const { out, hint } = session;
  syncNamed(await session.settings(), name); // reports a misspelt name before a database is opened
  const { pool } = await session.openLedger();
  await pauseSync(pool, name, reason);
  const paused = (await pausedSyncs(pool)).get(name);
  out.say(`${name} is paused: no scheduler starts it. ${resumeHint(name, hint)}`);
  out.result({ sync: name, paused: { since: paused?.pausedAt ?? null, reason: paused?.reason ?? null } });
}

async function resume(session: Session, name: string): Promise<void> {
  const settings = await session.settings();
  const { pool } = await session.openLedger();
  const isChanged = await unpauseSync(pool, name); // a sync that was removed from the settings may still be paused
  if (!isChanged) syncNamed(settings, name);
  session.out.say(isChanged ? `${name} is resumed.` : `${name} was not paused; nothing has changed.`);
  session.out.result({ sync: name, resumed: isChanged });
}
