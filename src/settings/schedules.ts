/** When a sync runs automatically, and checks of cron expressions and time zones before a scheduler gets them. */
import { createRequire } from 'node:module';
import type * as CronParser from 'cron-parser';
import { perKey } from '../base/per-key.ts';
import { didYouMean, quote } from './message-parts.ts';

export type Schedule = (
  | { readonly kind: 'cron'; readonly cron: string; readonly timezone: string }
  | { readonly kind: 'every'; readonly everyMs: number }
) & {
  /** What becomes of starts that were not made in time: one start as soon as possible, or none. */
  readonly missed: 'run-once' | 'skip';
  /** The sync starts up to this much later than the schedule says; shorter than the time between two starts. */
  readonly jitterMs: number;
};

let loaded: typeof CronParser | undefined;

/**
 * Read as times of UTC, and shared: reset it before asking for its next times. Throws if it is no cron expression, or if it names
 * no time, such as 30 February. The parser is loaded when it is used: most commands need no start. Reading an expression takes
 * longer than finding its next time, and many syncs have the same one.
 */
export const parseCron = perKey((text: string): CronParser.CronExpression => {
  loaded ??= createRequire(import.meta.url)('cron-parser') as typeof CronParser; // safe: the types of the same file
  const expression = loaded.CronExpressionParser.parse(text, { tz: 'UTC' });
  if (expression.fields.month.values.length < MONTHS) expression.next(); // every month together have all days
  return expression;
});

const MONTHS = 12;
const ALIASES = ['@yearly', '@annually', '@monthly', '@weekly', '@daily', '@hourly', '@minutely'];

/** The problem of a cron expression, if it has one. */
export function cronProblem(text: string): string | undefined {
  const fields = text.trim().split(/\s+/);
  if (text.trim().startsWith('@')) {
    return ALIASES.includes(text.trim()) ? undefined : `no cron alias ${quote(text)}${didYouMean(text, ALIASES)}`;
  }
  // The parser fills in missing fields and gives H a random value. Both would be unexpected, so both are refused.
  if (fields.length < 5 || fields.length > 6) {
    return `expected 5 fields (minute hour day month weekday) or 6 with seconds first, such as "0 2 * * *", got ${quote(text)}`;
  }
  if (/(^|[\s,])H/.test(text)) return `H is not supported in a cron expression: ${quote(text)}`;
  try {
    parseCron(text);
    return undefined;
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    if (reason.includes('day of month')) return `${quote(text)} never starts: no month that it names has that day`;
    const plain = reason
      .replace(/^Constraint error, got (?:value|range) (\S+) expected range (\S+)$/, '$1 is not in $2')
      .replace(/^NaN-NaN is/, 'a field is');
    return `not a cron expression: ${quote(text)} (${plain})`;
  }
}

/** The problem of an IANA time zone, if it has one. */
export function timezoneProblem(text: string): string | undefined {
  // Some Node versions accept offsets such as +02:00. They are refused because they have no daylight saving time.
  if (knownZones.has(text)) return undefined;
  if (/^[A-Za-z]/.test(text) && isKnownZone(text)) {
    knownZones.add(text);
    return undefined;
  }
  const zones = Intl.supportedValuesOf('timeZone');
  const city = zones.find((zone) => zone.toLowerCase().endsWith(`/${text.toLowerCase()}`));
  const hint = city === undefined ? didYouMean(text, zones) : `; did you mean ${quote(city)}?`;
  return `expected an IANA time zone, such as Europe/Berlin, got ${quote(text)}${hint}`;
}

/** Asking for a zone takes longer than reading the rest of a sync. */
const knownZones = new Set<string>();

function isKnownZone(text: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: text });
    return true;
  } catch {
    return false;
  }
}

/** The shortest time between two of the next starts that a cron expression names, in milliseconds. */
export function shortestGapMs(cron: string): number {
  const expression = parseCron(cron);
  expression.reset(new Date());
  const starts = expression.take(GAPS + 1).map((start) => start.getTime());
  return Math.min(...starts.slice(1).map((at, index) => at - (starts[index] ?? 0)));
}

const GAPS = 60;
