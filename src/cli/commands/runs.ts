/** `lockstep runs …`: lists runs, and shows, cancels, resumes, retries or exports one. */
import { type Command, Option } from 'commander';
import { LockstepError } from '../../base/errors.ts';
import { VERDICTS, type Verdict } from '../../engine/ledger/rows.ts';
import { listRuns } from '../../engine/ledger/run-list.ts';
import { endRun, type Run, type RunStatus, readRun, resumeRun } from '../../engine/ledger/runs.ts';
import { readLoad } from '../../syncs/orders/begin.ts';
import { reopenLoad } from '../../syncs/orders/reopen.ts';
import { carryAndReport, STOP_WORDS } from '../carry.ts';
import { styled } from '../colour.ts';
import { type ExitCode, FAILED, wrongUse } from '../errors.ts';
import { reportRun } from '../run-result.ts';
import type { RunState } from '../run-state.ts';
import { countsLine, STYLE_OF } from '../run-summary.ts';
import type { Perform, Session } from '../session.ts';
import type { Workspace } from '../wire.ts';
import { formatCount, formatTime, formatTook, plural, prunedNote } from '../words.ts';
import { toTime, wholeNumber } from './arguments.ts';
import { startOrJoin } from './run.ts';
import { addExport } from './runs-export.ts';
import { addShow } from './runs-show.ts';

const DEFAULT_LIMIT = 20;

export function define(runs: Command, perform: Perform): void {
  runs
    .description(
      'Lists the newest runs. Every run and every row is in the ledger: you can show a run, cancel it, resume it where it ' +
        'stopped, retry it, or export its rows.',
    )
    .option('--limit <n>', 'how many to list', wholeNumber, DEFAULT_LIMIT)
    .option('--sync <name>', 'only runs of this sync, or of this file')
    .addOption(new Option('--status <status>', 'only runs with this status').choices(STATES))
    .option('--since <time>', 'started since this time: 2026-11-21, 2026-11-21T02:00Z, or 2h for two hours ago', toTime)
    .addOption(new Option('--verdict <verdict>', 'only runs with rows of this verdict').choices(VERDICTS))
    .option('--all', 'list each run; otherwise successive runs of a sync that found nothing new share a line')
    .addHelpText(
      'after',
      `
Examples:
  $ lockstep runs
  $ lockstep runs --status failed --since 24h
  $ lockstep runs show
  $ lockstep runs show run-261121-0200-1a2b3c
  $ lockstep runs show run-261121-0200-1a2b3c --row 17
  $ lockstep runs export run-261121-0200-1a2b3c --verdict review --out review.csv`,
    )
    .action(perform(list));
  addShow(runs, perform);
  addCancel(runs, perform);
  addResume(runs, perform);
  addRetry(runs, perform);
  addExport(runs, perform);
}

function addCancel(runs: Command, perform: Perform): void {
  runs
    .command('cancel')
    .summary('end an unfinished run for good')
    .description(
      'Ends an unfinished run for good: nothing more is sent. The next run of the sync reads before it writes, so it finds ' +
        'the records that were being sent when the run was cancelled.',
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
        'exit codes. Settled rows are not sent again.',
    )
    .argument('<run>', 'id of the run')
    .action(perform(resume));
}

function addRetry(runs: Command, perform: Perform): void {
  runs
    .command('retry')
    .summary('retry the rows of a run that failed')
    .description(
      'Retries the rows of a run that failed, and follows the run as `run` does. For a sync, Lockstep starts a new run with ' +
        'the current settings, which retries rows that were refused or not settled. For a load of orders, Lockstep opens ' +
        'the same run again, for exactly the rows that failed. Rows that succeeded are not sent again.',
    )
    .argument('<run>', 'id of the earlier run')
    .action(perform(retry));
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
  const entries = await listRuns(pool, limit, { ...filter, fold, ...(status && { status: STATUS_OF[status] }) });
  const reports = [];
  for (const { run, folded, since } of entries) {
    const report = await reportRun(pool, run, settings);
    if (status !== undefined && status !== report.state && status !== report.status) continue;
    reports.push({
      ...report,
      title: run.title,
      startedAt: run.createdAt,
      endedAt: run.endedAt ?? null,
      folded,
      since,
    });
  }
  const rows = reports.map((report) => [
    report.run,
    report.dryRun ? `${report.title} (dry)` : report.title,
    formatTime(report.startedAt),
    formatTook(report.durationMs),
    styled(STYLE_OF[report.state], report.stateWords),
    formatCount(report.counts.in),
    report.folded === 1
      ? countsLine(report)
      : `nothing new, nor in ${plural(report.folded - 1, 'run')} before it since ${formatTime(report.since)}`,
  ]);
  const titles = ['RUN', 'SYNC', 'STARTED', 'TOOK', 'STATUS', 'ROWS', 'OF THESE'];
  const isFiltered = status !== undefined || Object.values(filter).some((value) => value !== undefined);
  const none = isFiltered ? 'No run matches.' : `There is no run yet. Start one with: ${session.hint('run SYNC')}`;
  out.table(titles, rows, { right: [3, 5], none });
  out.result({ runs: reports.map(({ folded: _, since: __, ...report }) => report) });
}

