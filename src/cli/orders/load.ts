/** Performs `orders load`: receives the file, shows how it is understood and what is planned, and follows the load. */
import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { plural } from '../../base/counts.ts';
import { sentenceFor } from '../../base/reasons/reasons.ts';
import type { Lane } from '../../client/budget/budget.ts';
import type { ResultKind } from '../../csv/result-files.ts';
import { approveRun, awaitsApproval } from '../../engine/ledger/approval.ts';
import { resumeRun } from '../../engine/ledger/run-status.ts';
import { type Run, readRun } from '../../engine/ledger/runs.ts';
import { prunedNote } from '../../operator/format.ts';
import { hintsFor } from '../../operator/hints.ts';
import { reportRun } from '../../operator/run-report.ts';
import { countsLine, plannedWord } from '../../operator/run-words.ts';
import { checkedWords } from '../../operator/sheet-words.ts';
import { isHeld } from '../../syncs/orders/load-approval.ts';
import { notDoneAsAsked, type OrdersOptions } from '../../syncs/orders/options.ts';
import { type FileLoad, type ReceivedLoad, receiveLoad } from '../../syncs/orders/receive-load.ts';
import { writeResults } from '../../syncs/orders/results.ts';
import { askForApproval } from '../ask-approval.ts';
import { type ExitCode, exitCodeOf } from '../errors.ts';
import { savedPlan } from '../plan-file.ts';
import { planLines } from '../print/plan-lines.ts';
import { problemLines } from '../print/problem-lines.ts';
import { sheetLines } from '../print/sheet-lines.ts';
import type { Session } from '../session.ts';
import { thisPerson } from '../this-person.ts';
import { auditDue, leaveToWorker, STOP_WORDS, type WorkHow, withViolations, workAndReport } from '../work-on-run.ts';
import type { Workspace } from '../workspace/open-workspace.ts';

export interface LoadRequest {
  readonly account: string;
  readonly choices: FileLoad['choices'];
  readonly dryRun?: boolean;
  readonly yes?: boolean;
  readonly existing: OrdersOptions['existing'];
  readonly createCustomers?: boolean;
  /** An absolute path. */
  readonly results?: string;
  readonly again?: boolean;
  /** Asks for approval if more rows than this would be written, even with `yes`. */
  readonly approveAbove?: number;
  /** An absolute path: the load is a dry run, which saves its plan there. */
  readonly plan?: string;
  readonly detach?: boolean;
  readonly lane?: Lane;
}

export async function loadFile(session: Session, source: string, request: LoadRequest): Promise<ExitCode> {
  const { out } = session;
  const signal = session.untilStopped(STOP_WORDS);
  const workspace = await session.openWorkspace();
  const isAsked = request.yes !== true && !isDry(request) && request.detach !== true && session.canAsk;
  const received = await takeIn(session, workspace, source, request, { isAsked, signal });
  out.live('');
  tellBegun(session, received, source, request);
  const { run } = received.begun;
  if (received.begun.status === 'finished') return reportFinished(session, workspace, run, request, signal);
  if (request.detach === true) return leaveToWorker(session, workspace, run);
  await resumeStopped(workspace, run);
  return workAndReport(session, workspace, run, {
    signal,
    isOurs: received.begun.status === 'new',
    ...confirming(session, workspace, { isAsked, signal }),
    toldNotes: received.notes,
    results: async (ended) => {
      if (ended.dryRun && ended.status === 'done')
        out.say('', ...(await planLines(workspace.database.pool, ended, workspace.settings, out.columns)));
      const files = await resultsOf(session, workspace, ended, request.results);
      return request.plan === undefined
        ? files
        : { ...files, ...(await savedPlan(session, workspace, ended, request.plan)) };
    },
  });
}

/** How a command follows a load: it shows the plan, with the rows that are not valid, and asks. */
export function confirming(
  session: Session,
  workspace: Workspace,
  how: { readonly isAsked: boolean; readonly signal: AbortSignal },
): Pick<WorkHow, 'told' | 'onPaused'> {
  let hasShownPlan = false;
  return {
    told: () => (hasShownPlan ? ['invalid'] : []),
    onPaused: (paused) => {
      hasShownPlan = true;
      return confirmLoad(session, workspace, paused, how);
    },
  };
}

/**
 * Approves a load that waits for approval: a person does after seeing the plan, or the command does if it may not ask, unless
 * the load has more writes than its guard allows.
 */
async function confirmLoad(
  session: Session,
  workspace: Workspace,
  paused: Run,
  { isAsked, signal }: { isAsked: boolean; signal: AbortSignal },
): Promise<'continue' | 'leave'> {
  if (!awaitsApproval(paused)) return 'leave';
  const { pool } = workspace.database;
  const isHeldBack = await isHeld(pool, paused);
  session.out.say('', ...(await planLines(pool, paused, workspace.settings, session.out.columns)));
  const report = await reportRun(pool, paused, workspace.settings);
  session.out.say(...(await problemLines(pool, report, hintsFor(session.hint, paused), ['invalid'])));
  if (isAsked || (isHeldBack && session.canAsk)) return askForApproval(session, workspace, paused, signal);
  return !isHeldBack && (await approveRun(pool, paused, thisPerson())) ? 'continue' : 'leave';
}

