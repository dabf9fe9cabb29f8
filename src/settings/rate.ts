/** The rate that a budget allows, as written in the settings of accounts and targets. */
import { z } from 'zod';
import { duration, formatDuration } from './durations.ts';
import { unlessKeysAreUnknown } from './fields.ts';
import { explainType } from './issues.ts';

const SECOND = 1000;

export const count = z.int({ error: wrongType((input) => explainType('a whole number of calls', input)) }).min(1);

const requestCount = z.int({ error: wrongType(explainRequests) }).min(1, {
  error: ({ input }) => `expected at least 1 call, got ${input}; for less than one call a second, set a longer per`,
});

/** Keys of a budget. The descriptions name `requests` and `perMs` as the defaults; `concurrency` is the default. */
export function rateKeys({
  requests,
  perMs,
  concurrency,
}: {
  readonly requests: string;
  readonly perMs: number;
  readonly concurrency: number;
}) {
  return {
    requests: requestCount
      .optional()
      .describe(`Calls allowed in each \`per\`, on average; \`burst\` allows more at once. Default: ${requests}.`),
    per: duration()
      .optional()
      .describe(`The period for these calls. Default: ${formatDuration(perMs)}.`),
    burst: count
      .optional()
      .describe(
        'Calls that may be made at once after a pause, in addition to `requests` in a `per`. Default: one second of the rate, at least 1.',
      ),
    concurrency: count
      .max(1000)
      .prefault(concurrency)
      .describe(`Calls in flight at once, all processes together. Default: ${concurrency}.`),
  };
}

/** For `.check` of a budget. */
export const requestsWithPer = z.refine<{ readonly requests?: number | undefined; readonly per?: number | undefined }>(
  ({ requests, per }) => (requests === undefined) === (per === undefined),
  {
    error: 'requests and per go together: requests: 20, per: 1s is 20 calls a second',
    when: unlessKeysAreUnknown,
  },
);

/** A field's own message is for a value of the wrong type. Other issues already have messages. */
export function wrongType(explain: (input: unknown) => string) {
  return ({ code, input }: z.core.$ZodRawIssue) => (code === 'invalid_type' ? explain(input) : undefined);
}

/** One second of the rate, but not more than all calls of the budget. */
export function defaultBurst(requests: number, perMs: number): number {
  return Math.max(1, Math.min(Math.floor((requests * SECOND) / perMs), requests));
}

export function explainBudget(input: unknown): string {
  return `${explainType('a map such as { requests: 20, per: 1s }', input)}${rateHint(input, '{ ', ' }')}`;
}

function explainRequests(input: unknown): string {
  return `${explainType('a whole number of calls, such as 20', input)}${rateHint(input, '', '')}`;
}

/** For texts such as `10/minute` and `10 per 5 s`: how to write them in the settings. */
function rateHint(input: unknown, before: string, after: string): string {
  const match =
    typeof input === 'string' ? /^(\d+)\s*(?:\/|per|a)\s*(\d*)\s*(ms|s|m|h)[a-z]*$/i.exec(input.trim()) : null;
  if (match === null) return '';
  const [, requests, per, unit] = match;
  return `; write ${before}requests: ${requests}, per: ${per === '' ? 1 : per}${unit?.toLowerCase()}${after}`;
}
