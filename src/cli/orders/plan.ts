/** Describes what a planned load will do, before a person is asked to approve it, and after a dry run. */
import { visible } from '../../base/visible.ts';
import { countMissing } from '../../engine/ledger/matching/missing-customers.ts';
import { sampleOrders } from '../../engine/ledger/matching/staged-orders.ts';
import { countRows } from '../../engine/ledger/rows.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { checkpointOf } from '../../syncs/orders/load-checkpoint.ts';
import { table } from '../output.ts';
import { allowedFor } from '../run-result.ts';
import { countsLine } from '../run-summary.ts';
import { formatCount, formatTook, plural } from '../words.ts';

/** Estimated reads of customers and orders, before the first write and after the last. */
const READS = 3;

const SAMPLES = 5;

/** Counts by verdict, the calls it takes, and how long they take under the budget. Nothing is written yet. */
export async function planLines(db: Queryable, run: Run, settings: Settings): Promise<readonly string[]> {
  const counts = await countRows(db, run.id);
  const customers = await countMissing(db, run);
  const updates = run.status === 'done' ? counts.updated : (checkpointOf(run).updates ?? 0);
  const creates = counts.unknown + counts.created + counts.updated - updates;
  const calls = creates + updates + customers + (customers > 0 ? 2 * READS : READS);
  const allowed = allowedFor(run, settings);
  const took = allowed === undefined ? '' : `, at least ${formatTook((calls / allowed) * 1_000)} under the budget`;
  const planned = [
    ...(customers > 0 ? [`${plural(customers, 'customer')} to create first`] : []),
    ...(creates > 0 ? [`${plural(creates, 'order')} to create`] : []),
    ...(updates > 0 ? [`${creates > 0 ? formatCount(updates) : plural(updates, 'order')} to update`] : []),
  ];
  const rest = { ...counts, created: 0, updated: 0, unknown: 0 };
  const others = counts.in > creates + updates ? `; ${countsLine({ counts: rest })}` : '';
  return [
    `Of ${plural(counts.in, 'row')}: ${planned.join(', ') || 'nothing to write'}${others}.`,
    `That takes about ${plural(calls, 'call')}${took}.`,
    ...(await sampleLines(db, run, creates + updates)),
  ];
}

async function sampleLines(db: Queryable, { id }: Run, planned: number): Promise<readonly string[]> {
  const samples = await sampleOrders(db, id, SAMPLES);
  if (samples.length === 0) return [];
  const rows = samples.map(({ order, amount, customer }) => [visible(order), amount ?? '', visible(customer ?? '')]);
  const more = planned > samples.length ? [`  … and ${formatCount(planned - samples.length)} more`] : [];
  return [
    samples.length < planned ? `The first ${samples.length}:` : 'They are:',
    ...table(['ORDER', 'AMOUNT', 'CUSTOMER'], rows, { right: [1] }).map((line) => `  ${line}`),
    ...more,
  ];
}
