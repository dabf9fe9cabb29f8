/** Schedules on a clock that the test sets: what is due, what was missed, and pauses. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { endRun } from '../../../src/engine/ledger/run-status.ts';
import {
  keepSchedules,
  makeDueStarts,
  pausedSyncs,
  pauseSync,
  type ScheduledSync,
  savedSchedules,
  unpauseSync,
} from '../../../src/engine/ledger/schedules.ts';
import { jitterOf } from '../../../src/settings/next-start.ts';
import type { Schedule } from '../../../src/settings/schedules.ts';
import { aRun, freshLedger } from './fresh-ledger.ts';

const MINUTE = 60_000;
const RUN_ONCE = { missed: 'run-once', jitterMs: 0 } as const;
const BEGINNING = new Date('2026-11-22T02:00:30Z');

/** What was started, as `nightly 02:01`. */
let started: string[];

const database = await freshLedger();
beforeEach(async () => {
  started = [];
  await database.pool.query('truncate ledger.schedules, ledger.paused_syncs');
});
afterAll(() => database.close());

const later = (ms: number): Date => new Date(BEGINNING.getTime() + ms);

function everyMinute(sync: string, more: Partial<Extract<Schedule, { kind: 'every' }>> = {}): ScheduledSync {
  return { sync, schedule: { kind: 'every', everyMs: MINUTE, ...RUN_ONCE, ...more } };
}

/** Makes all starts that are due, as one process does. */
async function makeStarts(now: Date, syncs?: readonly string[]): Promise<void> {
  const begin = async ({ sync, dueAt }: { sync: string; dueAt: Date }) => {
    started.push(`${sync} ${dueAt.toISOString().slice(11, 16)}`);
    return { status: 'made' } as const;
  };
  await makeDueStarts(database.pool, begin, { now, ...(syncs && { syncs }) });
}

test('a sync starts when it is due, and once for each time', async () => {
  await keepSchedules(database.pool, [everyMinute('nightly')], BEGINNING);
  await makeStarts(later(29_999));
  expect(started).toEqual([]);
  for (const ms of [30_000, 30_001, 89_000, 90_000]) await makeStarts(later(ms));
  expect(started).toEqual(['nightly 02:01', 'nightly 02:02']);
});

test('several processes that look at the same time start a due sync once, and share the starts', async () => {
  const syncs = Array.from({ length: 12 }, (_, n) => everyMinute(`s${n}`, { jitterMs: 20_000 }));
  await Promise.all([1, 2, 3].map(() => keepSchedules(database.pool, syncs, BEGINNING)));
  for (let minute = 1; minute <= 3; minute++) {
    await Promise.all([1, 2, 3].map(() => makeStarts(later(minute * MINUTE))));
  }
  expect(started).toHaveLength(36);
  expect(new Set(started).size).toBe(36);
});

test('a sync that was missed several times starts once, whichever process comes first', async () => {
  await keepSchedules(database.pool, [everyMinute('nightly')], BEGINNING);
  await keepSchedules(database.pool, [everyMinute('nightly')], later(10 * MINUTE)); // keeps the start that is due
  await Promise.all([1, 2].map(() => makeStarts(later(10 * MINUTE))));
  expect(started).toEqual(['nightly 02:01']);
  await makeStarts(later(11 * MINUTE));
  expect(started).toEqual(['nightly 02:01', 'nightly 02:11']);
});

test('a start that waits for another run stays due and delays no other, and is made once afterwards', async () => {
  const { pool } = database;
  const run = await aRun(database, { sync: 'other' });
  const begin = async ({ sync }: { sync: string }) => {
    if (sync === 'nightly') return { status: 'waits', run: run.id } as const;
    started.push(sync);
    return { status: 'made' } as const;
  };
  const waitsFor = async () => (await savedSchedules(pool)).get('nightly')?.waitsFor;
  await keepSchedules(pool, [everyMinute('nightly'), everyMinute('last', { jitterMs: 10_000 })], BEGINNING);
  await makeDueStarts(pool, begin, { now: later(MINUTE) });
  expect([started, await waitsFor()]).toEqual([['last'], run.id]);
  await endRun(pool, run.id, 'done');
  expect(await waitsFor()).toBeUndefined();
  await makeStarts(later(3 * MINUTE));
  expect(started).toContain('nightly 02:01');
  await makeStarts(later(3 * MINUTE));
  expect(started.filter((start) => start.startsWith('nightly'))).toHaveLength(1);
});

const HOURLY = { everyMs: 60 * MINUTE, missed: 'skip' } as const;

test('a start that waits for more than a minute is skipped if missed starts are', async () => {
  const begin = async () => ({ status: 'waits', run: 'run-1' }) as const;
  await keepSchedules(database.pool, [everyMinute('hourly', HOURLY)], BEGINNING);
  await makeDueStarts(database.pool, begin, { now: later(60 * MINUTE) });
  await makeStarts(later(62 * MINUTE));
  expect(started).toEqual([]);
  await makeStarts(later(120 * MINUTE));
  expect(started).toEqual(['hourly 04:00']);
});

test('a schedule that skips missed starts waits for its next one, whichever process comes first', async () => {
  await keepSchedules(database.pool, [everyMinute('hourly', HOURLY)], BEGINNING);
  await Promise.all([1, 2].map(() => makeStarts(later(200 * MINUTE))));
  expect(started).toEqual([]);
  await makeStarts(later(240 * MINUTE));
  expect(started).toEqual(['hourly 06:00']);
});

