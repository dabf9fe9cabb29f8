/** `lockstep runs …`: lists runs, and shows, cancels, resumes, retries or exports one. */
import { formatCount, plural } from '../../base/counts.ts';
import { wrongUse } from '../../base/errors.ts';
import { accountOfRun } from '../../engine/account/account-of-run.ts';
import { VERDICTS, type Verdict } from '../../engine/ledger/rows.ts';
import { type RunStatus, readRun } from '../../engine/ledger/runs.ts';
import { savedSchedules } from '../../engine/ledger/schedules.ts';
import { pageOfRuns } from '../../engine/ledger/views/run-list.ts';
import { formatTime, formatTook, prunedNote } from '../../operator/format.ts';
import type { RunState } from '../../operator/report.ts';
import { acknowledgeProblems, cancelRun, reopenRun, requireResumable, retryLoad } from '../../operator/run-actions.ts';
import { reportRun, reportRuns } from '../../operator/run-report.ts';
import { countsLine, styleOf } from '../../operator/run-words.ts';
import { startsOf } from '../../operator/status.ts';
import { didYouMean, quote } from '../../settings/message-parts.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Command } from '../command.ts';
import type { ExitCode } from '../errors.ts';
import { confirming } from '../orders/load.ts';
import { styled } from '../print/colour.ts';
import { rememberRuns } from '../recent-runs.ts';
import type { Perform, Session } from '../session.ts';
import { thisPerson } from '../this-person.ts';
import { STOP_WORDS, workAndReport } from '../work-on-run.ts';
import { toTime, wholeNumber } from './arguments.ts';
import { startOrJoin } from './run.ts';
import { addExport } from './runs-export.ts';
import { addShow } from './runs-show.ts';

const DEFAULT_LIMIT = 20;

export function define(runs: Command, perform: Perform): void {
  runs
    .description(
      'Lists the newest runs with their results. The commands below show a run, cancel it, resume it where it stopped, ' +
        'retry it, or export its rows.',
    )
    .option('--limit <n>', 'how many to list', wholeNumber, DEFAULT_LIMIT)
    .option('--sync <name>', 'only runs of this sync, or of this file')
    .choice('--status <status>', 'only runs with this status', STATES)
    .option('--since <time>', 'started since this time: 2026-11-21, 2026-11-21T02:00Z, or 2h for two hours ago', toTime)
    .choice('--verdict <verdict>', 'only runs with rows of this verdict', VERDICTS)
    .option('--all', 'list each run; otherwise successive runs of a sync that found nothing new share a line')
    .examples(`
  $ lockstep runs
  $ lockstep runs --status failed --since 24h
  $ lockstep runs show
  $ lockstep runs show run-261121-0200-1a2b3c
  $ lockstep runs show run-261121-0200-1a2b3c --row 17
  $ lockstep runs export run-261121-0200-1a2b3c --verdict review --out rows.csv`)
    .action(perform(list));
  addShow(runs, perform);
  addCancel(runs, perform);
  addResume(runs, perform);
  addRetry(runs, perform);
  addAcknowledge(runs, perform);
  addExport(runs, perform);
}

function addCancel(runs: Command, perform: Perform): void {
  runs
    .command('cancel')
    .summary('end an unfinished run')
    .description(
      'Ends an unfinished run: nothing more is sent. A run that waits for approval is declined. The next run of the sync, or ' +
        '`runs retry` of a load, reads before it writes, so it finds the records that were being sent when the run was cancelled.',
    )
    .argument('<run>', 'id of the run')
    .action(perform(cancel));
}

function addResume(runs: Command, perform: Perform): void {
  runs
    .command('resume')
    .summary('resume a run where it stopped')
    .description(
      'Resumes a failed, paused or interrupted run where it stopped, and follows it to the end as `run` does, with the same ' +
        'exit codes. Settled rows are not sent again. A run that waits for approval is approved, and writes what it has shown.',
    )
    .argument('<run>', 'id of the run')
    .option('--plan <name>', 'approve only this plan: `runs show` names the plan that waits for approval')
    .option(
      '--first <orders>',
      'of a load: approve only this many orders now; the load then waits for approval of the others',
      wholeNumber,
    )
    .action(perform(resume));
}

