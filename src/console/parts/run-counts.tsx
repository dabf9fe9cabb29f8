/** What lists and pages show of a run: its state, and its rows by verdict. */
import { formatCount } from '../../base/counts.ts';
import { PROBLEMS, VERDICTS, type Verdict } from '../../engine/ledger/rows.ts';
import { isUnfinished } from '../../engine/ledger/runs.ts';
import type { RunReport, RunState } from '../../operator/report.ts';
import { decidedPart, styleOf, type Tone, verdictWords } from '../../operator/run-words.ts';
import { Chip, Time } from './parts.tsx';

/** A run's state, such as `running`. */
export function State({
  report,
}: {
  readonly report: Pick<RunReport, 'state' | 'stateWords' | 'audit' | 'counts' | 'scan'>;
}) {
  const { state, stateWords, audit } = report;
  if (state !== 'auditing' || !audit?.dueAt) return <Chip tone={toneOf(report)}>{stateWords}</Chip>;
  return (
    <Chip tone={toneOf(report)}>
      {audit.dueAt.getTime() > Date.now() ? 'auditing until' : 'audit due since'} <Time at={audit.dueAt} />
    </Chip>
  );
}

const BUSY: readonly RunState[] = ['receiving', 'running', 'auditing'];

function toneOf(report: Parameters<typeof styleOf>[0]): Tone | 'busy' {
  return BUSY.includes(report.state) ? 'busy' : styleOf(report);
}

type Counted = Pick<RunReport, 'counts' | 'status' | 'state' | 'type' | 'dryRun' | 'unsettled' | 'decided'>;

interface Part {
  readonly name: Verdict | 'open';
  readonly words: string;
  readonly count: number;
  readonly isProblem: boolean;
}

/** While a run is unfinished, a row without a verdict is no problem yet. */
function partsOf(report: Counted): readonly Part[] {
  const { counts, unsettled, state } = report;
  const openWords = state === 'awaiting-approval' ? 'awaiting approval' : 'not settled yet';
  const isOpen = isUnfinished(report);
  return VERDICTS.filter((verdict) => counts[verdict] > 0).map((verdict) =>
    isOpen && verdict === 'unknown'
      ? { name: 'open', words: openWords, count: counts[verdict], isProblem: false }
      : {
          name: verdict,
          words: verdict === 'unknown' && unsettled?.sent === 0 ? 'never sent' : wordsOf(verdict, report),
          count: counts[verdict],
          isProblem: PROBLEMS.includes(verdict),
        },
  );
}

function wordsOf(verdict: Verdict, report: Counted): string {
  return verdictWords(verdict, report) + (verdict === 'review' ? decidedPart(report) : '');
}

/** Rows by verdict as one bar; its parts and its words add up to all rows. */
export function CountsBar({ report }: { readonly report: Counted }) {
  let left = 0;
  return (
    <svg class="bar" role="presentation" aria-hidden="true">
      {partsOf(report).map(({ name, count }) => {
        const [x, share] = [left, (count / report.counts.in) * 100];
        left += share;
        return <rect class={`of-${name}`} x={`${x}%`} width={`${share}%`} height="100%" />;
      })}
    </svg>
  );
}

/** `1,790 created, 3 rejected`, each with the colour of the bar. */
export function Counts({ report }: { readonly report: Counted }) {
  const parts = partsOf(report);
  if (parts.length === 0) return <span class="dim">no rows</span>;
  return (
    <span class="counts">
      {parts.map(({ name, words, count, isProblem }) => (
        <span class={isProblem ? 'problem' : undefined}>
          <i class={`dot of-${name}`} />
          {formatCount(count)} {words}
        </span>
      ))}
    </span>
  );
}
