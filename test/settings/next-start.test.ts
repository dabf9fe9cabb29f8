/** When schedules start, on ordinary days and on the nights when clocks are set. */
import { expect, test } from 'vitest';
import { jitterOf, nextStart, nextStarts } from '../../src/settings/next-start.ts';
import type { Schedule } from '../../src/settings/schedules.ts';

const PLAIN = { missed: 'run-once', jitterMs: 0 } as const;
const cron = (text: string, timezone = 'UTC'): Schedule => ({ kind: 'cron', cron: text, timezone, ...PLAIN });
const every = (everyMs: number): Schedule => ({ kind: 'every', everyMs, ...PLAIN });

/** The next starts as `2026-03-29T01:00`, in UTC. */
function startsOf(schedule: Schedule, after: string, count: number): readonly string[] {
  return nextStarts('nightly', schedule, new Date(after), count).map((at) => at.toISOString().slice(0, 16));
}

test.each([
  // Berlin: 02:00 becomes 03:00 on 29 March (01:00 UTC); 03:00 becomes 02:00 on 25 October (01:00 UTC).
  ['Europe/Berlin', '30 2 * * *', '2026-03-28T00:00Z', ['2026-03-28T01:30', '2026-03-29T01:00', '2026-03-30T00:30']],
  ['Europe/Berlin', '30 2 * * *', '2026-10-24T00:00Z', ['2026-10-24T00:30', '2026-10-25T00:30', '2026-10-26T01:30']],
  // New York: 02:00 becomes 03:00 on 8 March (07:00 UTC); 02:00 becomes 01:00 on 1 November (06:00 UTC).
  ['America/New_York', '30 2 * * *', '2026-03-07T00:00Z', ['2026-03-07T07:30', '2026-03-08T07:00', '2026-03-09T06:30']],
  ['America/New_York', '30 1 * * *', '2026-10-31T00:00Z', ['2026-10-31T05:30', '2026-11-01T05:30', '2026-11-02T06:30']],
  // Lord Howe: 02:00 becomes 02:30 on 4 October (15:30 UTC of the 3rd); 02:00 becomes 01:30 on 5 April (15:00 UTC of the 4th).
  [
    'Australia/Lord_Howe',
    '15 2 * * *',
    '2026-10-02T00:00Z',
    ['2026-10-02T15:45', '2026-10-03T15:30', '2026-10-04T15:15'],
  ],
  [
    'Australia/Lord_Howe',
    '30 2 * * *',
    '2026-10-02T00:00Z',
    ['2026-10-02T16:00', '2026-10-03T15:30', '2026-10-04T15:30'],
  ],
  [
    'Australia/Lord_Howe',
    '45 1 * * *',
    '2026-04-03T00:00Z',
    ['2026-04-03T14:45', '2026-04-04T14:45', '2026-04-05T15:15'],
  ],
])('a nightly sync in %s at %s after %s starts once each night', (zone, expression, after, starts) => {
  expect(startsOf(cron(expression, zone), after, 3)).toEqual(starts);
});

test.each([
  ['Europe/Berlin', '2026-03-28T12:00Z'],
  ['Europe/Berlin', '2026-10-24T12:00Z'],
  ['America/New_York', '2026-03-07T12:00Z'],
  ['America/New_York', '2026-10-31T12:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T00:00Z'],
])('a sync every ten minutes in %s from %s on neither pauses nor starts twice', (zone, after) => {
  const starts = nextStarts('often', cron('*/10 * * * *', zone), new Date(after), 24 * 6);
  const gaps = new Set(starts.slice(1).map((at, index) => at.getTime() - (starts[index]?.getTime() ?? 0)));
  expect([...gaps]).toEqual([10 * 60_000]);
});

test('times of one night that are skipped together start together, once', () => {
  const twice = cron('0,30 2 * * *', 'Europe/Berlin');
  expect(startsOf(twice, '2026-03-29T00:00Z', 2)).toEqual(['2026-03-29T01:00', '2026-03-30T00:00']);
});

test('an expression that names hours does not repeat the hour that comes twice', () => {
  const hours = cron('0 1-3 * * *', 'Europe/Berlin');
  expect(startsOf(hours, '2026-10-24T20:00Z', 4)).toEqual([
    '2026-10-24T23:00',
    '2026-10-25T00:00',
    '2026-10-25T02:00',
    '2026-10-26T00:00',
  ]);
});

test('a day that a zone never had starts when it was skipped', () => {
  const noon = cron('0 12 * * *', 'Pacific/Apia'); // 30 December 2011 did not exist there
  expect(startsOf(noon, '2011-12-29T00:00Z', 3)).toEqual(['2011-12-29T22:00', '2011-12-30T10:00', '2011-12-30T22:00']);
});

test.each([
  [every(5 * 60_000), ['2026-11-22T02:05', '2026-11-22T02:10']],
  [cron('@daily'), ['2026-11-23T00:00', '2026-11-24T00:00']],
  [cron('0 0 29 2 *', 'Europe/Berlin'), ['2028-02-28T23:00', '2032-02-28T23:00']],
  [cron('30 0 4 * * 1'), ['2026-11-23T04:00', '2026-11-30T04:00']],
])('the starts of %j follow one another', (schedule, starts) => {
  expect(startsOf(schedule, '2026-11-22T02:00Z', 2)).toEqual(starts);
});

test('jitter delays every start of a sync by the same time, which its name decides', () => {
  const spread = (jitterMs: number): Schedule => ({ ...cron('0 2 * * *', 'Europe/Berlin'), jitterMs });
  const delays = ['a', 'b', 'c', 'd'].map((sync) => {
    const [first, second] = nextStarts(sync, spread(60_000), new Date('2026-03-28T12:00Z'), 2);
    const delayMs = jitterOf(sync, spread(60_000));
    expect(first?.getTime()).toBe(Date.parse('2026-03-29T00:00Z') + delayMs + 60 * 60_000);
    expect(second?.getTime()).toBe(Date.parse('2026-03-30T00:00Z') + delayMs);
    return delayMs;
  });
  expect(new Set(delays).size).toBe(4);
  for (const delayMs of delays) expect(delayMs).toBeLessThan(60_000);
});

test('the next start is after the given moment, however close to a start that moment is', () => {
  const spread: Schedule = { ...every(60_000), jitterMs: 59_999 };
  const first = nextStart('a', spread, new Date('2026-11-22T02:00Z'));
  const justBefore = new Date(first.getTime() - 1);
  expect(nextStart('a', spread, justBefore)).toEqual(first);
  expect(nextStart('a', spread, first).getTime() - first.getTime()).toBe(60_000);
});

test('the next starts are the same, however often and in whatever order they are asked for', () => {
  const schedule = cron('0 2 * * *', 'Europe/Berlin');
  const asked = ['2026-11-22T00:59:59Z', '2026-11-22T01:00Z', '2026-11-24T12:00Z', '2026-11-22T00:00Z'] as const;
  for (const count of [1, 5, 2])
    for (const after of asked)
      expect(startsOf(schedule, after, count)).toEqual(startsOf({ ...schedule }, after, count));
});
