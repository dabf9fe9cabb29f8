/**
 * Handles changes of the database's clock. All times the ledger waits for (the end of a claim, the time a service may take
 * to commit, the next attempt) are on that clock. A process that reads it compares it with its own monotonic clocks; if
 * the database's clock was set forward or back, the process moves all these times with it. So a skipped hour settles
 * nothing too early, and a repeated hour delays nothing. If the clock of this machine went forward by the same time, the
 * machine was suspended, or its clock, which is also the database's, was set. Then only the times since which outcomes are
 * unknown move, because this process cannot tell whether the service has had that time.
 */
import type pg from 'pg';
import { elapsedMs } from '../../base/clock.ts';

/** Smaller differences are drift or query time. */
const NOTICED_MS = 1_000;
const DRIFT = 0.001;
const NOTE_AFTER_S = 5;

interface Reading {
  readonly atMs: number;
  readonly timesSet: string;
  readonly asked: Own;
  readonly heard: Own;
}

interface Own {
  /** May stop while the machine is suspended. */
  readonly steadyMs: number;
  /** Counts a suspension. */
  readonly elapsedMs: number;
}

/** Forward is positive. */
interface Step {
  readonly moves: 'times' | 'doubts';
  readonly byMs: number;
}

const MOVE: Readonly<Record<Step['moves'], string>> = {
  times: `select ledger.move_times($1, $2 * interval '1 ms')`,
  doubts: `with noted as (
      update ledger.clock set times_set = times_set + 1, seen_at = clock_timestamp() where times_set = $1 returning seen_at
    )
    select ledger.move_doubts($2 * interval '1 ms', seen_at) from noted`,
};

const readings = new WeakMap<pg.Pool, Reading>();

/** The database's time. If the clock was set since the last check, the ledger's times have been moved. */
export async function ledgerNow(pool: pg.Pool): Promise<Date> {
  for (;;) {
    const asked = ownClocks();
    const found = await pool.query<{ atMs: number; seenAgoMs: number; timesSet: string }>(
      `select (extract(epoch from t.now) * 1000)::float8 as "atMs", times_set::text as "timesSet",
         (extract(epoch from t.now - seen_at) * 1000)::float8 as "seenAgoMs"
       from ledger.clock, (select clock_timestamp() as now offset 0) t`,
    );
    const row = found.rows[0];
    if (row === undefined) throw new Error('the table ledger.clock is empty');
    const reading: Reading = { atMs: row.atMs, timesSet: row.timesSet, asked, heard: ownClocks() };
    const step = stepBetween(readings.get(pool), reading) ?? stepBack(row.seenAgoMs);
    if (step) {
      await pool.query(MOVE[step.moves], [row.timesSet, step.byMs]);
      readings.delete(pool); // another process may have moved them first
      continue;
    }
    readings.set(pool, reading);
    if (row.seenAgoMs > NOTE_AFTER_S * 1_000) {
      await pool.query(`update ledger.clock set seen_at = greatest(seen_at, clock_timestamp())`);
    }
    return new Date(row.atMs);
  }
}

function ownClocks(): Own {
  return { steadyMs: performance.now(), elapsedMs: elapsedMs() };
}

/** How the clock was set between two readings; undefined if it may have run normally. */
function stepBetween(before: Reading | undefined, now: Reading): Step | undefined {
  if (before === undefined || before.timesSet !== now.timesSet) return undefined;
  const passedMs = now.atMs - before.atMs;
  const leastMs = now.asked.steadyMs - before.heard.steadyMs;
  const mostMs = now.heard.elapsedMs - before.asked.elapsedMs;
  const tolerated = NOTICED_MS + mostMs * DRIFT;
  if (passedMs > mostMs + tolerated) return { moves: 'times', byMs: passedMs - mostMs };
  if (passedMs < leastMs - tolerated) return { moves: 'times', byMs: passedMs - leastMs };
  const awakeMs = now.heard.steadyMs - before.asked.steadyMs;
  return passedMs > awakeMs + tolerated ? { moves: 'doubts', byMs: passedMs - awakeMs } : undefined;
}

/** While no process ran, a clock that was set back shows that the ledger was read later than now. */
function stepBack(seenAgoMs: number): Step | undefined {
  return seenAgoMs < -NOTICED_MS ? { moves: 'times', byMs: seenAgoMs + NOTICED_MS } : undefined;
}
