/** When a new run may read its baseline: what other runs sent must have had the time to be committed and shown. */
import { absenceAfterMs } from '../../absence.ts';
import type { Queryable, Run } from './runs.ts';

/**
 * Milliseconds until everything that earlier runs on the same account and resource left open has settled; 0 when it has.
 * A call on its way, as when a run was cancelled in its midst, may leave at any moment: its time has not begun to run.
 */
export function unsettledForMs(
  db: Queryable,
  { id, scope, resource }: Pick<Run, 'id' | 'scope' | 'resource'>,
  settleMs: number,
): Promise<number> {
  return openForMs(db, 'u.scope = $1 and u.resource = $2 and u.id <> $3', [
    scope,
    resource,
    id,
    absenceAfterMs(settleMs),
  ]);
}

/** The same for all runs of a job that have ended: what those that go on have sent is theirs to settle. */
export function endedUnsettledForMs(
  db: Queryable,
  { id, scope, job }: Pick<Run, 'id' | 'scope' | 'job'>,
  settleMs: number,
): Promise<number> {
  const others = `u.scope = $1 and u.job = $2 and u.id <> $3 and u.status not in ('running', 'paused')`;
  return openForMs(db, others, [scope, job, id, absenceAfterMs(settleMs)]);
}

/** Kept with the run when it ends, and moved on by whatever is written to it after that: its rows may be millions. */
async function openForMs(db: Queryable, others: string, values: readonly (string | number)[]): Promise<number> {
  const found = await db.query<{ ms: number }>(
    `with open as (
       select case when exists (select 1 from ledger.claims c where c.run_id = u.id) then clock_timestamp() else u.open_since end as since
       from ledger.runs u where ${others} and not u.dry_run
     )
     select coalesce(greatest(0, extract(epoch from max(since) - clock_timestamp()) * 1000 + $4), 0)::float8 as ms from open`,
    [...values],
  );
  return found.rows[0]?.ms ?? 0;
}
