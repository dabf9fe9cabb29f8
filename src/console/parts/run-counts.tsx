/** What lists and pages show of a run: its state, and its rows by verdict. */
import { formatCount } from '../../base/counts.ts';
import { PROBLEMS } from '../../engine/ledger/rows.ts';
import { isUnfinished } from '../../engine/ledger/runs.ts';
import type { RunReport, RunState } from '../../operator/report.ts';
import { type CountPart, countParts, styleOf, type Tone } from '../../operator/run-words.ts';
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

/** While a run is unfinished, a row without a verdict is no problem yet. */
const isOpen = ({ verdict }: CountPart, report: Counted) => verdict === 'unknown' && isUnfinished(report);

const colourOf = (part: CountPart, report: Counted) => `of-${isOpen(part, report) ? 'open' : part.verdict}`;

/** Rows by verdict as one bar; its parts and its words add up to all rows. */
export function CountsBar({ report }: { readonly report: Counted }) {
  let left = 0;
  return (
    <svg class="bar" role="presentation" aria-hidden="true">
      {countParts(report).map((part) => {
        const [x, share] = [left, (part.count / report.counts.in) * 100];
        left += share;
        return <rect class={colourOf(part, report)} x={`${x}%`} width={`${share}%`} height="100%" />;
      })}
    </svg>
  );
}

/** `1,790 created, 3 rejected`, each with the colour of the bar. */
export function Counts({ report }: { readonly report: Counted }) {
  const parts = countParts(report);
  if (parts.length === 0) return <span class="dim">no rows</span>;
  return (
    <span class="counts">
      {parts.map((part) => (
        <span class={PROBLEMS.includes(part.verdict) && !isOpen(part, report) ? 'problem' : undefined}>
          <i class={`dot ${colourOf(part, report)}`} />
          {formatCount(part.count)} {part.words}
        </span>
      ))}
    </span>
  );
}