/** The stored status of runs in a state. */
const STATUS_OF: Readonly<Record<RunState, RunStatus>> = {
  queued: 'running',
  running: 'running',
  interrupted: 'running',
  waiting: 'running',
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
  const run = await readRun(pool, id);
  if (!(await endRun(pool, id, 'cancelled'))) throw alreadyEnded(run, 'There is nothing to cancel.');
  session.out.say(`Run ${id} is cancelled: nothing more is sent.`);
  session.out.result(await reportRun(pool, await readRun(pool, id), await session.settings()));
}

async function resume(session: Session, id: string): Promise<ExitCode> {
  const signal = session.untilStopped(STOP_WORDS);
  const workspace = await session.openWorkspace();
  const { pool } = workspace.database;
  const before = await readRun(pool, id);
  if (before.status === 'done' || before.status === 'cancelled') {
    throw alreadyEnded(before, `Start a new run of its sync with: ${session.hint(`runs retry ${id}`)}`);
  }
  await workspace.accounts.open(before.account);
  const load = await readLoad(pool, id);
  if (load?.isReceived === false) {
    const message = `The file ${load.fileName} of run ${id} was not read to its end, so nothing was sent. Load it again with the same command: ${session.hint(`orders load FILE --account ${before.account}`)}`;
    throw new LockstepError('LOAD_NOT_RECEIVED', message, { exitCode: FAILED });
  }
  if (before.status !== 'running' && !(await resumeRun(pool, id))) {
    const message = `Run ${id} cannot be resumed: a newer run of the same sync, or one that writes the same ${before.resource}, is unfinished. See: ${session.hint('runs')}`;
    throw new LockstepError('RUN_IN_THE_WAY', message, { exitCode: FAILED });
  }
  session.out.say(`Resuming run ${id} of ${before.title}.`);
  return carryAndReport(session, workspace, await readRun(pool, id), { signal, isOurs: true });
}

async function retry(session: Session, id: string): Promise<ExitCode> {
  const signal = session.untilStopped(STOP_WORDS);
  const workspace = await session.openWorkspace();
  const { pool } = workspace.database;
  const earlier = await readRun(pool, id);
  const { sync, lane, dryRun, partOf } = earlier;
  if (partOf !== undefined) {
    throw wrongUse(
      `Run ${id} is a part of run ${partOf}. Retry that run: ${session.hint(`runs retry ${partOf}`)}`,
      'RUN_IS_PART',
    );
  }
  if (await readLoad(pool, id)) return retryLoad(session, workspace, earlier, signal);
  const { run, isOurs } = await startOrJoin(session, workspace, sync, { lane, dryRun });
  if (isOurs)
    session.out.say('It retries rows that were refused or not settled. Rows that succeeded are not sent again.');
  return carryAndReport(session, workspace, run, { signal, isOurs });
}

/** Reopens a load for the rows that failed, and follows it. */
async function retryLoad(
  session: Session,
  workspace: Workspace,
  { id, status, dryRun, title, rowsPruned }: Run,
  signal: AbortSignal,
): Promise<ExitCode> {
  const { pool } = workspace.database;
  const { hint, out } = session;
  if (status === 'running' || status === 'paused') {
    throw wrongUse(`Run ${id} is unfinished. Resume it with: ${hint(`runs resume ${id}`)}`, 'RUN_UNFINISHED');
  }
  if (dryRun) throw wrongUse(`Run ${id} was a dry run: nothing was sent, so nothing has failed.`, 'RUN_WAS_DRY');
  const againSince = new Date();
  const rows = await reopenLoad(pool, id);
  if (rows === 0 && rowsPruned > 0) {
    const message = `The rows of run ${id} were deleted because of their age. Load its file again with --again: orders that exist are found, not created twice`;
    throw wrongUse(message, 'ROWS_DELETED');
  }
  if (rows === 0) throw wrongUse(`Nothing failed in run ${id}: there is nothing to retry.`, 'NOTHING_FAILED');
  out.say(`Run ${id} of ${title} is open again: ${plural(rows, 'row')} to retry.`, ...prunedNote({ rowsPruned }));
  return carryAndReport(session, workspace, await readRun(pool, id), { signal, isOurs: true, againSince });
}

function alreadyEnded(run: Run, remedy: string): Error {
  const words = {
    done: 'is done',
    failed: 'has failed',
    cancelled: 'was cancelled',
    running: 'is running',
    paused: 'is paused',
  };
  return wrongUse(`Run ${run.id} ${words[run.status]}. ${remedy}`, 'RUN_ENDED');
}
