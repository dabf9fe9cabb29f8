/** Describes what a planned load will do, before a person is asked to approve it, and after a dry run. */
import { countMissing } from '../../engine/ledger/matching/missing-customers.ts';
import { countRows } from '../../engine/ledger/rows.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { Settings } from '../../settings/settings.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { checkpointOf } from '../../syncs/orders/load-checkpoint.ts';
import { countsLine } from '../report.ts';
import { allowedFor } from '../run-report.ts';
import { formatCount, formatTook, plural } from '../words.ts';

/** Estimated reads of customers and orders, before the first write and after the last. */
const READS = 3;

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
  const others = counts.in > creates + updates ? `; ${countsLine({ counts: rest, status: run.status })}` : '';
  return [
    `Of ${plural(counts.in, 'row')}: ${planned.join(', ') || 'nothing to write'}${others}.`,
    `That takes about ${plural(calls, 'call')}${took}.`,
  ];
}
