/**
 * Schedules and pauses of syncs. A schedule is one row, so any number of processes may start due syncs, each start once.
 *
 * `now` is a moment of the caller's clock; undefined means the database's own.
 */
import type pg from 'pg';
import { nextStart } from '../../settings/next-start.ts';
import type { Schedule } from '../../settings/schedules.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';

export interface ScheduledSync {
  readonly sync: string;
  readonly schedule: Schedule;
}

export interface SavedSchedule extends ScheduledSync {
  /** Its next start, or one in the past that no process was there to make. */
  readonly dueAt: Date;
}

export interface PausedSync {
  readonly sync: string;
  readonly reason: string | undefined;
  readonly pausedAt: Date;
}

/** A start that is due. */
export interface DueStart {
  readonly sync: string;
  readonly dueAt: Date;
  /** How late it is, in milliseconds. */
  readonly lateMs: number;
}

/** A start that is later than this was missed: no process was there to make it. */
export const MISSED_MS = 60_000;
/** Smaller differences are normal between two readings of a clock. */
const SET_BACK_S = 60;

const NOW = 'coalesce($1::timestamptz, clock_timestamp())';

/** Replaces the schedules with these. A schedule that has not changed keeps a start that is due. */
export async function keepSchedules(pool: pg.Pool, wanted: readonly ScheduledSync[], now?: Date): Promise<void> {
  await inTransaction(pool, async (db) => {
    const plannedAt = await timeOf(db, now);
    await db.query('delete from ledger.schedules where not sync = any($1)', [wanted.map(({ sync }) => sync)]);
    const rows = wanted.map(({ sync, schedule }) => ({ sync, schedule, due_at: nextStart(sync, schedule, plannedAt) }));
    await db.query(
      `insert into ledger.schedules as s (sync, schedule, due_at, planned_at)
       select sync, schedule, due_at, ${NOW} from jsonb_to_recordset($2) as t(sync text, schedule jsonb, due_at timestamptz)
       order by sync
       on conflict (sync) do update set schedule = excluded.schedule, due_at = excluded.due_at,
         planned_at = excluded.planned_at, last_due_at = null where s.schedule <> excluded.schedule`,
      [plannedAt, JSON.stringify(rows)],
    );
  });
}

/**
 * Takes one due start, plans the next one, and calls `begin` unless the sync is paused or its schedule skips missed
 * starts. Other processes take other starts meanwhile. If this process is killed before `begin` has returned, the start is
 * due again. Returns false if none is due.
 */
export async function takeDueStart(
  pool: pg.Pool,
  begin: (start: DueStart) => Promise<void>,
  now?: Date,
): Promise<boolean> {
  return inTransaction(pool, async (db) => {
    const found = await db.query<SavedSchedule & { now: Date; isPaused: boolean }>(
      `select s.sync, schedule, due_at as "dueAt", ${NOW} as now,
         exists (select from ledger.paused_syncs p where p.sync = s.sync) as "isPaused"
       from ledger.schedules s where due_at <= ${NOW} or planned_at > ${NOW} + ${SET_BACK_S} * interval '1 s'
       order by due_at limit 1 for update of s skip locked`,
      [now ?? null],
    );
    const row = found.rows[0];
    if (row === undefined) return false;
    const { sync, schedule, dueAt, isPaused } = row;
    const lateMs = row.now.getTime() - dueAt.getTime();
    const isSkipped = schedule.missed === 'skip' && lateMs > MISSED_MS;
    if (lateMs >= 0 && !isPaused && !isSkipped) await begin({ sync, dueAt, lateMs });
    const lastDueAt = isPaused || lateMs < 0 ? null : dueAt;
    await db.query(`update ledger.schedules set due_at = $3, planned_at = ${NOW}, last_due_at = $4 where sync = $2`, [
      row.now,
      sync,
      nextStart(sync, schedule, row.now),
      lastDueAt,
    ]);
    return true;
  });
}

/** The schedules that a scheduler has saved, by sync. */
export async function savedSchedules(db: Queryable): Promise<ReadonlyMap<string, SavedSchedule>> {
  const found = await db.query<SavedSchedule>('select sync, schedule, due_at as "dueAt" from ledger.schedules');
  return new Map(found.rows.map((row) => [row.sync, row]));
}

/** No process made its start. */
export function isOverdue(saved: SavedSchedule | undefined, now: Date): boolean {
  return saved !== undefined && now.getTime() - saved.dueAt.getTime() > MISSED_MS;
}

/** Pauses a sync, or changes the reason; it keeps the time of its pause. */
export async function pauseSync(db: Queryable, sync: string, reason: string | undefined): Promise<void> {
  await db.query(
    `insert into ledger.paused_syncs (sync, reason) values ($1, $2)
     on conflict (sync) do update set reason = coalesce(excluded.reason, ledger.paused_syncs.reason)`,
    [sync, reason ?? null],
  );
}

/** False if it was not paused. */
export async function unpauseSync(db: Queryable, sync: string): Promise<boolean> {
  const removed = await db.query('delete from ledger.paused_syncs where sync = $1', [sync]);
  return removed.rowCount === 1;
}

/** The paused syncs by name, whether the settings have them or not. */
export async function pausedSyncs(db: Queryable): Promise<ReadonlyMap<string, PausedSync>> {
  const found = await db.query<Omit<PausedSync, 'reason'> & { reason: string | null }>(
    'select sync, reason, paused_at as "pausedAt" from ledger.paused_syncs order by sync',
  );
  return new Map(found.rows.map((row) => [row.sync, { ...row, reason: row.reason ?? undefined }]));
}

async function timeOf(db: Queryable, now: Date | undefined): Promise<Date> {
  const read = await db.query<{ now: Date }>(`select ${NOW} as now`, [now ?? null]);
  return read.rows[0]?.now ?? new Date();
}
