/**
 * Which runs a process works on: every process notes its runs every few seconds, even while they wait, and when it stops.
 * The time in which no process works on a run is idle time: it waits for a person or a worker.
 */
import type pg from 'pg';
import { plural } from '../../base/counts.ts';
import { isGone, type WorkerIdentity } from '../../base/process-identity.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';
import { dropClaims, takeClaim } from './claims.ts';
import { addNote } from './runs.ts';

const NOTED_EVERY_S = 3;
/** After this time without a note, no process works on the run. */
const UNATTENDED_S = 15;
/** Failures before a pause of this length say nothing about the service now, and neither does what was read then. */
const FORGOTTEN_S = 60;
const CLAIM_MS = 30_000;

/** SQL: milliseconds in which no process has worked on a run until now. */
export const IDLE_SINCE_MS = `greatest(0, extract(epoch from
  clock_timestamp() - coalesce(ended_at, attended_at, created_at)) * 1000)`;

/**
 * Notes that this process, `worker`, works on these runs. Failures from before a time without any process are forgotten, and
 * rows that were ready then are read back before they are sent: the ledger may have been restored from a backup.
 */
export async function noteAttended(pool: pg.Pool, runIds: readonly string[], worker: WorkerIdentity): Promise<void> {
  if (runIds.length === 0) return;
  await inTransaction(pool, async (db) => {
    const noted = await db.query<{ id: string; wasForgotten: boolean }>(
      `with due as (
         select id, attended_at < clock_timestamp() - $3 * interval '1 s' as "wasForgotten"
         from ledger.runs where id = any($1) and status = 'running' and (attended_at is null or is_left
           or attended_at not between clock_timestamp() - $2 * interval '1 s' and clock_timestamp())
         for update skip locked
       )
       update ledger.runs u set attended_at = clock_timestamp(), attended_by = $5, is_left = false,
         idle_ms = idle_ms + case when is_left or coalesce(attended_at, created_at) < clock_timestamp() - $4 * interval '1 s'
           then ${IDLE_SINCE_MS} else 0 end,
         trouble_since = case when attended_at > clock_timestamp() - $3 * interval '1 s' then trouble_since end
       from due where u.id = due.id returning u.id, "wasForgotten"`,
      [runIds, NOTED_EVERY_S, FORGOTTEN_S, UNATTENDED_S, worker],
    );
    for (const { id, wasForgotten } of noted.rows) if (wasForgotten) await doubtReady(db, id, worker);
  });
}

/** Gives ready rows the state that they have after a crash: perhaps sent. */
async function doubtReady(db: Queryable, runId: string, worker: WorkerIdentity): Promise<void> {
  const claim = await takeClaim(db, runId, worker, { kind: 'shared', ttlMs: CLAIM_MS });
  if (!claim) return;
  const doubted = await db.query<{ n: number }>(
    `select count(*)::int as n from ledger.claim_rows($1, $2, (select count(*)::int from ledger.plans where run_id = $2))`,
    [claim.id, runId],
  );
  await dropClaims(db, [claim.id]);
  const { n = 0 } = doubted.rows[0] ?? {};
  if (n > 0)
    await addNote(
      db,
      runId,
      `no process worked on this run for a while, so ${plural(n, 'row')} still to be sent had to be read back first`,
    );
}

/** Notes that this process no longer works on these runs; another process that does notes it again. */
export async function noteLeft(db: Queryable, runIds: readonly string[]): Promise<void> {
  if (runIds.length === 0) return;
  await db.query(
    `update ledger.runs set attended_at = clock_timestamp(), is_left = true
     where id = any($1) and status = 'running' and attended_at is not null`,
    [runIds],
  );
}

/**
 * Whether a process works on the run, or may be about to because the run has just been started. If the process that noted it last
 * is known to have ended, only a claim of another process counts.
 */
export async function isAttended(db: Queryable, runId: string): Promise<boolean> {
  const found = await db.query<{ by: unknown; claims: readonly unknown[] }>(
    `select attended_by as by, array(select worker from ledger.claims where run_id = $1) as claims from ledger.runs
     where id = $1 and not is_left and greatest(attended_at, created_at) > clock_timestamp() - $2 * interval '1 s'`,
    [runId, UNATTENDED_S],
  );
  const [run] = found.rows;
  return run !== undefined && (!isGone(run.by) || run.claims.some((worker) => !isGone(worker)));
}
