/**
 * Schedules against a model: random series of starts that are looked for, settings that change, pauses, clocks that are set, starts that
 * fail or wait, and processes that are killed. The model keeps only since when each sync has owed its starts.
 */
import fc from 'fast-check';
import type pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import {
  type BeginStart,
  keepSchedules,
  MISSED_MS,
  makeDueStarts,
  pauseSync,
  unpauseSync,
} from '../../../src/engine/ledger/schedules.ts';
import { nextStart } from '../../../src/settings/next-start.ts';
import type { Schedule } from '../../../src/settings/schedules.ts';
import { runs } from '../../support/property-runs.ts';
import { freshLedger } from './fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());

const SYNCS = ['nightly', 'often'] as const;
type Sync = (typeof SYNCS)[number];
const [SECOND, MINUTE, HOUR] = [1_000, 60_000, 3_600_000];
/** In the night before Berlin sets its clocks back, and the one before it sets them forward. */
const BEGINNINGS = ['2026-10-24T20:00:00Z', '2027-03-27T20:00:00Z'].map((text) => Date.parse(text));
/** Planned at a moment that is later than now by more than this, a start is planned again. */
const SET_BACK_MS = 60_000;

interface Owing {
  schedule: Schedule;
  /** Every start after this moment is owed. */
  sinceMs: number;
  plannedMs: number;
  /** A start that was due when the schedule changed. */
  dueMs: number | undefined;
}

interface Model {
  nowMs: number;
  readonly owing: Map<Sync, Owing>;
  readonly paused: Set<Sync>;
  readonly outcomes: Map<Sync, 'failed' | 'waits'>;
}

/** What the processes share, besides the database: what the next start of each sync comes to. */
interface Real {
  readonly pool: pg.Pool;
  readonly outcomes: Map<Sync, 'failed' | 'waits' | 'killed'>;
}

interface Made {
  readonly sync: Sync;
  readonly dueMs: number;
}

/** The first start of `sync` that is owed at this moment. */
function firstOwed(sync: Sync, { schedule, sinceMs, dueMs }: Owing, nowMs: number): number | undefined {
  const at = dueMs ?? nextStart(sync, schedule, new Date(sinceMs)).getTime();
  return at <= nowMs ? at : undefined;
}

/** What one look of a process that is not killed has to start. */
function expectedStarts(model: Model): readonly Made[] {
  const { nowMs, owing, paused, outcomes } = model;
  const made: Made[] = [];
  for (const [sync, one] of owing) {
    const isSetBack = one.plannedMs > nowMs + SET_BACK_MS;
    // A start that was due under an earlier schedule stays due, also on a clock that was set back since.
    let dueMs = isSetBack && one.dueMs === undefined ? undefined : firstOwed(sync, one, nowMs);
    if (dueMs === undefined && !isSetBack) continue;
    if (one.schedule.missed === 'skip' && dueMs !== undefined && dueMs < nowMs - MISSED_MS) {
      Object.assign(one, { sinceMs: nowMs - MISSED_MS - 1, plannedMs: nowMs, dueMs: undefined });
      dueMs = firstOwed(sync, one, nowMs);
    }
    if (dueMs !== undefined && !paused.has(sync)) {
      const outcome = outcomes.get(sync);
      if (outcome === 'waits') continue;
      if (outcome === undefined) made.push({ sync, dueMs });
    }
    Object.assign(one, { sinceMs: nowMs, plannedMs: nowMs, dueMs: undefined });
  }
  return made.toSorted(byStart);
}

const byStart = (a: Made, b: Made) => a.dueMs - b.dueMs || a.sync.localeCompare(b.sync);

async function look({ pool, outcomes }: Real, nowMs: number): Promise<void> {
  const begin: BeginStart = async ({ sync, dueAt }, db) => {
    const outcome = outcomes.get(sync as Sync);
    if (outcome === 'waits') return { status: 'waits', run: 'another' };
    await db.query('insert into public.starts values ($1, $2)', [sync, dueAt]);
    if (outcome === 'killed') {
      outcomes.delete(sync as Sync);
      throw new Error('killed');
    }
    return { status: outcome ?? 'made' };
  };
  await makeDueStarts(pool, begin, { now: new Date(nowMs) }).catch((error: Error) => {
    if (error.message !== 'killed') throw error;
  });
}

type Step = fc.AsyncCommand<Model, Real>;

/** Some processes look at the same time, and one more afterwards, because any of them may be killed. */
function looks(processes: number, killed: Sync | undefined): Step {
  return {
    check: () => true,
    toString: () => `${processes} look${killed ? `, and one is killed while it starts ${killed}` : ''}`,
    async run(model, real) {
      real.outcomes.clear();
      for (const [sync, outcome] of model.outcomes) real.outcomes.set(sync, outcome);
      if (killed !== undefined && !model.outcomes.has(killed)) real.outcomes.set(killed, 'killed');
      await Promise.all(Array.from({ length: processes }, () => look(real, model.nowMs)));
      real.outcomes.delete(killed as Sync); // it may not have been due
      for (const [sync, outcome] of model.outcomes) real.outcomes.set(sync, outcome);
      await look(real, model.nowMs);
      const found = await real.pool.query<{ sync: Sync; due_at: Date }>('delete from public.starts returning *');
      const made = found.rows.map(({ sync, due_at }) => ({ sync, dueMs: due_at.getTime() }));
      expect(made.toSorted(byStart)).toEqual(expectedStarts(model));
    },
  };
}

