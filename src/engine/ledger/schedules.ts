/**
 * Schedules and pauses of syncs. A schedule is one row, so any number of processes may start due syncs, each start once.
 *
 * `now` is a moment of the caller's clock; undefined means the database's own.
 */
import type pg from 'pg';
import { nextStart } from '../../settings/next-start.ts';
import type { Schedule } from '../../settings/schedules.ts';
import { type Queryable, type Stored, withoutNulls } from '../../storage/queryable.ts';
import { inTransaction } from '../../storage/transaction.ts';

export interface ScheduledSync {
  readonly sync: string;
  readonly schedule: Schedule;
}

export interface SavedSchedule extends ScheduledSync {
  /** Its next start, or one in the past that no process was there to make. */
  readonly dueAt: Date;
  /** The unfinished run of another sync that its start waits for. */
  readonly waitsFor: string | undefined;
}

export interface PausedSync {
  readonly sync: string;
  readonly reason: string | undefined;
  readonly pausedAt: Date;
}

export interface DueStart {
  readonly sync: string;
  readonly dueAt: Date;
  /** How late it is, in milliseconds. */
  readonly lateMs: number;
}

/** `made`: the sync has an unfinished run. */
export type StartOutcome = { readonly status: 'made' | 'failed' } | { readonly status: 'waits'; readonly run: string };

/** A start that is later than this was missed: no process was there to make it. */
export const MISSED_MS = 60_000;
/** Smaller differences are normal between two readings of a clock. */
const SET_BACK_S = 60;

const NOW = 'coalesce($1::timestamptz, clock_timestamp())';

/** Replaces the schedules with these. A start that is due stays due, also if its schedule has changed. */
export async function keepSchedules(pool: pg.Pool, wanted: readonly ScheduledSync[], now?: Date): Promise<void> {
  await inTransaction(pool, async (db) => {
    const plannedAt = await timeOf(db, now);
    await db.query('delete from ledger.schedules where not sync = any($1)', [wanted.map(({ sync }) => sync)]);
    const rows = wanted.map(({ sync, schedule }) => ({ sync, schedule, due_at: nextStart(sync, schedule, plannedAt) }));
    await db.query(
      `insert into ledger.schedules as s (sync, schedule, due_at, planned_at)
       select sync, schedule, due_at, ${NOW} from jsonb_to_recordset($2) as t(sync text, schedule jsonb, due_at timestamptz)
       order by sync
       on conflict (sync) do update set schedule = excluded.schedule,
         due_at = case when s.due_at <= excluded.planned_at then s.due_at else excluded.due_at end,
         waits_for = case when s.due_at <= excluded.planned_at then s.waits_for end,
         planned_at = excluded.planned_at, unmet_since = null where s.schedule <> excluded.schedule`,
      [plannedAt, JSON.stringify(rows)],
    );
  });
}

/** SQL: the run that schedule `s` waits for. */
export const WAITS_FOR = `(select u.id from ledger.runs u where u.id = s.waits_for and u.status in ('running', 'paused'))`;

/** `db`: the transaction that also plans the next start, so that no start is made twice. It keeps nothing of a start that failed. */
export type BeginStart = (start: DueStart, db: Queryable) => Promise<StartOutcome>;

export interface DueStartsOptions {
  readonly now?: Date;
  readonly signal?: AbortSignal;
  /** Starts only these; a process with newer settings may have saved schedules of others. Default: all. */
  readonly syncs?: readonly string[];
}

/**
 * Calls `begin` for each start that is due, unless the sync is paused or its schedule skips missed starts, and plans the
 * next start. Other processes take other starts meanwhile. A start that waits stays due, and so does one whose process is killed
 * meanwhile.
 */
export async function makeDueStarts(
  pool: pg.Pool,
  begin: BeginStart,
  { now, signal, syncs }: DueStartsOptions = {},
): Promise<void> {
  const waiting: string[] = [];
  while (signal?.aborted !== true) {
    const taken = await takeDueStart(pool, begin, { now, syncs, waiting });
    if (taken === undefined) return;
    if (taken.status === 'waits') waiting.push(taken.sync);
  }
}

