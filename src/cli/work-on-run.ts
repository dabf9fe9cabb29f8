/** Works on one run in this process until it ends, shows its progress and reports the result. */
import { formatCount, plural } from '../base/counts.ts';
import { sentenceFor } from '../base/reasons/reasons.ts';
import { startDueAudits } from '../engine/account/audits.ts';
import { NOT_APPROVED } from '../engine/ledger/approval.ts';
import { type Violation, violationsFoundBy } from '../engine/ledger/audit-debts.ts';
import type { Verdict } from '../engine/ledger/rows.ts';
import { failingFor, failRunAndParts } from '../engine/ledger/run-parts.ts';
import { runRemedy } from '../engine/ledger/run-remedy.ts';
import { endRun } from '../engine/ledger/run-status.ts';
import { addNote, noteWords, type Run, readRun } from '../engine/ledger/runs.ts';
import { probeSoon, type Suspension, suspensionOf } from '../engine/ledger/scopes/suspensions.ts';
import { writerBeside } from '../engine/ledger/waiting-runs.ts';
import type { RunReport } from '../operator/report.ts';
import { allowedFor, reportRun } from '../operator/run-report.ts';
import { accountNamed } from '../settings/settings.ts';
import { DONE, DONE_WITH_PROBLEMS, type ExitCode, exitCodeOf, FAILED } from './errors.ts';
import { follow } from './follow.ts';
import { paceLines } from './print/pace-lines.ts';
import { summaryLines } from './print/run-summary.ts';
import { rememberRuns } from './recent-runs.ts';
import type { Session } from './session.ts';
import type { Workspace } from './workspace/open-workspace.ts';

export const STOP_WORDS = 'Finishing calls in flight, then stopping. Press Ctrl-C again to stop at once.';

export interface WorkHow {
  readonly signal: AbortSignal;
  /** Whether this command started the run: if its service is away, such a run fails soon; any other run is left unchanged. */
  readonly isOurs: boolean;
  /** Set if an ended run was reopened: the report shows the time since then. */
  readonly againSince?: Date;
  /** Called when the run has paused; returns `continue` if it resumed the run. */
  readonly onPaused?: (run: Run) => Promise<'continue' | 'leave'>;
  /** Verdicts whose rows this command has listed already. */
  readonly told?: () => readonly Verdict[];
  /** Notes of the run that this command has printed already. */
  readonly toldNotes?: readonly string[];
  /** Writes result files once the run has stopped, and prints their paths; returns the paths by kind. */
  readonly results?: (run: Run) => Promise<Readonly<Record<string, string>>>;
}

/** How long a command that follows a run waits for a service that is away. */
const FOLLOWED_PATIENCE_MS = 5 * 60 * 1000;

/**
 * Works on the run and on the runs that it needs, and on no other run. Returns the run when it ends, when the signal aborts,
 * or when its service is away for too long.
 */
export async function workOnRun(
  { out }: Session,
  workspace: Workspace,
  run: Run,
  { signal, isOurs, toldNotes }: WorkHow,
): Promise<{ run: Run; report: RunReport }> {
  const { pool } = workspace.database;
  const before = await suspensionOf(pool, run.scope);
  await probeSoon(pool, run.scope); // a person started it and may have corrected the key
  const runner = await workspace.work('attended-runs');
  await runner.attend(run);
  const targets = run.dryRun ? [] : targetsOf(run).filter((name) => workspace.settings.targets[name] !== undefined);
  if (targets.length > 0) await workspace.deliver(targets);
  const followed = await follow(run.id, {
    db: pool,
    out,
    allowedPerSecond: allowedFor(run, workspace.settings),
    settleMs: run.type === 'tasks' ? undefined : workspace.settings.accounts[run.account]?.budget.settleMs,
    budget: () => workspace.accounts.budgets().get(run.account),
    signal,
    toldNotes,
    onLook: async (looked) => {
      if (await isServiceAway(workspace, looked, { isOurs })) return 'leave';
      const suspension = await suspensionOf(pool, run.scope);
      const isTryingKey = suspension?.code === 'KEY_REFUSED' && isSame(suspension, before);
      return suspension === undefined || isTryingKey ? 'stay' : 'leave';
    },
  });
  // Settle the calls in flight before the report is made. A paused run may be resumed at once, so its runner stays open.
  if (followed.status !== 'done' && followed.status !== 'paused') await runner.close();
  if (isOurs) await giveUpSuspended(workspace, run.id);
  return reported(workspace, run.id);
}

