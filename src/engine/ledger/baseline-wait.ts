/** When a new run may read its baseline: the service must have had time to commit and show what other runs sent. */
import { absenceAfterMs } from '../../base/absence.ts';
import type { Queryable } from '../../storage/queryable.ts';
import type { Run } from './runs.ts';

/**
 * SQL: claims by which calls of run `u` may be sent now. A claim of an ended run gets no further rows, so the rows it holds are
 * all that it may send.
 */
const MAY_BE_SENT = `select from ledger.claims c where c.run_id = u.id
  and (u.status in ('running', 'paused') or exists (select from ledger.chunks h where h.claim_id = c.id))`;

/**
 * Milliseconds until everything that earlier runs on the same account and resource left open has settled; 0 when it has. A
 * claimed call, for example of a run cancelled in between, may be sent at any moment: its settle time has not started.
 */
export function unsettledForMs(
  db: Queryable,
  { id, scope, resource }: Pick<Run, 'id' | 'scope' | 'resource'>,
  settleMs: number,
): Promise<number> {
  return openForMs(db, 'u.scope = $1 and u.resource = $2 and u.id <> $3', [scope, resource, id], settleMs);
}

/** The same for all ended runs of a type: running runs settle their own calls. */
export function endedUnsettledForMs(
  db: Queryable,
  { id, scope, type }: Pick<Run, 'id' | 'scope' | 'type'>,
  settleMs: number,
): Promise<number> {
  const others = `u.scope = $1 and u.job = $2 and u.id <> $3 and u.status not in ('running', 'paused')`;
  return openForMs(db, others, [scope, type, id], settleMs);
}

/**
 * `others`: SQL over runs `u` and the three values. Uses a time stored when the run ends and updated by later writes to it,
 * because a run may have millions of rows. If it lies ahead, where the clock was just set back, it counts as now.
 */
async function openForMs(
  db: Queryable,
  others: string,
  values: readonly [string, string, string],
  settleMs: number,
): Promise<number> {
  const found = await db.query<{ ms: number }>(
    `with open as (
       select case when exists (${MAY_BE_SENT}) then clock_timestamp() else u.open_since end as since
       from ledger.runs u where ${others} and not u.dry_run
     )
     select coalesce(greatest(0, extract(epoch from max(least(since, clock_timestamp())) - clock_timestamp()) * 1000 + $4), 0)::float8 as ms
     from open where since is not null`,
    [...values, absenceAfterMs(settleMs)],
  );
  return found.rows[0]?.ms ?? 0;
}