function step(what: string, run: (model: Model, real: Real) => Promise<unknown>): Step {
  return { check: () => true, toString: () => what, run: async (model, real) => void (await run(model, real)) };
}

const timePasses = (ms: number) =>
  step(`${ms} ms pass`, async (model) => {
    model.nowMs += ms;
  });
const clockIsSet = (ms: number) =>
  step(`the clock is set by ${ms} ms`, async (model) => {
    model.nowMs += ms;
  });

function keep(chosen: Readonly<Record<Sync, Schedule | null>>): Step {
  return step(`the settings are ${JSON.stringify(chosen)}`, async (model, { pool }) => {
    const wanted = SYNCS.flatMap((sync) => (chosen[sync] ? [{ sync, schedule: chosen[sync] }] : []));
    await Promise.all([1, 2].map(() => keepSchedules(pool, wanted, new Date(model.nowMs))));
    for (const sync of SYNCS) if (!chosen[sync]) model.owing.delete(sync);
    for (const { sync, schedule } of wanted) {
      const before = model.owing.get(sync);
      if (JSON.stringify(before?.schedule) === JSON.stringify(schedule)) continue;
      const dueMs = before && firstOwed(sync, before, model.nowMs);
      model.owing.set(sync, { schedule, sinceMs: model.nowMs, plannedMs: model.nowMs, dueMs });
    }
  });
}

const pause = (sync: Sync) =>
  step(`${sync} is paused`, (model, { pool }) => pauseSync(model.paused.add(sync) && pool, sync, undefined));
const resume = (sync: Sync) =>
  step(`${sync} is resumed`, (model, { pool }) => {
    model.paused.delete(sync);
    return unpauseSync(pool, sync);
  });
const outcome = (sync: Sync, is: 'failed' | 'waits' | undefined) =>
  step(`starts of ${sync} ${is ?? 'are made'}`, async ({ outcomes }) => {
    if (is === undefined) outcomes.delete(sync);
    else outcomes.set(sync, is);
  });

const sync = fc.constantFrom(...SYNCS);
const schedule: fc.Arbitrary<Schedule> = fc
  .record({
    when: fc.constantFrom(
      { kind: 'every', everyMs: 30 * SECOND } as const,
      { kind: 'every', everyMs: HOUR } as const,
      { kind: 'cron', cron: '30 2 * * *', timezone: 'Europe/Berlin' } as const,
      { kind: 'cron', cron: '*/10 * * * *', timezone: 'Europe/Berlin' } as const,
    ),
    missed: fc.constantFrom('run-once' as const, 'skip' as const),
    jitterMs: fc.constantFrom(0, 20 * SECOND),
  })
  .map(({ when, ...rest }) => ({ ...when, ...rest }));

const steps = [
  fc.tuple(fc.integer({ min: 1, max: 3 }), fc.option(sync, { nil: undefined, freq: 3 })).map((how) => looks(...how)),
  fc.constantFrom(SECOND, 29 * SECOND, 61 * SECOND, 10 * MINUTE, HOUR, 5 * HOUR, 26 * HOUR).map(timePasses),
  fc.constantFrom(-26 * HOUR, -HOUR, -61 * SECOND, -30 * SECOND, 2 * HOUR).map(clockIsSet),
  fc.record({ nightly: fc.option(schedule), often: fc.option(schedule, { freq: 20 }) }).map(keep),
  sync.map(pause),
  sync.map(resume),
  fc.tuple(sync, fc.constantFrom('failed' as const, 'waits' as const, undefined)).map((how) => outcome(...how)),
];

test('whatever happens, each start that is owed is made once, and no other one', async () => {
  const { pool } = database;
  await pool.query('create table public.starts (sync text, due_at timestamptz)');
  const series = fc.commands(
    [...steps, steps[0], steps[0], steps[1], steps[1]].flatMap((one) => one ?? []), // most steps look, or let time pass
    { maxCommands: 40, size: 'max' },
  );
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...BEGINNINGS), schedule, series, async (nowMs, first, commands) => {
      await pool.query('truncate ledger.schedules, ledger.paused_syncs, public.starts');
      const model: Model = { nowMs, owing: new Map(), paused: new Set(), outcomes: new Map() };
      const real: Real = { pool, outcomes: new Map() };
      await keep({ nightly: first, often: first }).run(model, real);
      await fc.asyncModelRun(() => ({ model, real }), commands);
    }),
    runs(50),
  );
});
