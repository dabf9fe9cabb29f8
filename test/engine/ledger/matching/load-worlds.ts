/** Loads put straight into a ledger, without a file or a service. */
import { endRun } from '../../../../src/engine/ledger/run-status.ts';
import { type Run, readRun } from '../../../../src/engine/ledger/runs.ts';
import { beginLoad, type LoadSpec, releaseLoad } from '../../../../src/syncs/orders/begin-load.ts';
import { type StagedRow, stageRows } from '../../../../src/syncs/orders/staging.ts';
import type { FreshDatabase } from '../../../support/database.ts';

let files = 0;

/** A file of its own, unless given. */
export function aSpec(more: Partial<LoadSpec> = {}): LoadSpec {
  const loadId = (++files).toString(16).padStart(12, '0').padEnd(64, 'a');
  return {
    account: 'test',
    scope: 'test',
    loadId,
    fileName: '/somewhere/orders.csv',
    sha256: loadId,
    bytes: 100,
    header: ['order_id', 'client_id', 'amount'],
    form: { delimiter: ',' },
    options: { existing: 'skip', createCustomers: false, confirm: false },
    lane: 'batch',
    dryRun: false,
    ...more,
  };
}

/** A load that is being received. */
export async function beginNew({ pool }: FreshDatabase, more: Partial<LoadSpec> = {}): Promise<Run> {
  const begun = await beginLoad(pool, aSpec(more));
  if (begun.status !== 'new') throw new Error(`${begun.run.id} blocks the new run`);
  return begun.run;
}

/** A load whose rows are staged, and that is running. */
export async function aLoad(
  database: FreshDatabase,
  rows: readonly StagedRow[] = [],
  more: Partial<LoadSpec> = {},
): Promise<Run> {
  const run = await beginNew(database, more);
  if (rows.length > 0) await stageRows(database.pool, run, rows, 'LS-test');
  await releaseLoad(database.pool, run.id, []);
  return readRun(database.pool, run.id);
}

/** Lines from 2 on, as after a header. */
export function rowsWith(values: readonly NonNullable<StagedRow['values']>[]): StagedRow[] {
  return values.map((one, i) => ({ line: i + 2, cells: Object.values(one).map(String), values: one }));
}

/** The expired claim of a load that no worker works on any more. */
export async function end({ pool }: FreshDatabase, run: Run, how: 'done' | 'failed' | 'cancelled'): Promise<void> {
  await endRun(pool, run.id, how);
}

export type Columns = Readonly<Record<string, unknown>>;

/** `settled rejected ORDER_EXISTS`, or the state alone. */
export function fateOf({ state, verdict, reason }: Columns): string {
  return [state, verdict, reason].filter(Boolean).join(' ');
}
