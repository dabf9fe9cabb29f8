/**
 * Reports that wait to be applied. A process that works on a report holds it for a while, so that no two processes set one
 * item's task to two states. If its holder has not ended it by then, it is due again.
 */
import { columnsOf } from '../../storage/columns.ts';
import type { Queryable } from '../../storage/queryable.ts';

export interface Report {
  readonly target: string;
  readonly itemId: string;
  /** Null if the call did not say it. */
  readonly isCompleted: boolean | null;
  readonly status: string;
  readonly source: 'hook' | 'read';
  /** Another report contradicted it while it waited, so the item has to be read. */
  readonly hasMoved: boolean;
  /** By the database's clock, exactly. */
  readonly reportedAt: string;
  readonly revision: number;
  /** The number of this hold. */
  readonly hold: number;
  /** Attempts spent before. */
  readonly attempts: number;
}

/**
 * `same`: both sides agreed; `taken`: the task follows the item; `kept`: the task keeps its state, and the item will
 * follow it; `sent-back`: like `kept`, but with a delivery queued for it; `not-taken`: there was nothing to do, or
 * nothing could be done.
 */
export type ReportVerdict = 'same' | 'taken' | 'kept' | 'sent-back' | 'not-taken';

export interface ReportEnd {
  readonly verdict: ReportVerdict;
  readonly reason?: string | undefined;
  readonly detail?: string | undefined;
  /** A state that the item certainly had, with its time; absent if the item was not read. */
  readonly seen?: { readonly isCompleted: boolean; readonly at: string } | undefined;
}

/**
 * Takes due reports, the longest due first, and holds them for `holdMs`. `runs`: only reports from reads since the first of
 * these runs began.
 */
export async function takeDue(
  db: Queryable,
  targets: readonly string[],
  {
    limit,
    holdMs,
    runs,
  }: { readonly limit: number; readonly holdMs: number; readonly runs?: readonly string[] | undefined },
): Promise<readonly Report[]> {
  const taken = await db.query<Report>(
    `with picked as (
       select target, item_id from ledger.item_reports
       where state = 'waiting' and target = any($1) and due_at <= clock_timestamp()
         and (held_until is null or held_until < clock_timestamp())
         and ($4::text[] is null or (source = 'read'
           and reported_at >= (select min(created_at) from ledger.runs where id = any($4))))
       order by due_at limit $2 for update skip locked)
     update ledger.item_reports r set held_until = clock_timestamp() + $3 * interval '1 ms', holds = holds + 1
     from picked p where r.target = p.target and r.item_id = p.item_id
     returning r.target, r.item_id as "itemId", r.is_completed as "isCompleted", r.status, r.source,
       r.has_moved as "hasMoved", r.reported_at::text as "reportedAt", r.revision, r.holds as hold, r.attempts`,
    [targets, limit, holdMs, runs],
  );
  return taken.rows;
}

export function holdOf({ target, itemId, hold }: Pick<Report, 'target' | 'itemId' | 'hold'>): string {
  return JSON.stringify([target, itemId, hold]);
}

/** Extends the hold of reports to `holdMs` from now. Returns which are still held: an expired hold may be another process's. */
export async function keepHolding(
  db: Queryable,
  reports: readonly Report[],
  holdMs: number,
): Promise<ReadonlySet<string>> {
  const kept = await db.query<Pick<Report, 'target' | 'itemId' | 'hold'>>(
    `update ledger.item_reports r set held_until = greatest(held_until, clock_timestamp() + $4 * interval '1 ms')
     from unnest($1::text[], $2::text[], $3::int[]) as t(target, item_id, hold)
     where r.target = t.target and r.item_id = t.item_id and r.holds = t.hold and r.held_until > clock_timestamp()
     returning r.target, r.item_id as "itemId", r.holds as hold`,
    [...columnsOf(reports, 'target', 'itemId', 'hold'), holdMs],
  );
  return new Set(kept.rows.map(holdOf));
}

/** Releases reports; they are due at once. */
export async function letGo(db: Queryable, reports: readonly Report[]): Promise<void> {
  await db.query(
    `update ledger.item_reports r set held_until = null
     from unnest($1::text[], $2::text[], $3::int[]) as t(target, item_id, hold)
     where r.target = t.target and r.item_id = t.item_id and r.holds = t.hold`,
    [...columnsOf(reports, 'target', 'itemId', 'hold')],
  );
}

/** A report that its holder still holds. */
const HELD = `target = $1 and item_id = $2 and holds = $3 and state = 'waiting' and held_until is not null`;

/** Ends it, or only releases it if a newer one has arrived meanwhile. Returns false, and does nothing, if it is not held. */
export async function endReport(db: Queryable, report: Report, end: ReportEnd): Promise<boolean> {
  const { target, itemId, hold, revision } = report;
  const { verdict, reason = null, detail = null, seen } = end;
  const ended = await db.query(
    `update ledger.item_reports set held_until = null,
       state = case when revision = $4 then 'ended' else state end,
       verdict = case when revision = $4 then $5 end,
       reason = case when revision = $4 then $6 end,
       detail = case when revision = $4 then $7 end,
       ended_at = case when revision = $4 then clock_timestamp() end,
       seen_completed = coalesce($8, seen_completed), seen_at = coalesce($9::timestamptz, seen_at)
     where ${HELD}`,
    [target, itemId, hold, revision, verdict, reason, detail, seen?.isCompleted, seen?.at],
  );
  return ended.rowCount === 1;
}

export interface PutOff {
  readonly afterMs: number;
  readonly reason: string;
  readonly detail: string;
  /** Whether it counts among the attempts, which are limited. */
  readonly isSpent: boolean;
}

/**
 * Postpones it for at least this long. A newer report that has arrived meanwhile is not delayed further. Returns false,
 * and does nothing, if it is not held.
 */
export async function putOff(db: Queryable, report: Report, wait: PutOff): Promise<boolean> {
  const { target, itemId, hold, revision } = report;
  const { afterMs, isSpent, reason, detail } = wait;
  const delayed = await db.query(
    `update ledger.item_reports set held_until = null,
       due_at = case when revision = $4 then clock_timestamp() + $5 * interval '1 ms' else due_at end,
       attempts = case when revision = $4 then attempts + $6 else attempts end, reason = $7, detail = $8
     where ${HELD}`,
    [target, itemId, hold, revision, afterMs, isSpent ? 1 : 0, reason, detail],
  );
  return delayed.rowCount === 1;
}

/** A report that no process has tried waits no longer than this for a process that works on it. */
const PATIENCE_MS = 10_000;

/** Whether a report since the run began has not been tried yet, or is being applied. */
export async function isAnyUnderWay(db: Queryable, runId: string, targets: readonly string[]): Promise<boolean> {
  const found = await db.query(
    `select 1 from ledger.item_reports where state = 'waiting' and target = any($1)
       and reported_at >= (select created_at from ledger.runs where id = $3)
       and ((attempts = 0 and reported_at > clock_timestamp() - $2 * interval '1 ms') or held_until > clock_timestamp()) limit 1`,
    [targets, PATIENCE_MS, runId],
  );
  return found.rowCount !== 0;
}
