/** Schedules and their starts, in words. */
import { wallTimeAt } from '../base/time-zone.ts';
import { formatDuration } from '../settings/durations.ts';
import type { Schedule } from '../settings/schedules.ts';

const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];

/** `daily at 02:00 (Europe/Berlin)`, `every 5m`; cron expressions without such words are shown as they are. */
export function scheduleWords(schedule: Schedule): string {
  const jitter = schedule.jitterMs === 0 ? '' : `, up to ${formatDuration(schedule.jitterMs)} later`;
  const missed = schedule.missed === 'skip' ? ', missed starts are skipped' : '';
  const when =
    schedule.kind === 'every'
      ? `every ${formatDuration(schedule.everyMs)}`
      : `${cronWords(schedule.cron)} (${schedule.timezone})`;
  return `${when}${jitter}${missed}`;
}

function cronWords(cron: string): string {
  const [minute = '', hour = '', ...days] = cron.trim().split(/\s+/);
  const minutes = /^\*\/(\d+)$/.exec(minute)?.[1];
  if (minutes !== undefined && [hour, ...days].join(' ') === '* * * *' && 60 % Number(minutes) === 0) {
    return `every ${minutes} minutes`;
  }
  const weekday = /^\* \* ([0-6])$/.exec(days.join(' '))?.[1];
  const isOnce = /^\d+$/.test(minute) && /^\d+$/.test(hour);
  if (!isOnce || (weekday === undefined && days.join(' ') !== '* * *')) return `at ${cron}`;
  const time = `${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`;
  return `${weekday === undefined ? 'daily' : `every ${DAYS[Number(weekday)]}`} at ${time}`;
}

/** The zone in which the starts of a schedule are shown. */
export function zoneOf(schedule: Schedule): string {
  return schedule.kind === 'cron' ? schedule.timezone : 'UTC';
}

/** What a start depends on: a sync whose paused run has not ended does not start. */
export function startCondition(pausedRun: string | undefined): string {
  return pausedRun === undefined ? '' : `, if run ${pausedRun} has ended by then`;
}

/** `2026-11-23 02:00, 11-24 02:00, 14:00`: what is as in the start before is left out. */
export function startWords(starts: readonly Date[], zone: string): string {
  const walls = starts.map((at) => new Date(wallTimeAt(zone, at.getTime())).toISOString());
  const end = walls.some((wall) => wall.slice(17, 19) !== '00') ? 19 : 16;
  const words = walls.map((wall, index) => {
    const before = walls[index - 1] ?? '';
    if (wall.slice(0, 10) === before.slice(0, 10)) return wall.slice(11, end);
    return wall.slice(wall.slice(0, 4) === before.slice(0, 4) ? 5 : 0, end).replace('T', ' ');
  });
  return words.join(', ');
}
