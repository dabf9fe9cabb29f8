/**
 * The beginning of a load: creates its run, which waits until the whole file is staged, and stages the file. The same file is
 * the same load: it joins an unfinished load, and an ended load is not loaded again.
 */
import { randomBytes } from 'node:crypto';
import path from 'node:path';
import type pg from 'pg';
import { LockstepError, wrongUse } from '../../base/errors.ts';
import { isGone, thisWorker } from '../../base/process-identity.ts';
import type { Lane } from '../../client/budget/budget.ts';
import { type AppliedPlan, bindToPlan, NOT_APPROVED } from '../../engine/ledger/approval.ts';
import { correctionOf, SILENT_S } from '../../engine/ledger/matching/corrections.ts';
import { copyStaged } from '../../engine/ledger/matching/staged-orders.ts';
import { forgetAllRows } from '../../engine/ledger/retention/forget.ts';
import { type Run, readRun, startRun } from '../../engine/ledger/runs.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { type OrdersOptions, ordersRunOptions } from './options.ts';
import { takenOver } from './staging.ts';

export interface LoadSpec extends Omit<Load, 'isReceived' | 'sample'> {
  readonly account: string;
  readonly scope: string;
  readonly options: OrdersOptions;
  readonly lane: Lane;
  readonly dryRun: boolean;
  /** Whether a load that a person did not approve is found, too; otherwise the file is loaded again. Default: false. */
  readonly staysDeclined?: boolean;
  /** The load whose refused lines the file has, corrected; kept in `form`. */
  readonly corrects?: string;
}

export interface BegunLoad {
  /**
   * `new`: its rows have to be staged; then the load is released. `unfinished`: received whole before, and not ended
   * successfully: follow it, and resume it first if it is paused or has failed. `finished`: nothing is left to do: it is
   * done, or a person did not approve it.
   */
  readonly status: 'new' | 'unfinished' | 'finished';
  readonly run: Run;
}

/** The load as it was received, for its results. */
export interface Load {
  /** Hexadecimal, 16 digits at least: the same for the same account, address, bytes and mapping. */
  readonly loadId: string;
  readonly fileName: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly header: readonly string[];
  /** What is needed to write the results, and what was said about the columns; kept as JSON. */
  readonly form: unknown;
  readonly isReceived: boolean;
  /** Hashes of rows without an order_id (repeated-content.ts). */
  readonly sample: readonly number[];
}

const RECEIVER_ID = randomBytes(4).toString('hex');

/**
 * Begins a load, or finds it. A load that was received only in part is deleted and begun again.
 * @throws LockstepError LOAD_BEING_RECEIVED while another process is staging it, LINES_CORRECTED
 */
export function beginLoad(pool: pg.Pool, spec: LoadSpec): Promise<BegunLoad> {
  return untilBegun(pool, (db) => findOrBegin(db, spec));
}

/**
 * Begins the load that applies the plan of a dry run, from the rows that the dry run has checked; or finds the load of the same
 * file.
 */
export function beginPlannedLoad(pool: pg.Pool, planning: Run, plan: AppliedPlan): Promise<BegunLoad> {
  const { savePlan: _, ...options } = ordersRunOptions.parse(planning.options);
  const { account, scope, lane } = planning;
  const applied = { account, scope, lane, options: { ...options, confirm: false, plan: plan.id }, dryRun: false };
  return untilBegun(pool, async (db) => {
    const load = await loadOf(db, planning.id);
    const found = await findOrBegin(db, { ...load, ...applied });
    if (found?.status !== 'new') return found;
    const { id } = found.run;
    await copyStaged(db, planning.id, id);
    await bindToPlan(db, id, plan);
    await releaseLoad(db, id, load.sample);
    return { status: found.status, run: await readRun(db, id) };
  });
}

/** `begin` returns undefined if another process has begun the load at the same moment: then it is found. */
async function untilBegun(
  pool: pg.Pool,
  begin: (db: pg.PoolClient) => Promise<BegunLoad | undefined>,
): Promise<BegunLoad> {
  return (await inTransaction(pool, begin)) ?? untilBegun(pool, begin);
}

/** Releases the load: all its rows are staged. `sample`: hashes of some. @throws LockstepError LOAD_TAKEN_OVER */
export async function releaseLoad(db: Queryable, runId: string, sample: Load['sample']): Promise<void> {
  const released = await db.query(
    `with received as (
       update ledger.loads set is_received = true, sample = $2 where run_id = $1 and not is_received returning run_id
     )
     update ledger.runs u set status = 'running' from received where u.id = received.run_id and u.status = 'paused'`,
    [runId, sample],
  );
  if (released.rowCount === 0) throw takenOver(runId);
}

/** Forgets the rows of a load that a person cancels while its file is read. It was worked on until its receiver was last seen. */
export async function forgetReceived(db: Queryable, runId: string): Promise<void> {
  await forgetAllRows(db, runId);
  await db.query(
    `update ledger.runs u set attended_at = l.received_at from ledger.loads l where l.run_id = u.id and u.id = $1`,
    [runId],
  );
}

