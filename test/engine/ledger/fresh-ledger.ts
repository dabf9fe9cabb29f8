/** A ledger for a suite, with runs and rows inserted directly. */
import { thisWorker, type WorkerIdentity } from '../../../src/base/process-identity.ts';
import { type Claim, takeClaim } from '../../../src/engine/ledger/claims.ts';
import { type NewRun, type Run, startRun } from '../../../src/engine/ledger/runs.ts';
import { bindAccount } from '../../../src/engine/ledger/scopes/scopes.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { makeRowsWritable } from '../../support/writable-rows.ts';

export async function freshLedger(): Promise<FreshDatabase> {
  const database = await freshDatabase();
  await makeRowsWritable(database.pool);
  return database;
}

let syncs = 0;

/** Starts a run with a sync and an account of its own, unless given. Their names sort in the order in which they were made. */
export async function aRun({ pool }: FreshDatabase, more: Partial<NewRun> = {}): Promise<Run> {
  const name = `sync-${String(++syncs).padStart(6, '0')}`;
  const begun = await startRun(pool, {
    sync: name,
    type: 'contacts',
    account: name,
    resource: 'customers',
    lane: 'batch',
    dryRun: false,
    options: {},
    phase: 'work',
    ...more,
  });
  if (begun.status === 'busy') throw new Error(`${begun.run.id} blocks the new run`);
  const { account, scope } = begun.run;
  await pool.query('insert into ledger.scopes (id) values ($1) on conflict do nothing', [scope]);
  await bindAccount(pool, account, scope);
  return begun.run;
}

/** Makes a run one that has loaded a file. */
export async function asLoad({ pool }: FreshDatabase, { id, scope }: Run): Promise<void> {
  await pool.query(
    `insert into ledger.loads (run_id, scope, load_id, file_name, sha256, bytes, header, form, receiver, is_received)
     values ($1, $2, $1, 'a.csv', '', 1, '[]', '{}', '{}', true)`,
    [id, scope],
  );
}

/** Members of ledger.rows by their column names. */
export type RowColumns = Readonly<Record<string, unknown>> & { readonly source_id: string };

/** Rows that are ready to be imported, unless given otherwise. */
export async function putRows({ pool }: FreshDatabase, run: Run, rows: readonly RowColumns[]): Promise<void> {
  const whole = rows.map((row, i) => ({
    run_id: run.id,
    n: i,
    sends: 0,
    state: row.verdict === undefined ? 'ready' : 'settled',
    action: 'import',
    fields: {},
    ...row,
  }));
  await makeRowsWritable(pool);
  await pool.query(`insert into ledger.rows select * from jsonb_populate_recordset(null::ledger.rows, $1)`, [
    JSON.stringify(whole),
  ]);
  await pool.query('update ledger.runs set rows_seen = rows_seen + $2 where id = $1', [run.id, rows.length]);
}

export function readyRows(count: number): RowColumns[] {
  return Array.from({ length: count }, (_, i) => ({ source_id: String(i + 1) }));
}

/** All columns of the run's rows, in their order. */
export async function rowsOf({ pool }: FreshDatabase, run: Run): Promise<readonly Record<string, unknown>[]> {
  const found = await pool.query('select * from ledger.rows where run_id = $1 order by n', [run.id]);
  return found.rows;
}

export const WORKER = thisWorker('test');

export interface ClaimHow {
  readonly kind?: 'shared' | 'exclusive';
  readonly worker?: WorkerIdentity;
  readonly ttlMs?: number;
}

/** An active claim. */
export async function claimOn(
  { pool }: FreshDatabase,
  run: Run,
  { kind = 'shared', worker = WORKER, ttlMs = 30_000 }: ClaimHow = {},
): Promise<Claim> {
  const claim = await takeClaim(pool, run.id, worker, { kind, ttlMs });
  if (!claim) throw new Error('no claim was given');
  return claim;
}
