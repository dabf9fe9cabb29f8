/** The rate that a budget allows, as the settings of accounts and targets say it. */
import { z } from 'zod';
import { duration, formatDuration } from './durations.ts';
import { unlessKeysAreUnknown } from './fields.ts';
import { explainType } from './issues.ts';

const SECOND = 1000;

export const count = z.int({ error: wrongType((input) => explainType('a whole number of calls', input)) }).min(1);

const requestCount = z.int({ error: wrongType(explainRequests) }).min(1, {
  error: ({ input }) => `expected at least 1 call, got ${input}; for less than one a second make per longer`,
});

/** Keys of a budget. `requests` and `perMs` are said as the defaults; `concurrency` is one. */
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
    requests: requestCount.optional().describe(`Calls allowed in each \`per\`. Default: ${requests}.`),
    per: duration()
      .optional()
      .describe(`The time those calls may take. Default: ${formatDuration(perMs)}.`),
    burst: count
      .optional()
      .describe('Calls that may be made at once after a pause. Default: one second of the rate, at least 1.'),
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

/** A field's own words are for a value of the wrong type; what else zod finds in it has its words already. */
export function wrongType(explain: (input: unknown) => string) {
  return ({ code, input }: z.core.$ZodRawIssue) => (code === 'invalid_type' ? explain(input) : undefined);
}

/** One second of the rate, as long as the budget has that many calls at all. */
export function defaultBurst(requests: number, perMs: number): number {
  return Math.max(1, Math.min(Math.floor((requests * SECOND) / perMs), requests));
}

export function explainBudget(input: unknown): string {
  return `${explainType('a map such as { requests: 20, per: 1s }', input)}${rateHint(input, '{ ', ' }')}`;
}

function explainRequests(input: unknown): string {
  return `${explainType('a whole number of calls, such as 20', input)}${rateHint(input, '', '')}`;
}

/** For `10/minute` and `10 per 5 s`: how the settings say it. */
function rateHint(input: unknown, before: string, after: string): string {
  const match =
    typeof input === 'string' ? /^(\d+)\s*(?:\/|per|a)\s*(\d*)\s*(ms|s|m|h)[a-z]*$/i.exec(input.trim()) : null;
  if (match === null) return '';
  const [, requests, per, unit] = match;
  return `; write ${before}requests: ${requests}, per: ${per === '' ? 1 : per}${unit?.toLowerCase()}${after}`;
}
