import { expect, test } from 'vitest';
import { scheduleWords, startWords } from '../../src/operator/schedule-words.ts';
import type { Schedule } from '../../src/settings/schedules.ts';

const PLAIN = { missed: 'run-once', jitterMs: 0 } as const;
const cron = (text: string): Schedule => ({ kind: 'cron', cron: text, timezone: 'Europe/Berlin', ...PLAIN });

test.each([
  [cron('0 2 * * *'), 'daily at 02:00 (Europe/Berlin)'],
  [cron('5 14 * * 1'), 'every Monday at 14:05 (Europe/Berlin)'],
  [cron('*/15 * * * *'), 'every 15 minutes (Europe/Berlin)'],
  [cron('*/7 * * * *'), 'at */7 * * * * (Europe/Berlin)'],
  [cron('0 2 1 * *'), 'at 0 2 1 * * (Europe/Berlin)'],
  [cron('30 0 2 * * *'), 'at 30 0 2 * * * (Europe/Berlin)'],
  [{ ...cron('0 2 * * *'), jitterMs: 30_000 }, 'daily at 02:00 (Europe/Berlin), up to 30s later'],
  [{ kind: 'every', everyMs: 300_000, missed: 'skip', jitterMs: 0 }, 'every 5m, missed starts are skipped'],
] satisfies [Schedule, string][])('the schedule %j in words', (schedule, words) => {
  expect(scheduleWords(schedule)).toBe(words);
});

test.each([
  [['2026-12-31T01:00Z', '2027-01-01T01:00Z', '2027-01-02T01:00Z'], '2026-12-31 02:00, 2027-01-01 02:00, 01-02 02:00'],
  [['2026-11-22T01:00Z', '2026-11-22T01:05Z'], '2026-11-22 02:00, 02:05'],
  [['2026-11-22T01:00:17Z'], '2026-11-22 02:00:17'],
])('starts are shown on the clock of their zone, without what repeats: %j', (starts, words) => {
  const dates = starts.map((start) => new Date(start));
  expect(startWords(dates, 'Europe/Berlin')).toBe(words);
});