/** Undefined if the run is not a load. */
export async function readLoad(db: Queryable, runId: string): Promise<Load | undefined> {
  const found = await db.query<Load>(
    `select load_id as "loadId", file_name as "fileName", sha256, bytes::float8 as bytes, header, form,
       is_received as "isReceived", sample from ledger.loads where run_id = $1`,
    [runId],
  );
  return found.rows[0];
}

/** @throws LockstepError RUN_IS_NO_LOAD */
export async function loadOf(db: Queryable, runId: string): Promise<Load> {
  const load = await readLoad(db, runId);
  if (load) return load;
  const message = `Run ${runId} is not a load of a file. List the loads with: \`lockstep runs\``;
  throw wrongUse(message, 'RUN_IS_NO_LOAD');
}

/** The last load with this id that was received whole, and that a person did not refuse; undefined if there is none. */
export async function findLoad(db: Queryable, spec: Pick<LoadSpec, 'scope' | 'loadId'>): Promise<Run | undefined> {
  const last = await findLast(db, spec);
  return last?.isReceived ? readRun(db, last.id) : undefined;
}

/** Whether a process reads the file of a load at this moment. */
export async function isBeingReceived(db: Queryable, runId: string): Promise<boolean> {
  const found = await db.query<Pick<Found, 'receiver'>>(
    `select receiver from ledger.loads
     where run_id = $1 and not is_received and received_at + $2 * interval '1 s' > clock_timestamp()`,
    [runId, SILENT_S],
  );
  const [load] = found.rows;
  return load !== undefined && !isGone(load.receiver);
}

/** @throws LockstepError LINES_CORRECTED */
export async function refuseCorrected(db: Queryable, runId: string): Promise<void> {
  await db.query('select 1 from ledger.loads where run_id = $1 for update', [runId]);
  const other = await correctionOf(db, runId);
  if (other === undefined) return;
  const message = `The lines of run ${runId} were corrected already: run ${other} has them. Correct the lines that it refused there. If it waits for approval, you can cancel it instead: \`lockstep runs cancel ${other}\``;
  throw wrongUse(message, 'LINES_CORRECTED');
}

interface Found {
  readonly id: string;
  readonly isReceived: boolean;
  readonly status: Run['status'];
  readonly receiver: unknown;
  readonly silent: boolean;
}

async function findOrBegin(db: Queryable, spec: LoadSpec): Promise<BegunLoad | undefined> {
  const last = spec.dryRun ? undefined : await findLast(db, spec);
  if (last?.isReceived) {
    const hasEnded = last.status === 'done' || last.status === 'cancelled';
    return { status: hasEnded ? 'finished' : 'unfinished', run: await readRun(db, last.id) };
  }
  if (last) await dropHalfReceived(db, last, spec);
  if (spec.corrects !== undefined) await refuseCorrected(db, spec.corrects);
  const run = await createLoad(db, spec);
  return run && { status: 'new', run };
}

async function findLast(
  db: Queryable,
  spec: Pick<LoadSpec, 'scope' | 'loadId' | 'staysDeclined'>,
): Promise<Found | undefined> {
  const found = await db.query<Found>(
    `select u.id, l.is_received as "isReceived", u.status, l.receiver,
       l.received_at + $3 * interval '1 s' < clock_timestamp() as silent
     from ledger.loads l join ledger.runs u on u.id = l.run_id
     where l.scope = $1 and l.load_id = $2 and not u.dry_run
       and (u.phase is not null or u.status = 'done' or ($4 and u.error_code = $5))
     order by u.created_at desc limit 1 for update of l`,
    [spec.scope, spec.loadId, SILENT_S, spec.staysDeclined ?? false, NOT_APPROVED],
  );
  return found.rows[0];
}

async function dropHalfReceived(db: Queryable, last: Found, { fileName }: LoadSpec): Promise<void> {
  const isAtIt = last.status === 'paused' && !last.silent && !isGone(last.receiver);
  if (isAtIt) {
    throw new LockstepError(
      'LOAD_BEING_RECEIVED',
      `Another process is reading ${fileName} at this moment (run ${last.id}). Run the same command again in a moment to join it.`,
      { exitCode: 3 },
    );
  }
  await db.query('delete from ledger.runs where id = $1', [last.id]);
}

/** Undefined if another process has begun it at the same moment. */
async function createLoad(db: Queryable, spec: LoadSpec): Promise<Run | undefined> {
  const { account, scope, lane, dryRun, options, loadId, fileName, sha256, bytes, header, form = null } = spec;
  const name = `orders:${loadId.slice(0, 12)}`;
  const started = { sync: name, resource: name, type: 'orders', phase: 'load-orders', title: path.basename(fileName) };
  const begun = await startRun(db, { ...started, account, scope, lane, dryRun, options });
  if (begun.status === 'busy') return undefined;
  const { id } = begun.run;
  await db.query(`update ledger.runs set status = 'paused' where id = $1`, [id]);
  await db.query(
    `insert into ledger.loads (run_id, scope, load_id, file_name, sha256, bytes, header, form, receiver)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [id, scope, loadId, fileName, sha256, bytes, JSON.stringify(header), JSON.stringify(form), thisWorker(RECEIVER_ID)],
  );
  return readRun(db, id);
}
