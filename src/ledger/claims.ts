/**
 * Claims: a process's right to work on a run for a while. Every write a worker makes to a row names its claim, and a
 * claim that was taken over is gone, so a paused process that wakes up writes nothing.
 */

import { readFileSync } from 'node:fs';
import os from 'node:os';
import { z } from 'zod';
import type { Queryable } from './runs.ts';

/** A claim lasts this long unless renewed: time for a call and its answer between two renewals. */
export function claimTtlMs(timeoutMs: number): number {
  return Math.max(30_000, 2 * timeoutMs + 10_000);
}

/** Names one process, so that another one on the same host can tell whether it still lives. */
const workerIdentity = z.object({ id: z.string(), host: z.string(), pid: z.number(), started: z.string() });
export type WorkerIdentity = z.infer<typeof workerIdentity>;

export interface Claim {
  readonly id: number;
  readonly runId: string;
  readonly ttlMs: number;
  /** On the `performance.now()` scale: from here on the claim may be somebody else's. */
  readonly expiresAtMs: number;
}

/** This process, for claims and job ids. */
export function thisWorker(id: string): WorkerIdentity {
  return { id, host: os.hostname(), pid: process.pid, started: startOf(process.pid) ?? '' };
}

/** Takes a claim on a run; undefined when the run is not running, or an exclusive claim stands in the way. */
export async function takeClaim(
  db: Queryable,
  runId: string,
  worker: WorkerIdentity,
  { kind, ttlMs }: { kind: 'shared' | 'exclusive'; ttlMs: number },
): Promise<Claim | undefined> {
  const asked = performance.now();
  const taken = await db.query<{ id: number }>(
    `with run as (select id from ledger.runs where id = $1 and status = 'running' for update)
     insert into ledger.claims (run_id, worker, exclusive, expires_at)
     select id, $2, $3, clock_timestamp() + $4 * interval '1 ms' from run
     where not exists (select 1 from ledger.claims where run_id = $1 and exclusive) returning id::int`,
    [runId, worker, kind === 'exclusive', ttlMs],
  );
  const id = taken.rows[0]?.id;
  return id === undefined ? undefined : { id, runId, ttlMs, expiresAtMs: asked + ttlMs };
}

/** The claim with a new expiry, or undefined when it was taken over. */
export async function renewClaim(db: Queryable, claim: Claim): Promise<Claim | undefined> {
  const asked = performance.now();
  const renewed = await db.query(
    `update ledger.claims set expires_at = clock_timestamp() + $2 * interval '1 ms' where id = $1`,
    [claim.id, claim.ttlMs],
  );
  return renewed.rowCount === 1 ? { ...claim, expiresAtMs: asked + claim.ttlMs } : undefined;
}

/** Inside a transaction: makes sure that the claim is still held until it commits. @throws ClaimLost */
export async function holdClaim(db: Queryable, claim: Claim): Promise<void> {
  const held = await db.query('select 1 from ledger.claims where id = $1 for share', [claim.id]);
  if (held.rowCount === 0) throw new ClaimLost();
}

/** The claim was taken over: whatever this process was doing, another one does it now. */
export class ClaimLost extends Error {
  override readonly name = 'ClaimLost';
}

/** Gives a claim back. Rows it still held in INTENT may have been sent: they become UNKNOWN. */
export async function dropClaims(db: Queryable, ids: readonly number[]): Promise<void> {
  await db.query(
    `with gone as (delete from ledger.claims where id = any($1) returning id, run_id)
     update ledger.rows r set state = 'unknown', since = clock_timestamp(), claim_id = null
     from gone where r.run_id = gone.run_id and r.claim_id = gone.id and r.state = 'intent'`,
    [ids],
  );
}

/** Takes over the claims of processes that are gone: expired ones, and those of dead processes on this host. */
export async function dropDeadClaims(db: Queryable): Promise<number> {
  const held = await db.query<{ id: number; worker: unknown; expired: boolean }>(
    `select id::int, worker, expires_at < clock_timestamp() as expired from ledger.claims`,
  );
  const dead = held.rows.filter((row) => row.expired || isDead(workerIdentity.parse(row.worker))).map((row) => row.id);
  if (dead.length > 0) await dropClaims(db, dead);
  return dead.length;
}

function isDead(worker: WorkerIdentity): boolean {
  if (worker.host !== os.hostname()) return false;
  try {
    process.kill(worker.pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ESRCH';
  }
  const started = startOf(worker.pid);
  return started !== undefined && worker.started !== '' && started !== worker.started; // the pid was given to another
}

/** When a process started, in clock ticks since boot; undefined where /proc does not tell. */
function startOf(pid: number): string | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  } catch {
    return undefined;
  }
}
