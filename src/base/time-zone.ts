/** Wall-clock times of a time zone. A wall-clock time is written as the milliseconds that it would be in UTC. */
import { perKey } from './per-key.ts';

/** More than a day and its change: a zone changes its offset at most once within this time. */
const AROUND_MS = 24 * 60 * 60 * 1000;

/** What a clock in `zone` (an IANA name) shows at a moment. */
export function wallTimeAt(zone: string, atMs: number): number {
  // Such as 3/29/2026, 02:00:00.
  const [month = 1, day, year = 0, hour, minute, second] = formatOf(zone).format(atMs).split(/\D+/).map(Number);
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((atMs % 1000) + 1000) % 1000);
}

/**
 * When a clock in `zone` first shows a wall-clock time. A time that is skipped when clocks are set forward is taken as the
 * moment when they are set.
 */
export function momentOf(zone: string, wallMs: number): number {
  const [before, after] = [-AROUND_MS, AROUND_MS].map((ms) => offsetAt(zone, wallMs + ms)) as [number, number]; // safe: of two
  const moments = [wallMs - before, wallMs - after].filter((atMs) => wallTimeAt(zone, atMs) === wallMs);
  return moments.length > 0 ? Math.min(...moments) : changeBetween(zone, wallMs - after, wallMs - before);
}

/** Milliseconds ahead of UTC. */
export function offsetAt(zone: string, atMs: number): number {
  return wallTimeAt(zone, atMs) - atMs;
}

/** The first moment with the offset that the zone has at `endMs`; its offset at `beginMs` is another one. */
export function changeBetween(zone: string, beginMs: number, endMs: number): number {
  const before = offsetAt(zone, beginMs);
  let [last, first] = [beginMs, endMs];
  while (first - last > 1) {
    const middle = Math.floor((last + first) / 2);
    if (offsetAt(zone, middle) === before) last = middle;
    else first = middle;
  }
  return first;
}

const formatOf = perKey((zone: string) => {
  const numeric = { year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric' } as const;
  const options = { ...numeric, minute: 'numeric', second: 'numeric', hourCycle: 'h23', timeZone: zone } as const;
  return new Intl.DateTimeFormat('en-US', options);
});
