/** The phases of a run in their order: which are over, which one is under way and what it waits for, and which follow. */
import { formatCount, plural } from '../../base/counts.ts';
import { capital } from '../../base/texts.ts';
import { awaitsApproval } from '../../engine/ledger/approval.ts';
import type { RowsLeft } from '../../engine/ledger/rows.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { Throughput } from '../../engine/ledger/views/run-figures.ts';
import { kindOf, phasesOf, phaseWords, watchesFolder } from '../../operator/phase-words.ts';
import type { RunReport } from '../../operator/run-report.ts';
import { Progress, Time } from './parts.tsx';

interface PhasesOf {
  readonly run: Run;
  readonly report: RunReport;
  /** Undefined while the run neither sends nor settles. */
  readonly left: RowsLeft | undefined;
  readonly throughput: Throughput | undefined;
}

export function Phases({ run, report, left, throughput }: PhasesOf) {
  const phases = phasesOf(run);
  const now = run.phase === undefined ? phases.length : phases.indexOf(run.phase);
  const isOver = run.status === 'done';
  const hasStopped = run.status === 'cancelled' && run.phase === undefined;
  return (
    <ol class="phases" aria-label="Phases">
      {phases.map((phase, i) => {
        const step = hasStopped ? 'unknown' : isOver || i < now ? 'over' : i === now ? 'now' : 'next';
        return (
          <li class={`phase ${step}`} aria-current={step === 'now' ? 'step' : undefined}>
            <strong>{capital(phaseWords(phase))}</strong>
            {step === 'now' && <NowWords run={run} report={report} left={left} />}
            {step === 'next' && <span class="dim">{nextWords(report)}</span>}
            {step === 'over' && i === 0 && !watchesFolder(run) && (
              <span class="dim">{plural(run.rowsSeen, 'row')} read</span>
            )}
            {step === 'over' && kindOf({ phase }) === 'sending' && throughput && (
              <span class="dim">
                began <Time at={throughput.startedAt} exact />
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}

function NowWords({ run, report, left }: Omit<PhasesOf, 'throughput'>) {
  const waiting =
    report.state !== 'running' ? (
      <span class="wait">{report.stateWords}</span>
    ) : run.failingSince === undefined ? null : (
      <span class="wait">
        the service has been unavailable since <Time at={run.failingSince} exact />
      </span>
    );
  return (
    <>
      <Doing run={run} left={left} />
      {waiting}
    </>
  );
}

/** How far an unfinished run is in its phase. `before`: words before that. */
export function Doing({ run, left, before = '' }: Pick<PhasesOf, 'run' | 'left'> & { readonly before?: string }) {
  if (run.endedAt !== undefined || watchesFolder(run)) return null;
  if (left === undefined || kindOf(run) !== 'sending') {
    const seen = `${plural(run.rowsSeen, 'row')} ${awaitsApproval(run) ? 'read' : 'so far'}`;
    const why = run.type === 'tasks' ? '' : ': waiting until the service shows what it applied';
    const words = left ? `${formatCount(left.toSettle)} to settle${why}` : seen;
    return <span class="dim">{before + words}</span>;
  }
  const all = run.rowsSettled + left.toSend;
  const words = `${before}${formatCount(run.rowsSettled)} of ${formatCount(all)}`;
  return all === 0 ? null : <Progress share={run.rowsSettled / all} words={words} />;
}

/** A load is planned again after its first orders were approved and written. */
function nextWords({ counts: { created, updated } }: RunReport): string {
  const written = created + updated;
  return written === 0 ? 'not begun' : `done for ${plural(written, 'row')}, not begun for the others`;
}