function addRetry(runs: Command, perform: Perform): void {
  runs
    .command('retry')
    .summary('retry the failed rows of a run')
    .description(
      'Retries the failed rows of a run, and follows the run as `run` does. For a sync, Lockstep starts a new run with ' +
        'the current settings, which retries rows that were refused or not settled. For a load of orders, Lockstep opens ' +
        'the same run again, for exactly the rows that failed; a load that was not approved asks again. Rows that succeeded are not sent again.',
    )
    .argument('<run>', 'id of the earlier run')
    .action(perform(retry));
}

function addAcknowledge(runs: Command, perform: Perform): void {
  runs
    .command('acknowledge')
    .summary('leave an ended run out of status and alerts')
    .description(
      'Hides the problems of an ended run from `lockstep status` and alerts, because a person knows them. They are shown again ' +
        'if the run is worked on again, or if an audit finds a violation. Its rows do not change.',
    )
    .argument('<run>', 'id of the run')
    .action(perform(acknowledge));
}

interface ListOptions {
  readonly limit: number;
  readonly sync?: string;
  readonly status?: RunState;
  readonly since?: Date;
  readonly verdict?: Verdict;
  readonly all?: boolean;
}

async function list(session: Session, { limit, status, all, ...filter }: ListOptions): Promise<void> {
  const { out } = session;
  const { pool } = await session.openLedger();
  const settings = await session.settings();
  // JSON lists each run: a script counts them.
  const fold = all !== true && !out.isJson;
  const reports = (await reportsOf(pool, settings, { ...filter, status }, { limit, fold })).slice(0, limit);
  if (reports.length === 0) await requireKnown(pool, settings, filter.sync);
  const rows = reports.map((report) => [
    report.run,
    report.dryRun ? `${report.title} (dry)` : report.title,
    formatTime(report.startedAt),
    formatTook(report.durationMs),
    styled(styleOf(report), report.stateWords),
    formatCount(report.counts.in),
    report.folded === 1
      ? countsLine(report)
      : `nothing new, nor in ${plural(report.folded - 1, 'run')} before it since ${formatTime(report.since)}`,
  ]);
  const titles = ['RUN', 'SYNC', 'STARTED', 'TOOK', 'STATUS', 'ROWS', 'OF THESE'];
  const isFiltered = status !== undefined || Object.values(filter).some((value) => value !== undefined);
  const none = isFiltered ? 'No run matches.' : `There is no run yet. Start one with: ${session.hint('run SYNC')}`;
  out.table(titles, rows, { right: [3, 5], none });
  if (!isFiltered && !out.isJson) out.say(...(await nextStartLines(pool, settings)));
  await rememberRuns(
    session.dataDir,
    reports.map(({ run }) => run),
  );
  out.result({ runs: reports.map(({ folded: _, since: __, ...report }) => report) });
}

/** Reads on until enough runs are in this state, which may be a part of what is stored as one status. */
async function reportsOf(
  db: Queryable,
  settings: Settings,
  { status, ...filter }: Omit<ListOptions, 'limit' | 'all'>,
  { limit, fold }: { readonly limit: number; readonly fold: boolean },
) {
  const wanted = { ...filter, ...(status && { status: STATUS_OF[status] }) };
  const found = [];
  for (let after: string | undefined; found.length < limit; ) {
    const { entries, next } = await pageOfRuns(db, wanted, { limit, after, fold });
    const runs = entries.map(({ run }) => run);
    for (const [i, { run, report }] of (await reportRuns(db, runs, settings)).entries()) {
      if (status !== undefined && status !== report.state && status !== report.status) continue;
      const { title, createdAt: startedAt, endedAt = null } = run;
      const { folded = 1, since = startedAt } = entries[i] ?? {};
      found.push({ ...report, title, startedAt, endedAt, folded, since });
    }
    if (next === undefined) break;
    after = next;
  }
  return found;
}

