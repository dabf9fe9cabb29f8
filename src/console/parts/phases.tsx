/** The phases of a run in their order: which are over, which one is under way and what it waits for, and which follow. */
import { formatCount, plural } from '../../base/counts.ts';
import { capital } from '../../base/texts.ts';
import { awaitsApproval } from '../../engine/ledger/approval.ts';
import type { Audit } from '../../engine/ledger/audit-debts.ts';
import type { RowsLeft } from '../../engine/ledger/rows.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { BudgetMinute } from '../../engine/ledger/scopes/budget-minutes.ts';
import type { PhaseTimes } from '../../engine/ledger/views/run-phases.ts';
import { formatTook } from '../../operator/format.ts';
import { phaseKind, phasesOf, phaseWords, settledWords, waitsOf, watchesFolder } from '../../operator/phase-words.ts';
import type { RunReport } from '../../operator/report.ts';
import { Progress, Time } from './parts.tsx';

interface PhasesOf {
  readonly run: Run;
  readonly report: RunReport;
  /** Undefined while the run neither sends nor settles. */
  readonly left: RowsLeft | undefined;
  readonly times: readonly PhaseTimes[];
  /** Of the account's budget, while the run sent. */
  readonly minutes: readonly BudgetMinute[];
  /** Of its account; undefined if the settings do not have it. */
  readonly settleMs: number | undefined;
}

/** A shorter wait for the budget is not worth a line. */
const LEAST_WAIT_MS = 50;

export function Phases({ run, report, left, times, minutes, settleMs }: PhasesOf) {
  const phases = phasesOf(run, times);
  return (
    <ol class="phases" aria-label="Phases">
      {phases.map((phase, i) => {
        const time = times.find((one) => one.phase === phase);
        const step = stepOf(run, { phases, times, at: i });
        return (
          <li class={`phase ${step}`} aria-current={step === 'now' ? 'step' : undefined}>
            <strong>{capital(phaseWords(phase))}</strong>
            {step === 'now' && <NowWords {...{ run, report, left, settleMs }} />}
            {step === 'next' && <span class="dim">{nextWords(report)}</span>}
            {step === 'left-out' && <span class="dim">{run.status === 'done' ? 'not needed' : 'not begun'}</span>}
            {step === 'over' && i === 0 && hasRecords(run) && (
              <span class="dim">{plural(run.rowsSeen, 'row')} read</span>
            )}
            {time && step !== 'next' && <Took time={time} />}
            {time && step !== 'next' && phaseKind({ phase }) === 'sending' && <BudgetWait minutes={minutes} />}
          </li>
        );
      })}
      {report.audit && <AuditPhase audit={report.audit} />}
    </ol>
  );
}

/** An audit reads a list for the rows of other runs; a folder has files. */
function hasRecords(run: Run): boolean {
  return run.type !== 'audit' && !watchesFolder(run);
}

type Step = 'over' | 'now' | 'next' | 'left-out' | 'unknown';

interface At extends Pick<PhasesOf, 'times'> {
  readonly phases: readonly string[];
  readonly at: number;
}

function stepOf({ status, phase }: Run, { phases, times, at }: At): Step {
  const hasStopped = status === 'cancelled' && phase === undefined;
  const hasTimes = times.length > 0; // a run of an earlier version has none
  if ((hasStopped || status === 'done') && hasTimes && !times.some((one) => one.phase === phases[at]))
    return 'left-out';
  if (hasStopped) return 'unknown';
  const now = phase === undefined || status === 'done' ? phases.length : phases.indexOf(phase);
  return at < now ? 'over' : at === now ? 'now' : 'next';
}

/** How long the phase took, and what it waited for. */
function Took({ time }: { readonly time: PhaseTimes }) {
  const isOver = time.workingSince === undefined && time.waits.every(({ since }) => since === undefined);
  return (
    <>
      <span class="dim">
        {isOver && `took ${formatTook(time.workedMs)}, `}began <Time at={time.startedAt} exact />
      </span>
      {waitsOf(time).map((words) => (
        <span class="dim">
          {isOver && 'and '}
          {words}
        </span>
      ))}
    </>
  );
}

function BudgetWait({ minutes }: Pick<PhasesOf, 'minutes'>) {
  const calls = minutes.reduce((sum, one) => sum + one.calls, 0);
  const waitedMs = minutes.reduce((sum, one) => sum + one.waitedMs, 0) / Math.max(1, calls);
  if (waitedMs < LEAST_WAIT_MS) return null;
  return <span class="dim">a call waited {formatTook(waitedMs)} for the budget, on average</span>;
}

/** An audit follows a run that has sent rows again. */
function AuditPhase({ audit: { open, dueAt, violations } }: { readonly audit: Audit }) {
  return (
    <li class={`phase ${open > 0 ? 'next' : 'over'}`}>
      <strong>Audit for second records</strong>
      <span class="dim">
        {open === 0
          ? violations === 0
            ? 'none was found'
            : 'its findings are below'
          : `${plural(open, 'row')} to check`}
        {open > 0 && dueAt && (
          <>
            {dueAt.getTime() > Date.now() ? ' at ' : ', due since '}
            <Time at={dueAt} exact />
          </>
        )}
      </span>
    </li>
  );
}

function NowWords({ run, report, left, settleMs }: Pick<PhasesOf, 'run' | 'report' | 'left' | 'settleMs'>) {
  const waiting =
    report.state !== 'running' ? (
      <span class="wait">{report.stateWords}</span>
    ) : run.failingSince !== undefined ? (
      <span class="wait">
        failing and retried since <Time at={run.failingSince} exact />: the notes say why
      </span>
    ) : report.budget.pausedUntil === undefined ? null : (
      <span class="wait">
        waiting for the rate limit until <Time at={report.budget.pausedUntil} exact />
      </span>
    );
  return (
    <>
      <Doing {...{ run, left, settleMs }} />
      {waiting}
    </>
  );
}

interface DoingProps extends Pick<PhasesOf, 'run' | 'left' | 'settleMs'> {
  readonly before?: string;
}

/** How far an unfinished run is in its phase. `before`: words before that. */
export function Doing({ run, left, settleMs, before = '' }: DoingProps) {
  if (run.endedAt !== undefined || !hasRecords(run)) return null;
  if (left === undefined || phaseKind(run) !== 'sending') {
    const seen = `${plural(run.rowsSeen, 'row')} ${awaitsApproval(run) ? 'read' : 'so far'}`;
    const until = settleMs === undefined ? '' : `, ${settledWords(settleMs)}`;
    const why = run.type === 'tasks' ? '' : `: waiting until the service shows what it applied${until}`;
    const words = left ? `${formatCount(left.toSettle)} to settle${why}` : seen;
    return <span class="dim">{before + words}</span>;
  }
  const { planned, toSend } = left;
  const words = `${before}${formatCount(planned - toSend)} of ${formatCount(planned)}`;
  return planned === 0 ? null : <Progress share={(planned - toSend) / planned} words={words} />;
}

/** A load is planned again after its first orders were approved and written. */
function nextWords({ counts: { created, updated } }: RunReport): string {
  const written = created + updated;
  return written === 0 ? 'not begun' : `done for ${plural(written, 'row')}, not begun for the others`;
}
