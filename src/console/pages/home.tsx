/** Home: what needs a person first, then what runs, what starts next, the budgets, and the last nights. */
import { formatCount, plural } from '../../base/counts.ts';
import { type RowsLeft, rowsLeft } from '../../engine/ledger/rows.ts';
import { type Run, runningRuns } from '../../engine/ledger/runs.ts';
import { type BudgetMinute, budgetHistory } from '../../engine/ledger/scopes/budget-minutes.ts';
import { latestRun } from '../../engine/ledger/views/run-list.ts';
import { formatTook } from '../../operator/format.ts';
import { accountPath, pageAbout } from '../../operator/page-paths.ts';
import { phaseKind, phaseWords } from '../../operator/phase-words.ts';
import { type Need, type Status, type StatusRun, statusOf } from '../../operator/status.ts';
import { lastNights, NIGHTS, zonesOf } from '../../operator/sync-list.ts';
import { sharedRead } from '../live/shared-reads.ts';
import { definePage, type PageContext } from '../page.ts';
import { LastHour } from '../parts/charts.tsx';
import { Legend, Nights } from '../parts/nights.tsx';
import { addressOf, Chip, Command, Empty, Link, Section, Time } from '../parts/parts.tsx';
import { Doing } from '../parts/phases.tsx';
import { Counts, State } from '../parts/run-counts.tsx';
import { Words } from '../parts/words.tsx';
import { PauseAsked } from './account-parts.tsx';
import { NextStarts } from './next-starts.tsx';

export const home = definePage({
  path: '/',
  async show(context) {
    const { pool, settings } = context;
    const [{ status, running }, hours, nights, latest] = await Promise.all([
      sharedRead(settings, 'home', () => readStatus(context)),
      budgetHistory(pool, Object.keys(settings.accounts), { minutes: 60, stepMinutes: 1 }),
      lastNights(pool, settings),
      latestRun(pool),
    ]);
    const isNew = latest === undefined;
    return {
      title: 'Home',
      tab: 'home',
      command: 'status',
      head: <h1 class="unseen">Home</h1>,
      isBusy: running.length > 0,
      body: (
        <>
          {(!isNew || status.needs.length > 0) && <Needs needs={status.needs} hint={context.hint} />}
          {isNew && <FirstSteps context={context} />}
          {running.length > 0 && (
            <Section title="Running now">
              <ul class="cards">
                {running.map((one) => (
                  <Running {...one} />
                ))}
              </ul>
            </Section>
          )}
          <div class="columns">
            <NextStarts status={status} settings={settings} />
            <Budgets accounts={status.accounts} hours={hours} />
          </div>
          {Object.keys(settings.syncs).length > 0 && !isNew && (
            <Section title={`Last ${NIGHTS} days`} side={<Legend />}>
              <Nights zones={zonesOf(settings)} nights={nights} />
            </Section>
          )}
        </>
      ),
    };
  },
});

async function readStatus(context: PageContext) {
  const [status, progress] = await Promise.all([statusOf(context.pool, context.settings), progressNow(context)]);
  const running = status.running.map(
    (report): RunningRun => ({ report, progress: report.state === 'running' ? progress.get(report.run) : undefined }),
  );
  return { status, running };
}

function FirstSteps({ context: { settings, hint, canAct } }: { readonly context: PageContext }) {
  const [sync] = Object.keys(settings.syncs);
  const [account] = Object.keys(settings.accounts);
  return (
    <Empty title="Nothing has run yet">
      <ol class="steps">
        <li>
          Check that account {account} answers, on <a href={accountPath(account ?? '')}>its page</a> or with a command.
          This only reads:
          <Command line={hint(`doctor --account ${account}`)} />
        </li>
        {sync === undefined ? (
          <li>
            Add a sync to <code>{settings.file}</code>.
          </li>
        ) : (
          <li>
            See what {sync} would write. A dry run writes nothing. Start it on the page <a href="/syncs">Syncs</a>, or
            with:
            <Command line={hint(`run ${sync} --dry-run`)} />
          </li>
        )}
        {canAct && (
          <li>
            Or <a href="/load">load a file of orders</a>: you see what it would write before you approve it.
          </li>
        )}
      </ol>
    </Empty>
  );
}