/** The key was not refused again in between. */
function isSame(suspension: Suspension, before: Suspension | undefined): boolean {
  return suspension.refusedAt.getTime() === before?.refusedAt.getTime();
}

/** The targets to which a run that mirrors tasks delivers changes. */
function targetsOf({ options }: Run): readonly string[] {
  const { targets } = options;
  return Array.isArray(targets) ? targets.filter((name) => typeof name === 'string') : [];
}

/** Works on the run and reports it as text and JSON; returns the exit code. */
export async function workAndReport(
  session: Session,
  workspace: Workspace,
  begun: Run,
  how: WorkHow,
): Promise<ExitCode> {
  await rememberRuns(session.dataDir, [begun.id]);
  if (begun.dryRun) await noteWriterBeside(session, workspace, begun);
  let stopped = await workOnRun(session, workspace, begun, how);
  while (stopped.run.status === 'paused' && (await how.onPaused?.(stopped.run)) === 'continue') {
    stopped = await workOnRun(session, workspace, await readRun(workspace.database.pool, begun.id), how);
  }
  const violations = await auditDue(session, workspace, stopped.run, how.signal);
  stopped = await reported(workspace, begun.id);
  const { run } = stopped;
  const left = leftBehind(run, await suspensionOf(workspace.database.pool, run.scope), session.hint);
  const { out } = session;
  const shown = how.againSince
    ? { ...stopped.report, durationMs: Date.now() - how.againSince.getTime() }
    : stopped.report;
  const notes = run.notes.filter((note) => how.toldNotes?.includes(note) !== true);
  out.say(...(await summaryLines(workspace.database.pool, { ...run, notes }, shown, session.hint, how.told?.())));
  const report = { ...stopped.report, results: (await how.results?.(run)) ?? {} };
  const account = await workspace.accounts.open(run.account).catch(() => undefined); // the run's own error says why
  if (account && session.isVerbose) out.say(...paceLines(account.budgetStats()));
  const error = report.error ?? left;
  if (error) out.complain(`lockstep: ${error.message}`);
  out.result({ ...report, error, violations: violations.length > 0 ? violations : undefined });
  return left ? FAILED : withViolations(exitCodeOf(report), violations);
}

/** Leaves a run to a worker, and prints how to follow it. */
export async function leaveToWorker({ out, hint }: Session, workspace: Workspace, { id }: Run): Promise<ExitCode> {
  out.say(
    `A worker continues it. If none is running, start one: ${hint('start')}`,
    `Check its progress: ${hint(`runs show ${id}`)}`,
  );
  out.result((await reported(workspace, id)).report);
  return DONE;
}

async function reported({ database, settings }: Workspace, id: string): Promise<{ run: Run; report: RunReport }> {
  const run = await readRun(database.pool, id);
  return { run, report: await reportRun(database.pool, run, settings) };
}

/**
 * Once the run is done, makes the audits of its account that are due, and prints the violations that they and the run's own
 * reads found. A dry run makes no audits: its own reads have already checked what they could.
 */
export async function auditDue(
  session: Session,
  workspace: Workspace,
  run: Run,
  signal: AbortSignal,
): Promise<readonly (Omit<Violation, 'facts'> & { readonly detail: string })[]> {
  const { pool } = workspace.database;
  const isAuditing = run.status === 'done' && !run.dryRun && !signal.aborted;
  const audits = isAuditing ? await startDueAudits(pool, [run.account]) : [];
  for (const audit of audits) {
    if (signal.aborted) break;
    const { report } = await workOnRun(session, workspace, audit, { signal, isOurs: true });
    if (report.error) session.out.complain(`lockstep: the audit was not made: ${report.error.message}`);
  }
  const violations = await violationsFoundBy(pool, [run.id, ...audits.map(({ id }) => id)]);
  const told = violations.map(({ facts, ...violation }) => ({
    ...violation,
    detail: sentenceFor(violation.reason, facts),
  }));
  for (const { run: of, label, detail } of told) session.out.complain(`lockstep: run ${of}, ${label}: ${detail}`);
  return told;
}

/** A command that finds a violation exits with DONE_WITH_PROBLEMS, even if the violation is of an earlier run. */
export function withViolations(code: ExitCode, violations: readonly unknown[]): ExitCode {
  return code === DONE && violations.length > 0 ? DONE_WITH_PROBLEMS : code;
}

