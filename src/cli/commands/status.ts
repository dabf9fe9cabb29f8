/** `lockstep status`: on one screen, what needs a person, what runs, what starts next, and how accounts and targets are. */
import type { Command } from 'commander';
import { unfinishedAndLatest } from '../../engine/ledger/run-list.ts';
import { pausedSyncs } from '../../engine/ledger/schedules.ts';
import { scopeNamed } from '../../engine/ledger/scopes.ts';
import { suspensionOf } from '../../engine/ledger/suspensions.ts';
import { type TargetState, targetStates } from '../../mirror/outbox/target-states.ts';
import { nextStarts } from '../../settings/next-start.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { styled } from '../colour.ts';
import { budgetWords, problemsIn, type RunReport, reportRun } from '../run-result.ts';
import type { RunState } from '../run-state.ts';
import { countsLine, STYLE_OF } from '../run-summary.ts';
import { startWords, zoneOf } from '../schedule-words.ts';
import type { Perform, Session } from '../session.ts';
import { formatTime, formatTook, plural } from '../words.ts';

export function define(status: Command, perform: Perform): void {
  status
    .description(
      'Shows on one screen what needs a person, which runs are under way, when each sync starts next, the budget of each ' +
        'account, and targets that do not take deliveries. It only reads the ledger and makes no call to a service.',
    )
    .action(perform(show));
}

interface Shown extends RunReport {
  readonly title: string;
  readonly endedAt: Date | undefined;
}

interface Need {
  /** Such as `run run-261121-0200-1a2b3c`. */
  readonly what: string;
  readonly why: string;
  /** The command to look or act. */
  readonly command: string;
}

async function show(session: Session): Promise<void> {
  const { out, hint } = session;
  const settings = await session.settings();
  const { pool } = await session.openLedger();
  const runs: Shown[] = [];
  for (const run of await unfinishedAndLatest(pool))
    runs.push({ ...(await reportRun(pool, run, settings)), title: run.title, endedAt: run.endedAt });
  const [accounts, targets, paused] = [
    await accountsOf(pool, settings),
    await targetStates(pool),
    await pausedSyncs(pool),
  ];
  const working = runs.filter(({ state }) => WORKING.includes(state));
  const needs: readonly Need[] = [
    ...runs.flatMap((run) => needOfRun(run) ?? []),
    ...accounts.flatMap(({ account, suspended }) =>
      suspended === null
        ? []
        : [{ what: `account ${account}`, why: suspended, command: `doctor --account ${account}` }],
    ),
    ...targets.flatMap((target) => needOfTarget(target) ?? []),
  ];
  const next = Object.values(settings.syncs).flatMap(({ name, schedule }) => {
    const [at] = schedule && !paused.has(name) ? nextStarts(name, schedule, new Date(), 1) : [];
    return at && schedule ? [{ sync: name, at, words: startWords([at], zoneOf(schedule)) }] : [];
  });
  next.sort((a, b) => a.at.getTime() - b.at.getTime());

  out.say(needs.length === 0 ? styled('good', 'Nothing needs a person.') : styled('warn', 'Needs a person:'));
  for (const { what, why, command } of needs) out.say(`  ${what}: ${why}`, `      ${hint(command)}`);
  section(
    session,
    'Running now',
    ['RUN', 'SYNC', 'STATUS', 'FOR', 'ROWS'],
    working.map((run) => [
      run.run,
      run.title,
      styled(STYLE_OF[run.state], run.stateWords),
      formatTook(run.durationMs),
      countsLine(run),
    ]),
  );
  section(
    session,
    'Next starts',
    ['SYNC', 'STARTS'],
    [...next.map(({ sync, words }) => [sync, words]), ...[...paused.keys()].map((name) => [name, 'paused'])],
  );
  section(
    session,
    'Budgets',
    ['ACCOUNT', 'ALLOWED', ''],
    accounts.map(({ account, allowed, suspended }) => [
      account,
      allowed,
      suspended === null ? '' : styled('bad', 'suspended'),
    ]),
  );
  out.result({ needs, running: working, next: next.map(({ sync, at }) => ({ sync, at })), accounts, targets });
}

const WORKING: readonly RunState[] = ['queued', 'running', 'waiting', 'auditing'];

function needOfRun(run: Shown): Need | undefined {
  const what = `run ${run.run} of ${run.title}`;
  switch (run.state) {
    case 'awaiting-approval':
      return { what, why: 'awaits approval: nothing is sent yet', command: `runs show ${run.run}` };
    case 'interrupted':
    case 'paused':
      return { what, why: run.stateWords, command: `runs resume ${run.run}` };
    case 'failed':
      return {
        what,
        why: `${run.stateWords}${run.endedAt ? `, ${formatTime(run.endedAt)}` : ''}`,
        command: `runs show ${run.run}`,
      };
    case 'done':
    case 'auditing': {
      const violations = run.audit?.violations ?? 0;
      const problems = problemsIn(run.counts);
      if (problems + violations === 0) return undefined;
      const found = violations === 0 ? '' : `; its audit found ${plural(violations, 'violation')}`;
      return { what, why: `${countsLine(run)}${found}`, command: `runs show ${run.run}` };
    }
    default:
      return undefined;
  }
}

function needOfTarget({ target, disabled, failing }: TargetState): Need | undefined {
  if (disabled)
    return { what: `target ${target}`, why: `disabled: ${disabled.detail}`, command: `deliveries enable ${target}` };
  if (failing)
    return {
      what: `target ${target}`,
      why: `failing since ${formatTime(failing.since)}: ${failing.detail}`,
      command: `deliveries --target ${target}`,
    };
  return undefined;
}

async function accountsOf(db: Queryable, settings: Settings) {
  return Promise.all(
    Object.entries(settings.accounts).map(async ([account, of]) => ({
      account,
      allowed: budgetWords(of),
      suspended: (await suspensionOf(db, await scopeNamed(db, account)))?.message ?? null,
    })),
  );
}

function section(
  { out }: Session,
  title: string,
  titles: readonly string[],
  rows: readonly (readonly string[])[],
): void {
  out.say('', styled('strong', title));
  out.table(titles, rows, { none: '  none' });
}
