/**
 * Claims: a process's right to work on a run for a while. Every write a worker makes to a row names its claim, and a claim
 * that was taken over no longer exists, so a paused process that wakes up writes nothing.
 */
import type pg from 'pg';
import { isGone, type WorkerIdentity } from '../../base/process-identity.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { recountStopped } from './run-counts.ts';

/** A claim lasts this long unless renewed: enough for a call and its answer between two renewals. */
export function claimTtlMs(timeoutMs: number): number {
  return Math.max(30_000, 2 * timeoutMs + 10_000);
}

export interface Claim {
  readonly id: number;
  readonly runId: string;
  readonly ttlMs: number;
}

export interface ClaimWish {
  readonly kind: 'shared' | 'exclusive';
  readonly ttlMs: number;
  /** Granted only while the run is in this phase: a late job must not repeat work. */
  readonly phase?: string | undefined;
  /** How many claims the run may have then; default: any number. */
  readonly most?: number | undefined;
}

/** Takes a claim on a run; undefined when the run is not running or in another phase, or other claims block it. */
export async function takeClaim(
  db: Queryable,
  runId: string,
  worker: WorkerIdentity,
  { kind, ttlMs, phase, most }: ClaimWish,
): Promise<Claim | undefined> {
  const taken = await db.query<{ id: number }>(
    `with run as (select id from ledger.runs
       where id = $1 and status = 'running' and phase = coalesce($5, phase) for update)
     insert into ledger.claims (run_id, worker, exclusive, expires_at)
     select id, $2, $3, clock_timestamp() + $4 * interval '1 ms' from run
     where not exists (select 1 from ledger.claims where run_id = $1 and exclusive)
       and ($6::int is null or (select count(*) from ledger.claims where run_id = $1) < $6)
     on conflict do nothing returning id::int`, // of two concurrent exclusive claims, the index allows one
    [runId, worker, kind === 'exclusive', ttlMs, phase, most],
  );
  const id = taken.rows[0]?.id;
  return id === undefined ? undefined : { id, runId, ttlMs };
}

/** Whether a process holds rows of the run that it may be sending. */
export async function mayBeSending(db: Queryable, runId: string): Promise<boolean> {
  const sending = await db.query(
    `select 1 from ledger.claims c join ledger.chunks h on h.claim_id = c.id
     where c.run_id = $1 and c.expires_at > clock_timestamp() limit 1`,
    [runId],
  );
  return sending.rowCount !== 0;
}

/** How many claims the runs have; runs without one are left out. */
export async function countClaims(db: Queryable): Promise<ReadonlyMap<string, number>> {
  const counted = await db.query<{ run: string; n: number }>(
    'select run_id as run, count(*)::int as n from ledger.claims group by 1',
  );
  return new Map(counted.rows.map(({ run, n }) => [run, n]));
}

/** Claims on runs, and on the deliveries to a target. `now` below: a moment of the caller's clock; default: the database's. */
type ClaimTable = 'ledger.claims' | 'ledger.delivery_claims';

/** False if the claim was taken over, or has expired and may be taken over at any moment. */
export async function extendClaim(
  db: Queryable,
  table: ClaimTable,
  { id, ttlMs, now }: { readonly id: number; readonly ttlMs: number; readonly now?: Date | undefined },
): Promise<boolean> {
  const extended = await db.query(
    `update ${table} set expires_at = coalesce($3::timestamptz, clock_timestamp()) + $2 * interval '1 ms'
     where id = $1 and expires_at > coalesce($3::timestamptz, clock_timestamp())`,
    [id, ttlMs, now],
  );
  return extended.rowCount === 1;
}

/** Fences claims that have expired: they cannot be extended any more. Returns them, and claims of dead processes on this host. */
export async function fenceDeadClaims(db: Queryable, table: ClaimTable, now?: Date): Promise<readonly number[]> {
  const held = await db.query<{ id: number; worker: unknown; isExpired: boolean }>(
    `with expired as (update ${table} set expires_at = '-infinity'
       where expires_at < coalesce($1::timestamptz, clock_timestamp()) returning id)
     select c.id::int, worker, e.id is not null as "isExpired" from ${table} c left join expired e using (id)`,
    [now],
  );
  return held.rows.filter(({ worker, isExpired }) => isExpired || isGone(worker)).map(({ id }) => id);
}

/**
 * Inside a transaction: ensures that the claim is held until the commit and that the run is running. The claim can be
 * renewed during the transaction. @throws ClaimLost
 */
export async function holdClaim(db: Queryable, claim: Claim): Promise<void> {
  const held = await db.query(
    `select 1 from ledger.claims c join ledger.runs u on u.id = c.run_id and u.status = 'running'
     where c.id = $1 for key share of c`,
    [claim.id],
  );
  if (held.rowCount === 0) throw new ClaimLost();
}

/** The claim was taken over, or its run has ended: another process continues the work, or it is no longer needed. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/**
 * Releases claims. Rows they hold without a recorded attempt may have been sent: this is appended, and a read has to show
 * it. The claims exist until that is written, so that another process repeats it after a crash. A run that ended
 * meanwhile, because it was cancelled or failed, is counted again.
 */
export async function dropClaims(db: Queryable, ids: readonly number[]): Promise<void> {
  // A statement sees rows that are being claimed only if it starts after their claim has committed. This statement waits for
  // such claims and blocks further ones.
  await db.query(`update ledger.claims set expires_at = '-infinity' where id = any($1)`, [ids]);
  const gone = await db.query<{ run: string }>(
    `with gone as (delete from ledger.claims where id = any($1) returning run_id),
     held as materialized (select c.id, c.run_id, unnest(c.rows) as n from ledger.chunks c where c.claim_id = any($1)),
     lost as (
       insert into ledger.attempts (run_id, n, chunk_id, action, outcome, sends)
       select h.run_id, h.n, h.id, p.action, 'lost', coalesce((select a.sends from ledger.attempts a
           where a.run_id = h.run_id and a.n = h.n and a.id > p.attempts_before order by a.id desc limit 1), 0)
       from held h join ledger.plans p on p.run_id = h.run_id and p.n = h.n
       returning run_id
     ), missed as (
       update ledger.runs set calls_missed = true,
         open_since = case when status in ('running', 'paused') then open_since else clock_timestamp() end
       where id in (select run_id from lost)
     )
     select distinct run_id as run from gone`,
    [ids],
  );
  await recountStopped(
    db,
    gone.rows.map(({ run }) => run),
  );
}

/** Releases the claim of this process. In one transaction, because a claim that is being dropped looks expired to others. */
export function releaseClaim(pool: pg.Pool, { id }: Claim): Promise<void> {
  return inTransaction(pool, (db) => dropClaims(db, [id]));
}

/** Takes over expired claims, and claims of dead processes on this host: they may have made calls that are not recorded. */
export async function dropDeadClaims(db: Queryable): Promise<number> {
  const dead = await fenceDeadClaims(db, 'ledger.claims');
  if (dead.length === 0) return 0;
  await db.query(
    `update ledger.runs set calls_missed = true
     where id in (select run_id from ledger.claims where id = any($1)) and not calls_missed`,
    [dead],
  );
  await dropClaims(db, dead);
  return dead.length;
}