/** A dry run does not touch an unfinished run; a note says that the plan leaves out the rows which that run will write. */
async function noteWriterBeside({ hint }: Session, { database }: Workspace, run: Run): Promise<void> {
  const other = await writerBeside(database.pool, run);
  if (other === undefined) return;
  const { remedy, command } = runRemedy(other);
  const rows = `${plural(other.settled, 'row')} settled, ${formatCount(other.open)} open`;
  const note = `run ${other.id} of ${other.title} is unfinished (${rows}); this dry run only reads. ${remedy}: ${hint(command)}`;
  await addNote(database.pool, run.id, note);
}

/** The message about a run that has stopped and is not done. */
function leftBehind(run: Run, suspension: Suspension | undefined, hint: Session['hint']): RunReport['error'] {
  switch (run.status) {
    case 'running':
      if (suspension) {
        const { code } = suspension;
        const message = `${suspendedWords(suspension, run)} Run ${run.id} is kept. Then resume it with: ${hint(resumeCommand(run))}, or let a worker do it: ${hint('start')}`;
        return { code, message };
      }
      if (run.failingSince) {
        const message = `Run ${run.id} cannot continue yet: ${lastWords(run)}. It is unfinished; resume it with: ${hint(resumeCommand(run))}, or let a worker do it: ${hint('start')}`;
        return { code: 'SERVICE_AWAY', message };
      }
      return {
        code: 'INTERRUPTED',
        message: `Stopped. Run ${run.id} is kept. Resume it with: ${hint(resumeCommand(run))}, or let a worker do it: ${hint('start')}`,
      };
    case 'paused': {
      const { remedy, command } = runRemedy(run);
      return { code: 'RUN_PAUSED', message: `Run ${run.id} is paused. ${remedy}: ${hint(command)}` };
    }
    case 'cancelled':
      if (run.errorCode === NOT_APPROVED) return { code: NOT_APPROVED, message: 'Not approved: nothing was sent.' };
      return {
        code: 'RUN_CANCELLED',
        message: `Run ${run.id} was cancelled.${isLoad(run) ? '' : ` Start a new run with: ${hint(`run ${run.sync}`)}`}`,
      };
    default:
      return undefined;
  }
}

function suspendedWords({ code, message }: Suspension, { account }: Run): string {
  if (code === 'KEY_REFUSED') return message;
  return `${message} Resume account ${account} with \`lockstep accounts resume ${account}\`.`;
}

/** `run SYNC` joins the unfinished run of the sync; a dry run it would start again from the beginning. */
function resumeCommand(run: Run): string {
  return run.dryRun || isLoad(run) ? `runs resume ${run.id}` : `run ${run.sync}`;
}

/**
 * Whether attempts have failed for too long: the service, Redis or Postgres may be away. A run that this command started then
 * fails: at once if none of its calls ever succeeded (its first read has been retried by then: the address may be wrong).
 */
async function isServiceAway({ database, settings }: Workspace, run: Run, { isOurs }: { isOurs: boolean }) {
  const { pool } = database;
  const lastedMs = await failingFor(pool, run.id);
  const isUnanswered = run.calls === 0 && lastedMs !== undefined;
  if (!isUnanswered && (lastedMs ?? 0) < FOLLOWED_PATIENCE_MS) return false;
  if (!isOurs) return true;
  const { url } = accountNamed(settings, run.account);
  const address = url === undefined ? '' : ` (the address is accounts.${run.account}.url in ${settings.file})`;
  const tried = isUnanswered ? 'No call of this run succeeded' : 'All attempts have failed for 5 minutes';
  const message = `${tried}: ${lastWords(await readRun(pool, run.id))}. Fix that${address} and start the same command again.`;
  await failRunAndParts(pool, run.id, { code: 'SERVICE_AWAY', message });
  return false;
}

function lastWords({ notes }: Run): string {
  return noteWords(notes.at(-1) ?? 'no answer');
}

/** Fails a run whose account was suspended before it wrote anything: there is nothing to resume, and a person sees the error. */
async function giveUpSuspended({ database }: Workspace, runId: string): Promise<void> {
  const run = await readRun(database.pool, runId);
  const suspension = await suspensionOf(database.pool, run.scope);
  if (run.status !== 'running' || !suspension || run.rowsSettled > 0) return;
  await endRun(database.pool, runId, 'failed', {
    code: suspension.code,
    message: suspendedWords(suspension, run),
  });
}

/** A load has no name in the settings: it is resumed by its id. */
function isLoad({ type }: Run): boolean {
  return type === 'orders';
}
