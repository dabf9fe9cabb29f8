/** `lockstep syncs …`: the syncs of the settings, when they start next, and how they ended; pauses and resumes them. */
import { pausedSyncs, pauseSync, unpauseSync } from '../../engine/ledger/schedules.ts';
import { formatTime } from '../../operator/format.ts';
import { countsLine } from '../../operator/run-words.ts';
import { scheduleWords, startCondition, startWords, zoneOf } from '../../operator/schedule-words.ts';
import { type ListedSync, listSyncs, pausedWords } from '../../operator/sync-list.ts';
import { syncNamed } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import type { Perform, Session } from '../session.ts';

export function define(syncs: Command, perform: Perform): void {
  syncs
    .description(
      'Lists the syncs of the settings: schedule, next five starts, and how the last run ended. Starts are shown in the ' +
        'time zone of the schedule; starts of an interval are shown in UTC.',
    )
    .examples(`
  $ lockstep syncs
  $ lockstep syncs pause nightly-contacts --reason "the service is moving"
  $ lockstep syncs resume nightly-contacts`)
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

async function list(session: Session): Promise<void> {
  const { out, hint } = session;
  const settings = await session.settings();
  const { pool } = await session.openLedger();
  const listed = await listSyncs(pool, settings);
  if (listed.length === 0) out.say(`The settings have no syncs: add one under syncs in ${settings.file}`);
  for (const [index, one] of listed.entries()) out.say(...(index === 0 ? [] : ['']), ...wordsOf(one, hint));
  const gone = [...(await pausedSyncs(pool)).keys()].filter((name) => settings.syncs[name] === undefined);
  for (const name of gone) out.say('', `${name} is paused and not in the settings. ${resumeHint(name, hint)}`);
  out.result({ syncs: listed.map(toResult), pausedElsewhere: gone });
}

function wordsOf(listed: ListedSync, hint: Session['hint']) {
  const { sync, paused, next, pausedRun, isScheduled, overdue, unfinished, last } = listed;
  const { name, type, account, schedule } = sync;
  const lines = [`${name}: ${type}, account ${account}`];
  const line = (label: string, words: string) => lines.push(`  ${label.padEnd(9)} ${words}`);
  line('Schedule', schedule ? scheduleWords(schedule) : `none: it runs by ${hint(`run ${name}`)} only`);
  if (paused) line('Paused', `${pausedWords(paused)}. ${resumeHint(name, hint)}`);
  if (schedule && next.length > 0) {
    line('Next', `${startWords(next, zoneOf(schedule))}${startCondition(pausedRun)}`);
  }
  if (next.length > 0 && !isScheduled) line('', `No scheduler starts it. ${schedulerHint(hint)}`);
  if (overdue) {
    const why = overdue.waitsFor
      ? `it waits for run ${overdue.waitsFor}, which writes the same records. See: ${hint(`runs show ${overdue.waitsFor}`)}`
      : `no scheduler runs. Start one: ${hint('start')}`;
    line('Overdue', `since ${formatTime(overdue.since)}: ${why}`);
  }
  if (unfinished) line('Now', `run ${unfinished.run} is ${unfinished.stateWords}: ${countsLine(unfinished)}`);
  if (last) {
    const at = last.endedAt === undefined ? '' : `, ended ${formatTime(last.endedAt)}`;
    line('Last', `run ${last.run} ${last.stateWords}${at}: ${countsLine(last)}`);
    if (last.error) line('', last.error.message);
  } else {
    line('Last', 'no run has ended yet');
  }
  return lines;
}

/** A scheduler reads the settings when it starts, and on SIGHUP. */
function schedulerHint(hint: Session['hint']): string {
  return `Start one: ${hint('start')}. If one runs already, send it SIGHUP, so that it reads the settings again`;
}

function resumeHint(name: string, hint: Session['hint']): string {
  return `Resume it with: ${hint(`syncs resume ${name}`)}`;
}

function toResult({ sync, paused, next, overdue, unfinished, last }: ListedSync) {
  const { name, type, account, schedule } = sync;
  return {
    sync: name,
    type,
    account,
    schedule: schedule ?? null,
    paused: paused ? { since: paused.pausedAt, reason: paused.reason ?? null } : null,
    next,
    overdueSince: overdue?.since ?? null,
    waitsFor: overdue?.waitsFor ?? null,
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
