/**
 * Durations as settings write them: one whole number and one unit, `250ms`, `15s`, `5m`, `1h`, `30d`.
 * A bare number is refused on purpose: a reader cannot tell whether 30 means seconds or milliseconds.
 */
import { z } from 'zod';
import { quote } from './message-parts.ts';

const UNITS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
const PATTERN = /^(\d{1,12})(ms|s|m|h|d)$/;

/** Node's timers have 31 bits for milliseconds; a longer wait would end immediately. */
const MAX_MS = 2 ** 31 - 1;

/** The milliseconds of a text such as `15s`; undefined if it is not a duration. */
export function parseDurationMs(text: string): number | undefined {
  const match = PATTERN.exec(text);
  if (match === null) return undefined;
  // Safe: the pattern has two groups, and the second one matches the keys of UNITS only.
  const [, count, unit] = match as unknown as [string, string, keyof typeof UNITS];
  return Number(count) * UNITS[unit];
}

/** The shortest way to write `ms` as a duration: 60000 becomes `1m`, 1500 becomes `1500ms`. */
export function formatDuration(ms: number): string {
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    if (ms > 0 && ms % UNITS[unit] === 0) return `${ms / UNITS[unit]}${unit}`;
  }
  return `${ms}ms`;
}

/** A settings field that reads a duration and returns milliseconds. Default limits: from 1 ms to about 24 days. */
export function duration({ minMs = 1, maxMs = MAX_MS }: { minMs?: number; maxMs?: number } = {}) {
  return z
    .string({ error: (issue) => explain(issue.input) })
    .regex(PATTERN, { error: (issue) => explain(issue.input) })
    .transform((text, context) => {
      const ms = parseDurationMs(text) ?? Number.NaN;
      if (ms >= minMs && ms <= maxMs) return ms;
      context.addIssue({
        code: 'custom',
        message: `expected a duration from ${formatDuration(minMs)} to ${maxMs === MAX_MS ? '596h' : formatDuration(maxMs)}, got ${quote(text)}`,
      });
      return z.NEVER;
    });
}

function explain(input: unknown): string | undefined {
  const expected = 'expected a duration with its unit (ms, s, m, h or d), such as 250ms, 15s or 5m';
  if (typeof input === 'number' || (typeof input === 'string' && /^\d+$/.test(input))) {
    return `${expected}; got ${input} without a unit: write ${input}s if seconds are meant`;
  }
  if (typeof input === 'string') return `${expected}: one whole number and one unit; got ${quote(input)}`;
  return undefined;
}