/** Undefined if none is due. `waiting`: syncs whose starts wait. */
async function takeDueStart(
  pool: pg.Pool,
  begin: BeginStart,
  { now, syncs, waiting }: Pick<DueStartsOptions, 'now' | 'syncs'> & { readonly waiting: readonly string[] },
): Promise<(StartOutcome & { readonly sync: string }) | undefined> {
  return inTransaction(pool, async (db) => {
    const found = await db.query<Pick<SavedSchedule, 'sync' | 'schedule' | 'dueAt'> & { now: Date; isPaused: boolean }>(
      `select s.sync, schedule, due_at as "dueAt", ${NOW} as now,
         exists (select from ledger.paused_syncs p where p.sync = s.sync) as "isPaused"
       from ledger.schedules s
       where (due_at <= ${NOW} or planned_at > ${NOW} + ${SET_BACK_S} * interval '1 s') and not s.sync = any($2)
         and ($3::text[] is null or s.sync = any($3))
       order by due_at limit 1 for update of s skip locked`,
      [now, waiting, syncs],
    );
    const row = found.rows[0];
    if (row === undefined) return undefined;
    const { sync, schedule, dueAt, isPaused } = row;
    const lateMs = row.now.getTime() - dueAt.getTime();
    const isSkipped = schedule.missed === 'skip' && lateMs > MISSED_MS;
    const isDue = lateMs >= 0 && !isPaused && !isSkipped;
    const begun: StartOutcome = isDue ? await beginIn(db, begin, { sync, dueAt, lateMs }) : { status: 'made' };
    if (begun.status === 'waits') {
      await db.query('update ledger.schedules set waits_for = $2 where sync = $1 and waits_for is distinct from $2', [
        sync,
        begun.run,
      ]);
      return { sync, ...begun };
    }
    // The last of the starts that are skipped may be less than a minute late.
    const after = isSkipped && !isPaused ? new Date(row.now.getTime() - MISSED_MS - 1) : row.now;
    const isUnmet = !isPaused && (isSkipped || begun.status === 'failed');
    await db.query(
      `update ledger.schedules s set due_at = $3, planned_at = ${NOW}, waits_for = null, unmet_since = case when $4 then
         case when exists (select from ledger.runs u where u.sync = s.sync and not u.dry_run and u.created_at >= s.unmet_since) then $5
           else coalesce(s.unmet_since, $5) end end
       where sync = $2`,
      [row.now, sync, nextStart(sync, schedule, after), isUnmet, dueAt],
    );
    return { sync, ...begun };
  });
}

async function beginIn(db: Queryable, begin: BeginStart, start: DueStart): Promise<StartOutcome> {
  await db.query('savepoint begun');
  const begun = await begin(start, db);
  if (begun.status === 'failed') await db.query('rollback to savepoint begun');
  return begun;
}

/** The schedules that a scheduler has saved, by sync. */
export async function savedSchedules(db: Queryable): Promise<ReadonlyMap<string, SavedSchedule>> {
  const found = await db.query<Stored<SavedSchedule>>(
    `select sync, schedule, due_at as "dueAt", ${WAITS_FOR} as "waitsFor" from ledger.schedules s`,
  );
  return bySync(found.rows.map(withoutNulls<SavedSchedule>));
}

/** Its start was not made. */
export function isOverdue({ dueAt }: SavedSchedule, now: Date): boolean {
  return now.getTime() - dueAt.getTime() > MISSED_MS;
}

/** Pauses a sync, or changes the reason; it keeps the time of its pause. */
export async function pauseSync(db: Queryable, sync: string, reason: string | undefined): Promise<void> {
  await db.query(
    `insert into ledger.paused_syncs (sync, reason) values ($1, $2)
     on conflict (sync) do update set reason = coalesce(excluded.reason, ledger.paused_syncs.reason)`,
    [sync, reason],
  );
}

/** False if it was not paused. */
export async function unpauseSync(db: Queryable, sync: string): Promise<boolean> {
  const removed = await db.query('delete from ledger.paused_syncs where sync = $1', [sync]);
  return removed.rowCount === 1;
}

/** The paused syncs by name, whether the settings have them or not. */
export async function pausedSyncs(db: Queryable): Promise<ReadonlyMap<string, PausedSync>> {
  const found = await db.query<Stored<PausedSync>>(
    'select sync, reason, paused_at as "pausedAt" from ledger.paused_syncs order by sync',
  );
  return bySync(found.rows.map(withoutNulls<PausedSync>));
}

function bySync<T extends { readonly sync: string }>(rows: readonly T[]): ReadonlyMap<string, T> {
  return new Map(rows.map((row) => [row.sync, row]));
}

async function timeOf(db: Queryable, now: Date | undefined): Promise<Date> {
  const read = await db.query<{ now: Date }>(`select ${NOW} as now`, [now]);
  return read.rows[0]?.now ?? new Date();
}
