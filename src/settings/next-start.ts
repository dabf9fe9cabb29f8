/**
 * When a schedule starts its sync: the same times in every process, whatever the time zone of its machine.
 *
 * A cron expression that names its hours is read on the wall clock: a time that is skipped in spring starts when the clocks
 * are set, and a time that comes twice in autumn starts the first time. An expression for every hour (`*`) goes by real
 * time: it has no gap and no repetition on those nights.
 */
import { createHash } from 'node:crypto';
import type { CronExpression } from 'cron-parser';
import { changeBetween, momentOf, offsetAt, wallTimeAt } from '../base/time-zone.ts';
import { parseCron, type Schedule } from './schedules.ts';

/** The first start after a moment. An interval is counted from 1970-01-01, so that every process counts alike. */
export function nextStart(sync: string, schedule: Schedule, after: Date): Date {
  const delayMs = jitterOf(sync, schedule);
  return new Date(nextTime(schedule, after.getTime() - delayMs) + delayMs);
}

/** Starts found before, and the moment that they follow: until the first of them, the next starts stay the same. */
const found = new WeakMap<Schedule, { readonly sync: string; readonly from: Date; readonly starts: readonly Date[] }>();

export function nextStarts(sync: string, schedule: Schedule, after: Date, count: number): readonly Date[] {
  const known = found.get(schedule);
  const isSame = known?.sync === sync && known.from <= after && known.starts.every((start) => start > after);
  const { from, starts: first } = isSame ? known : { from: after, starts: [] };
  const starts = [...first];
  while (starts.length < count) starts.push(nextStart(sync, schedule, starts.at(-1) ?? after));
  found.set(schedule, { sync, from, starts });
  return starts.slice(0, count);
}

/** How much later than its schedule says a sync starts: less than `jitter`, and always the same. */
export function jitterOf(sync: string, { jitterMs }: Schedule): number {
  const drawn = createHash('sha256').update(sync).digest().readUInt32BE() / 2 ** 32;
  return Math.floor(drawn * jitterMs);
}

function nextTime(schedule: Schedule, afterMs: number): number {
  if (schedule.kind === 'every') return (Math.floor(afterMs / schedule.everyMs) + 1) * schedule.everyMs;
  const { cron, timezone } = schedule;
  const expression = parseCron(cron);
  const isEveryHour = expression.fields.hour.values.length === 24;
  return isEveryHour ? nextByRealTime(expression, timezone, afterMs) : nextOnTheWall(expression, timezone, afterMs);
}

function nextOnTheWall(expression: CronExpression, zone: string, afterMs: number): number {
  for (let wallMs = wallTimeAt(zone, afterMs); ; ) {
    wallMs = nextMatch(expression, wallMs);
    const atMs = momentOf(zone, wallMs);
    if (atMs > afterMs) return atMs;
  }
}

function nextByRealTime(expression: CronExpression, zone: string, afterMs: number): number {
  for (let fromMs = afterMs, offset = offsetAt(zone, afterMs); ; ) {
    const atMs = nextMatch(expression, fromMs + offset) - offset;
    if (offsetAt(zone, atMs) === offset) return atMs;
    const changeMs = changeBetween(zone, fromMs, atMs); // the clock showed other times from here on
    fromMs = changeMs - 1;
    offset = offsetAt(zone, changeMs);
  }
}

/** Found last: many syncs have the same expression, and ask at the same time. */
const matches = new WeakMap<CronExpression, { readonly after: number; readonly next: number }>();

/** The next wall-clock time that the expression names. */
function nextMatch(expression: CronExpression, wallMs: number): number {
  const known = matches.get(expression);
  if (known && known.after <= wallMs && wallMs < known.next) return known.next;
  expression.reset(new Date(wallMs));
  const next = expression.next().getTime();
  matches.set(expression, { after: wallMs, next });
  return next;
}
