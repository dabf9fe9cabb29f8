/** What a run would do, before a person approves it, and what a load would do, after a dry run. */
import { countMissing } from '../engine/ledger/matching/missing-customers.ts';
import { countShownUpdates } from '../engine/ledger/matching/shown-writes.ts';
import { type Counts, countRows } from '../engine/ledger/rows.ts';
import type { Run } from '../engine/ledger/runs.ts';
import type { Settings } from '../settings/settings.ts';
import type { Queryable } from '../storage/queryable.ts';
import { checkpointOf } from '../syncs/orders/load-checkpoint.ts';
import { allowedFor } from './run-report.ts';

export interface RunPlan {
  /** Orders, or customers of a contact sync, to create and to update. */
  readonly creates: number;
  readonly updates: number;
  /** Customers that a load creates first. */
  readonly customers: number;
  /** An estimate. */
  readonly calls: number;
  /** The least time for the calls under the budget; undefined if the budget is not known. */
  readonly leastMs: number | undefined;
  /** Rows in all, and those that it would not write, by verdict: also those that it has written, if only the first were approved. */
  readonly counts: Counts;
}

/** Estimated reads of customers and orders, before the first write and after the last. */
const READS = 3;

export function writesOf({ creates, updates }: Pick<RunPlan, 'creates' | 'updates'>): number {
  return creates + updates;
}

/** Of a run that awaits approval, or of a dry run of a load that is done. Nothing is written yet. */
export async function planOf(db: Queryable, run: Run, settings: Settings): Promise<RunPlan> {
  const all = await countRows(db, run.id);
  const isDryRun = run.status === 'done';
  const isLoad = run.type === 'orders';
  const customers = isLoad ? await countMissing(db, run) : 0;
  const planned = isLoad ? (checkpointOf(run).updates ?? 0) : await countShownUpdates(db, run.id);
  const updates = isDryRun ? all.updated : planned;
  const creates = isDryRun ? all.created + all.unknown : all.unknown - updates;
  const calls = creates + updates + customers + (customers > 0 ? 2 * READS : READS);
  const allowed = allowedFor(run, settings);
  return {
    creates,
    updates,
    customers,
    calls,
    leastMs: allowed === undefined ? undefined : (calls / allowed) * 1_000,
    counts: { ...all, ...(isDryRun && { created: 0, updated: 0 }), unknown: 0 },
  };
}
