/** Describes what a planned load will do, before a person is asked to approve it, and after a dry run. */
import { formatCount, plural } from '../../base/counts.ts';
import { visible } from '../../base/visible.ts';
import { type SampleOrder, stagedSample } from '../../engine/ledger/matching/staged-orders.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import { formatAmount, formatTook } from '../../operator/format.ts';
import { planOf, writesOf } from '../../operator/run-plan.ts';
import { countsLine } from '../../operator/run-words.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { table } from './output.ts';

const SAMPLES = 5;

/** Counts by verdict, the calls it takes, and how long they take under the budget. Nothing is written yet. */
export async function planLines(
  db: Queryable,
  run: Run,
  settings: Settings,
  columns = Number.POSITIVE_INFINITY,
): Promise<readonly string[]> {
  const plan = await planOf(db, run, settings);
  const { creates, updates, customers, calls, leastMs, counts } = plan;
  const took =
    leastMs === undefined || leastMs < 1_000 ? '' : `; with this budget they take at least ${formatTook(leastMs)}`;
  const planned = [
    ...(customers > 0 ? [`${plural(customers, 'customer')} to create first`] : []),
    ...(creates > 0 ? [`${plural(creates, 'order')} to create`] : []),
    ...(updates > 0 ? [`${creates > 0 ? formatCount(updates) : plural(updates, 'order')} to update`] : []),
  ];
  const others = counts.in > writesOf(plan) ? `; ${countsLine({ counts })}` : '';
  return [
    `Of ${plural(counts.in, 'row')}: ${planned.join(', ') || 'nothing to write'}${others}.`,
    ...(planned.length > 0 ? [`That takes about ${plural(calls, 'call')}${took}.`] : []),
    ...sampleLines(await stagedSample(db, run.id, SAMPLES), writesOf(plan), columns),
  ];
}

function sampleLines(samples: readonly SampleOrder[], planned: number, columns: number): readonly string[] {
  if (samples.length === 0) return [];
  const rows = samples.map(({ order, amount, customer }) => [
    visible(order),
    amount === null ? '' : formatAmount(amount),
    visible(customer ?? ''),
  ]);
  const more = planned > samples.length ? [`  … and ${formatCount(planned - samples.length)} more`] : [];
  return [
    samples.length < planned ? `The first ${samples.length} orders:` : 'The orders:',
    ...table(['ORDER', 'AMOUNT', 'CUSTOMER'], rows, { right: [1], columns: columns - 2 }).map((line) => `  ${line}`),
    ...more,
  ];
}
