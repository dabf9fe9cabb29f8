/** Schedules. Every backend passes one suite. */
import { Redis } from 'ioredis';
import pino from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { openSchedules, type Schedules } from '../../../src/engine/worker/schedules.ts';
import { type FreshDatabase, freshDatabase } from '../../support/database.ts';
import { describeWithRedis } from '../../support/redis.ts';

const log = pino({ level: 'silent' });
const OFTEN = { every: 200 };
const RARELY = { pattern: '0 2 29 2 *', tz: 'Europe/Berlin' };

/** `open` gives schedules in one namespace for each test. */
function schedulesSuite(open: (name: string) => Schedules): void {
  const closers: { close(): Promise<void> }[] = [];
  let name = '';
  beforeEach(() => {
    name = `s${Math.random().toString(36).slice(2)}`;
  });
  afterEach(async () => {
    for (const one of closers.splice(0).reverse()) await one.close();
  });
  const someSchedules = (): Schedules => {
    const schedules = open(name);
    closers.push(schedules);
    return schedules;
  };

  test('a schedule starts its sync when due, once for all processes that keep it, until it is removed', async () => {
    const [one, other] = [someSchedules(), someSchedules()];
    const starts: string[] = [];
    const startsOf = (sync: string) => starts.filter((start) => start === sync).length;
    const began = performance.now();
    for (const schedules of [one, other]) {
      await schedules.keep([
        { sync: 'nightly', when: OFTEN },
        { sync: 'rare', when: RARELY },
      ]);
      closers.push(schedules.beginDue(async (sync) => void starts.push(sync)));
    }
    await expect.poll(() => startsOf('nightly'), { timeout: 5_000 }).toBeGreaterThan(2);
    expect(startsOf('nightly')).toBeLessThanOrEqual((performance.now() - began) / OFTEN.every + 2);
    await other.keep([{ sync: 'other', when: OFTEN }]);
    const before = startsOf('nightly');
    await expect.poll(() => startsOf('other'), { timeout: 5_000 }).toBeGreaterThan(2);
    expect(startsOf('nightly') - before).toBeLessThanOrEqual(1); // one may have been on its way
    expect(startsOf('rare')).toBe(0);
  });

  test('a sync that was due while no process ran begins once, and no other process that keeps its schedule repeats it', async () => {
    const due = new Date(Date.now() + 2_000); // at least a second from now, because it is cut to whole seconds
    const daily = { pattern: `${due.getUTCSeconds()} ${due.getUTCMinutes()} ${due.getUTCHours()} * * *`, tz: 'UTC' };
    const schedules = [{ sync: 'nightly', when: daily }];
    await someSchedules().keep(schedules);
    await expect.poll(() => Date.now(), { timeout: 4_000 }).toBeGreaterThan(due.setMilliseconds(0));
    const [later, started] = [someSchedules(), [] as string[]];
    await later.keep(schedules);
    closers.push(later.beginDue(async (sync) => void started.push(sync)));
    await expect.poll(() => started).toEqual(['nightly']);
    await later.keep([...schedules, { sync: 'other', when: OFTEN }]);
    await expect.poll(() => started).toContain('other');
    expect(started.filter((sync) => sync === 'nightly')).toHaveLength(1);
  });

  test('a changed schedule replaces the earlier one', async () => {
    const schedules = someSchedules();
    await schedules.keep([{ sync: 'nightly', when: RARELY }]);
    await schedules.keep([{ sync: 'nightly', when: OFTEN }]);
    let started = 0;
    closers.push(schedules.beginDue(async () => void started++));
    await expect.poll(() => started, { timeout: 5_000 }).toBeGreaterThan(1);
  });

  test('a schedule planned on a clock that is set back by an hour keeps its real time', async () => {
    vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true });
    onTestFinished(() => void vi.useRealTimers());
    vi.setSystemTime(Date.now() + 3_600_000);
    const schedules = someSchedules();
    await schedules.keep([{ sync: 'nightly', when: OFTEN }]);
    let started = 0;
    const working = schedules.beginDue(async () => void started++);
    closers.push(working);
    await expect.poll(() => started, { timeout: 5_000 }).toBeGreaterThan(1);
    vi.useRealTimers();
    const before = started;
    await expect.poll(() => started, { timeout: 5_000 }).toBeGreaterThan(before + 2);
  });

  test('a sync that cannot be started is due again the next time', async () => {
    const schedules = someSchedules();
    await schedules.keep([{ sync: 'nightly', when: OFTEN }]);
    let tries = 0;
    closers.push(
      schedules.beginDue(async () => {
        tries++;
        throw new Error('the settings know no such sync');
      }),
    );
    await expect.poll(() => tries, { timeout: 5_000 }).toBeGreaterThan(1);
  });
}

describe('schedules on Postgres', () => {
  let database: FreshDatabase;
  beforeAll(async () => {
    database = await freshDatabase();
  });
  beforeEach(() => database.pool.query('drop schema if exists bullmq cascade'));
  afterAll(() => database.close());

  schedulesSuite(() => openSchedules({ redis: undefined, database: database.connection, log }, 100));
});

describeWithRedis('schedules on Redis', ({ url }) => {
  let connection: Redis;
  beforeAll(() => {
    connection = new Redis(url, { maxRetriesPerRequest: null });
  });
  afterAll(() => connection.quit());

  schedulesSuite((prefix) => openSchedules({ redis: { connection, prefix }, database: {}, log }, 100));
});