/** A misspelt name must not read as a sync without runs. @throws LockstepError SETTINGS_NAME_UNKNOWN */
async function requireKnown(db: Queryable, settings: Settings, sync: string | undefined): Promise<void> {
  if (sync === undefined || settings.syncs[sync] !== undefined) return;
  const { entries } = await pageOfRuns(db, { sync }, { limit: 1, fold: false });
  if (entries.length > 0) return;
  const known = didYouMean(sync, Object.keys(settings.syncs));
  throw wrongUse(
    `${quote(sync)} is neither a sync in ${settings.file} nor a file that was loaded${known}`,
    'SETTINGS_NAME_UNKNOWN',
  );
}

/** None if no scheduler makes the starts. */
async function nextStartLines(db: Queryable, settings: Settings): Promise<readonly string[]> {
  if ((await savedSchedules(db)).size === 0) return [];
  const { next, unscheduled } = await startsOf(db, settings);
  const [first] = next;
  return first === undefined || unscheduled.length > 0 ? [] : ['', `Next start: ${first.sync}, ${first.words}`];
}

/** The stored status of runs in a state; a load that waits for another run is paused. */
const STATUS_OF: Readonly<Record<RunState, RunStatus | readonly RunStatus[]>> = {
  receiving: 'paused',
  queued: 'running',
  running: 'running',
  interrupted: 'running',
  waiting: ['running', 'paused'],
  'awaiting-approval': 'paused',
  paused: 'paused',
  auditing: 'done',
  done: 'done',
  failed: 'failed',
  'not-approved': 'cancelled',
  cancelled: 'cancelled',
};

const STATES = Object.keys(STATUS_OF);

async function cancel(session: Session, id: string): Promise<void> {
  const { pool } = await session.openLedger();
  await cancelRun(pool, await readRun(pool, id), thisPerson());
  const { error } = await readRun(pool, id);
  session.out.say(error ?? `Run ${id} is cancelled: nothing more is sent.`);
  session.out.result(await reportRun(pool, await readRun(pool, id), await session.settings()));
}

async function acknowledge(session: Session, id: string): Promise<void> {
  const { pool } = await session.openLedger();
  await acknowledgeProblems(pool, await readRun(pool, id), thisPerson(), session.hint);
  session.out.say(`Run ${id} is acknowledged: status and alerts leave it out.`);
  session.out.result(await reportRun(pool, await readRun(pool, id), await session.settings()));
}

async function resume(
  session: Session,
  id: string,
  { plan, first }: { plan?: string; first?: number },
): Promise<ExitCode> {
  const signal = session.untilStopped(STOP_WORDS);
  const workspace = await session.openWorkspace();
  const { pool } = workspace.database;
  const before = await readRun(pool, id);
  await requireResumable(pool, before, session.hint);
  await accountOfRun(workspace.accounts, before);
  await reopenRun(pool, before, { by: thisPerson(), seen: plan ?? before.planId, first }, session.hint);
  session.out.say(`Resuming run ${id} of ${before.title}.`);
  return workAndReport(session, workspace, await readRun(pool, id), { signal, isOurs: true });
}

async function retry(session: Session, id: string): Promise<ExitCode> {
  const signal = session.untilStopped(STOP_WORDS);
  const workspace = await session.openWorkspace();
  const { pool } = workspace.database;
  const { out, hint } = session;
  const earlier = await readRun(pool, id);
  const againSince = new Date();
  const rows = await retryLoad(pool, earlier, hint);
  if (rows !== undefined) {
    const note = prunedNote(earlier);
    out.say(`Run ${id} of ${earlier.title} is open again: ${plural(rows, 'row')} to retry.`, ...note);
    return workAndReport(session, workspace, await readRun(pool, id), {
      ...{ signal, isOurs: true, againSince },
      ...confirming(session, workspace, { isAsked: session.canAsk, signal }),
    });
  }
  const { sync, lane, dryRun } = earlier;
  const { run, isOurs } = await startOrJoin(session, workspace, sync, { lane, dryRun });
  if (isOurs) out.say('It retries rows that were refused or not settled. Rows that succeeded are not sent again.');
  return workAndReport(session, workspace, run, { signal, isOurs });
}