async function takeIn(
  { out, dataDir }: Session,
  workspace: Workspace,
  source: string,
  request: LoadRequest,
  { isAsked, signal }: { isAsked: boolean; signal: AbortSignal },
): Promise<ReceivedLoad> {
  const account = await workspace.accounts.open(request.account);
  const { pool } = workspace.database;
  return receiveLoad(pool, {
    account,
    source,
    choices: request.choices,
    presetsDir: workspace.settings.presets,
    options: {
      existing: request.existing,
      createCustomers: request.createCustomers === true,
      confirm: isAsked,
      approveAbove: request.approveAbove,
      ...(request.plan !== undefined && { savePlan: true }),
    },
    lane: request.lane,
    dryRun: isDry(request),
    salt: request.again === true ? randomUUID() : undefined,
    spoolDir: path.join(dataDir, 'received'),
    signal,
    onSheet: (sheet, received) => out.say(...sheetLines(sheet, received)),
    onWaiting: () => out.live('another process is reading the same file · waiting to join it'),
    onProgress: (rows) => out.live(`checking · ${plural(rows, 'row')}`),
  });
}

/** Names the requested options with which the earlier load was not made. */
function changedOptions(run: Run, { existing, createCustomers = false }: LoadRequest): string {
  const changes = notDoneAsAsked(run, { existing, createCustomers });
  return changes.length === 0 ? '' : ` It was loaded without ${changes.join(' and ')}: add --again for that.`;
}

function tellBegun(
  { out, hint }: Session,
  { begun, rows, lines, warnings, notes }: ReceivedLoad,
  source: string,
  request: LoadRequest,
): void {
  const { run } = begun;
  const name = source === '-' ? 'stdin' : path.basename(source);
  if (begun.status === 'unfinished') out.say(`Run ${run.id}, which loads ${name}, is unfinished: joining it.`);
  else if (begun.status === 'finished')
    out.say(
      `${name} was loaded before, as run ${run.id} (${hint(`runs show ${run.id}`)}): nothing is created. --again checks every row again.${changedOptions(run, request)}`,
    );
  else out.say(`${checkedWords({ rows, lines })}; the load is run ${run.id}.`);
  if (warnings.length > 0)
    out.say('', 'Check these rows:', ...warnings.map(({ code, facts }) => `  ${code}  ${sentenceFor(code, facts)}`));
  out.say(...notes.map((note) => `Note: ${note}.`));
}

/** Resumes a paused or failed load, unless it waits for approval. */
async function resumeStopped({ database }: Workspace, { id }: Run): Promise<void> {
  const run = await readRun(database.pool, id);
  if (awaitsApproval(run)) return;
  if (run.status === 'paused' || run.status === 'failed') await resumeRun(database.pool, id);
}

function isDry({ dryRun, plan }: LoadRequest): boolean {
  return dryRun === true || plan !== undefined;
}

/** Reports a load that was done before. */
export async function reportFinished(
  session: Session,
  workspace: Workspace,
  run: Run,
  { results, detach, dryRun = false }: Pick<LoadRequest, 'results' | 'detach' | 'dryRun'>,
  signal: AbortSignal,
): Promise<ExitCode> {
  const violations = detach === true ? [] : await auditDue(session, workspace, { ...run, dryRun }, signal);
  const { pool } = workspace.database;
  const report = await reportRun(pool, await readRun(pool, run.id), workspace.settings); // an audit may have changed its counts
  session.out.say(`Its rows: ${countsLine(report)}.`);
  const files = await resultsOf(session, workspace, run, results);
  session.out.result({
    ...report,
    results: files,
    violations: violations.length > 0 ? violations : undefined,
    loadedBefore: true,
  });
  return withViolations(exitCodeOf(report), violations); // the exit code of the first time, because the caller may have missed it
}

/** Writes the files of results, if a directory is given; returns their paths by kind. */
export async function resultsOf(
  { out, hint }: Session,
  { database }: Workspace,
  run: Run,
  dir: string | undefined,
): Promise<Readonly<Record<string, string>>> {
  if (dir === undefined) {
    out.say(`To export every row with its result: ${hint(`runs export ${run.id} --out FILE`)}, or add --results DIR.`);
    return {};
  }
  const files = await writeResults(database.pool, run.id, { dir });
  const wordsOf = (kind: ResultKind): string => {
    if (kind === 'results') return 'with results';
    if (kind === 'unknown') return 'sent, not confirmed';
    if (kind === 'unprocessed') return 'not sent';
    return plannedWord(kind, run.dryRun) ?? kind;
  };
  for (const { kind, path: file, rows } of files) out.say(`${plural(rows, 'line')} ${wordsOf(kind)}: ${file}`);
  out.say(...prunedNote(run));
  return Object.fromEntries(files.map(({ kind, path: file }) => [kind, file]));
}