function Needs({ needs, hint }: { readonly needs: readonly Need[]; readonly hint: PageContext['hint'] }) {
  if (needs.length === 0) {
    return (
      <p class="calm">
        <span class="tick" aria-hidden="true" />
        Nothing needs a person.
      </p>
    );
  }
  return (
    <Section title="Needs attention" side={<span class="count">{formatCount(needs.length)}</span>}>
      <ul class="needs">
        {needs.map(({ event, what, title, why, since, command, about, inReview }) => (
          <li>
            <div class="need-words">
              <p>
                <NeedName what={what} about={about} title={title} />
                {since && (
                  <span class="dim">
                    {' · '}
                    <Time at={since} />
                  </span>
                )}
              </p>
              <p class="why">
                <Words text={why} most={600} />
                {' · '}
                {inReview !== undefined && inReview > 0 ? (
                  <a href={addressOf('/review', { sync: title })}>Review {plural(inReview, 'row')}</a>
                ) : (
                  <a href={pageAbout(about)}>{STEPS[event]}</a>
                )}
              </p>
            </div>
            <Command line={hint(command)} />
          </li>
        ))}
      </ul>
    </Section>
  );
}

/** What a person does about it, on its page. */
const STEPS: Readonly<Record<Need['event'], string>> = {
  'run-failed': 'See why, and what to do',
  'run-paused': 'See why, and what to do',
  'awaits-approval': 'See its plan, and approve it or not',
  'needs-review': 'See its rows, and what to do',
  'audit-violation': 'See the records',
  'no-rows': 'See the run',
  'sync-late': 'See the schedule',
  'account-suspended': 'See how it resumes',
  'service-down': 'See the account',
  'target-disabled': 'See why, and enable it',
  'target-failing': 'See the target',
};

function NeedName({ what, title, about }: Pick<Need, 'what' | 'title' | 'about'>) {
  if (about.kind !== 'run') return <a href={pageAbout(about)}>{what}</a>;
  return (
    <>
      <Link to={pageAbout(about)} text={title} most={80} /> <code class="id">{about.name}</code>
    </>
  );
}

interface Progress {
  readonly run: Run;
  /** Undefined while it neither sends nor settles. */
  readonly left: RowsLeft | undefined;
  readonly settleMs: number | undefined;
}

interface RunningRun {
  readonly report: StatusRun;
  /** Undefined while it waits. */
  readonly progress: Progress | undefined;
}

/** Of each running run, by id. */
async function progressNow({ pool, settings }: PageContext): Promise<ReadonlyMap<string, Progress>> {
  const runs = await runningRuns(pool);
  const left = await Promise.all(
    runs.map((run) => (phaseKind(run) === 'reading' ? undefined : rowsLeft(pool, run.id))),
  );
  const settleMs = ({ account }: Run) => settings.accounts[account]?.budget.settleMs;
  return new Map(runs.map((run, i) => [run.id, { run, left: left[i], settleMs: settleMs(run) }]));
}

function Running({ report, progress }: RunningRun) {
  return (
    <li class="card">
      <div class="card-head">
        <Link id={`running-${report.run}`} to={`/runs/${report.run}`} text={report.title} most={60} />
        <State report={report} />
        <span class="dim">{formatTook(report.durationMs)}</span>
      </div>
      {progress && (
        <div>
          <Doing {...progress} before={`${phaseWords(progress.run.phase)}: `} />
        </div>
      )}
      {report.counts.in > 0 && <Counts report={report} />}
    </li>
  );
}

interface BudgetsProps {
  readonly accounts: Status['accounts'];
  readonly hours: ReadonlyMap<string, readonly BudgetMinute[]>;
}

function Budgets({ accounts, hours }: BudgetsProps) {
  return (
    <Section title="Budgets">
      <table class="list">
        <tbody>
          {accounts.map(({ account, allowed, ratePerSecond, suspended, pausedUntil }) => (
            <tr>
              <th scope="row">
                <a id={`budget-${account}`} href={accountPath(account)}>
                  {account}
                </a>
              </th>
              <td class="rate">
                {suspended !== null && <Chip tone="bad">suspended</Chip>}
                {suspended === null && pausedUntil !== null && <PauseAsked until={pausedUntil} />}
                {suspended === null && pausedUntil === null && allowed}
              </td>
              <td>
                <LastHour minutes={hours.get(account) ?? []} most={ratePerSecond} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Section>
  );
}
