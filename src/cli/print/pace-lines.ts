/** Describes how this process used the budget of a key. */
import { formatCount, plural } from '../../base/counts.ts';
import { type BudgetStats, LANES } from '../../client/budget/budget.ts';
import { formatRate } from '../../operator/format.ts';

/** One line, or none if no call waited and no rate was learnt. */
export function paceLines(stats: BudgetStats): readonly string[] {
  const parts = [waited(stats), learnt(stats), repeated(stats)].filter((part) => part !== '');
  return parts.length === 0 ? [] : [`The budget, in this process: ${parts.join('; ')}.`];
}

function waited({ waits }: BudgetStats): string {
  const lanes = LANES.flatMap((lane) => {
    const { p50Ms, p99Ms } = waits[lane];
    if (p50Ms === undefined || p99Ms === undefined || p99Ms < 1) return [];
    return [`${formatWait(p50Ms)} in the ${lane} lane (1 call in 100 waited ${formatWait(p99Ms)} or more)`];
  });
  return lanes.length === 0 ? '' : `the median wait of a call was ${lanes.join(' and ')}`;
}

/** The rate is shared: another process may have learnt it. */
function learnt({ learntPerSecond, limited }: BudgetStats): string {
  if (learntPerSecond === undefined) return '';
  const how = limited === 0 ? '' : `, which asked ${plural(limited, 'time')} to slow down`;
  return `the key is now limited to ${formatRate(learntPerSecond)}, a rate learnt from the service${how}`;
}

function repeated({ retries }: BudgetStats): string {
  if (retries.granted + retries.empty === 0) return '';
  const postponed = retries.empty === 0 ? '' : `, ${formatCount(retries.empty)} postponed`;
  return `${plural(retries.granted, 'call')} retried${postponed}`;
}

function formatWait(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
