/** `lockstep status`: on one screen, what needs a person, what runs, what starts next, and how accounts and targets are. */
import { formatTime, formatTook } from '../../operator/format.ts';
import { countsLine, styleOf } from '../../operator/run-words.ts';
import { statusOf } from '../../operator/status.ts';
import type { Command } from '../command.ts';
import { styled } from '../print/colour.ts';
import type { Perform, Session } from '../session.ts';

export function define(status: Command, perform: Perform): void {
  status
    .description(
      'Shows on one screen what needs a person, which runs are under way, when each sync starts next, the budget of each ' +
        'account, and targets that do not accept deliveries. It only reads the ledger and makes no call to a service.',
    )
    .action(perform(show));
}

async function show(session: Session): Promise<void> {
  const { out, hint } = session;
  const settings = await session.settings();
  const { pool } = await session.openLedger();
  const { needs, running, next, unscheduled, paused, accounts, targets } = await statusOf(pool, settings);

  out.say(needs.length === 0 ? styled('good', 'Nothing needs a person.') : styled('warn', 'Needs a person:'));
  for (const { what, why, since, command } of needs)
    out.say(`  ${what}${since === null ? '' : `, since ${formatTime(since)}`}: ${why}`, `      ${hint(command)}`);
  section(
    session,
    'Running now',
    ['RUN', 'SYNC', 'STATUS', 'FOR', 'ROWS'],
    running.map((run) => [
      run.run,
      run.title,
      styled(styleOf(run), run.stateWords),
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
    accounts.map(({ account, allowed, suspended, pausedUntil }) => {
      const pause =
        pausedUntil === null ? '' : styled('warn', `waits for the rate limit until ${formatTime(pausedUntil)}`);
      return [account, allowed, suspended === null ? pause : styled('bad', 'suspended')];
    }),
  );
  const starts = next.map(({ sync, at }) => ({ sync, at }));
  out.result({ needs, running, next: starts, unscheduled, paused: [...paused.values()], accounts, targets });
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