test('of several starts that were due, the one that is less than a minute late is made though missed starts are skipped', async () => {
  await keepSchedules(database.pool, [everyMinute('hourly', HOURLY)], BEGINNING);
  await Promise.all([1, 2].map(() => makeStarts(later(240 * MINUTE))));
  expect(started).toEqual(['hourly 06:00']);
});

test('a start that is less than a minute late was not missed', async () => {
  await keepSchedules(database.pool, [everyMinute('nightly', { missed: 'skip' })], BEGINNING);
  await makeStarts(later(30_000 + MINUTE));
  expect(started).toEqual(['nightly 02:01']);
});

test('jitter delays a start by the time that the name of the sync decides', async () => {
  const nightly = everyMinute('nightly', { jitterMs: 50_000 });
  const delayMs = jitterOf('nightly', nightly.schedule);
  await keepSchedules(database.pool, [nightly], BEGINNING);
  await makeStarts(later(30_000 + delayMs - 1));
  expect(started).toEqual([]);
  await makeStarts(later(30_000 + delayMs));
  expect(started).toEqual(['nightly 02:01']);
});

test('a changed schedule replaces the earlier one, and a removed one starts nothing', async () => {
  await keepSchedules(database.pool, [everyMinute('changed'), everyMinute('removed')], BEGINNING);
  const hourly: Schedule = { kind: 'cron', cron: '0 * * * *', timezone: 'Europe/Berlin', ...RUN_ONCE };
  await keepSchedules(database.pool, [{ sync: 'changed', schedule: hourly }], BEGINNING);
  await makeStarts(later(5 * MINUTE));
  expect(started).toEqual([]);
  await makeStarts(new Date('2026-11-22T03:00:00Z'));
  expect(started).toEqual(['changed 03:00']);
  expect((await savedSchedules(database.pool)).get('changed')).toMatchObject({ schedule: hourly });
});

test('a start that is due is made though its schedule changes first', async () => {
  const { pool } = database;
  const at2 = (timezone: string): ScheduledSync => ({
    sync: 'nightly',
    schedule: { kind: 'cron', cron: '30 2 * * *', timezone, ...RUN_ONCE },
  });
  await keepSchedules(pool, [at2('Etc/GMT')], BEGINNING);
  const { id: run } = await aRun(database, { sync: 'other' });
  await makeDueStarts(pool, async () => ({ status: 'waits', run }), { now: later(45 * MINUTE) });
  await keepSchedules(pool, [at2('Europe/Berlin')], later(45 * MINUTE));
  expect((await savedSchedules(pool)).get('nightly')).toMatchObject({ waitsFor: run });
  await makeStarts(later(50 * MINUTE));
  await makeStarts(new Date('2026-11-23T01:30:00Z'));
  expect(started).toEqual(['nightly 02:30', 'nightly 01:30']);
});

test('a start is left to a process whose settings have the sync', async () => {
  await keepSchedules(database.pool, [everyMinute('new'), everyMinute('old')], BEGINNING);
  await makeStarts(later(MINUTE), ['old', 'removed']);
  expect(started).toEqual(['old 02:01']);
  await makeStarts(later(MINUTE));
  expect(started).toEqual(['old 02:01', 'new 02:01']);
});

test('a start planned on a clock that is set back by an hour is planned again', async () => {
  await keepSchedules(database.pool, [everyMinute('nightly')], later(60 * MINUTE));
  await makeStarts(BEGINNING);
  expect(started).toEqual([]);
  await makeStarts(later(MINUTE));
  expect(started).toEqual(['nightly 02:01']);
});

test('a start is due again if the process is killed while it makes it', async () => {
  await keepSchedules(database.pool, [everyMinute('nightly')], BEGINNING);
  const killed = makeDueStarts(database.pool, () => Promise.reject(new Error('killed')), { now: later(MINUTE) });
  await expect(killed).rejects.toThrow('killed');
  await makeStarts(later(MINUTE));
  expect(started).toEqual(['nightly 02:01']);
});

test('a paused sync is not started until it is resumed, and then at its next time', async () => {
  await keepSchedules(database.pool, [everyMinute('nightly'), everyMinute('other')], BEGINNING);
  await pauseSync(database.pool, 'nightly', 'the service is moving');
  await pauseSync(database.pool, 'nightly', undefined);
  expect((await pausedSyncs(database.pool)).get('nightly')).toMatchObject({ reason: 'the service is moving' });
  await makeStarts(later(MINUTE));
  expect(started).toEqual(['other 02:01']);
  expect(await unpauseSync(database.pool, 'nightly')).toBe(true);
  expect(await unpauseSync(database.pool, 'nightly')).toBe(false);
  await makeStarts(later(MINUTE + 1));
  expect(started).toEqual(['other 02:01']);
  await makeStarts(later(2 * MINUTE));
  expect(started.sort()).toEqual(['nightly 02:02', 'other 02:01', 'other 02:02']);
});

test('in two hours of two hundred syncs, one of them every minute, each start is made once', async () => {
  const others = Array.from({ length: 199 }, (_, n) =>
    everyMinute(`s${n}`, { everyMs: 120 * MINUTE, jitterMs: 60 * MINUTE }),
  );
  await keepSchedules(database.pool, [everyMinute('often'), ...others], BEGINNING);
  for (let minute = 1; minute <= 120; minute++) await makeStarts(later(minute * MINUTE));
  expect(started.filter((start) => start.startsWith('often'))).toHaveLength(120);
  expect(started).toHaveLength(120 + 199);
});
