/** The settings that all targets reached by HTTP share, and what becomes of a target's settings once they are resolved. */
import { z } from 'zod';
import { duration, formatDuration } from '../durations.ts';
import type { SecretRef, SecretSource } from '../fields.ts';
import { count, defaultBurst, explainBudget, requestCount, whenWrongType } from '../schema-account.ts';

/** What a type of target allows where its settings say nothing. */
export interface BudgetDefaults {
  readonly requests: number;
  readonly perMs: number;
  readonly concurrency: number;
}

/** Keys for the strict object of a target: `z.strictObject({ type: z.literal('github'), ...httpKeys({ … }) })`. */
export function httpKeys(defaults: BudgetDefaults) {
  return {
    budget: targetBudget(defaults)
      .prefault({})
      .describe('Calls allowed to this target, shared by every process that uses it.'),
    timeout: duration({ minMs: 10, maxMs: 300_000 })
      .prefault('15s')
      .describe('How long one call may take. Default: 15s.'),
    allowPrivate: z
      .boolean()
      .prefault(false)
      .describe('Allow addresses of this machine and of private networks. Default: false.'),
  };
}

/** A target's settings as the rest of Lockstep sees them: its secrets know their place, its time is in milliseconds. */
export type TargetOf<Schema extends z.ZodType> = { readonly name: string } & Resolved<z.output<Schema>>;

type Resolved<Given> = {
  readonly [Key in keyof Given as Key extends 'timeout' ? 'timeoutMs' : Key]: Given[Key] extends
    | SecretSource
    | undefined
    ? SecretRef | Extract<Given[Key], undefined>
    : Given[Key];
};

function targetBudget(defaults: BudgetDefaults) {
  return z
    .strictObject(
      {
        requests: requestCount.optional().describe(`Calls allowed in each \`per\`. Default: ${defaults.requests}.`),
        per: duration()
          .optional()
          .describe(`The time those calls may take. Default: ${formatDuration(defaults.perMs)}.`),
        burst: count
          .optional()
          .describe('Calls that may be made at once after a pause. Default: one second of the rate, at least 1.'),
        concurrency: count
          .max(1000)
          .prefault(defaults.concurrency)
          .describe(`Calls in flight at once, all processes together. Default: ${defaults.concurrency}.`),
      },
      { error: (issue) => whenWrongType(issue, () => explainBudget(issue.input)) },
    )
    .refine(({ requests, per }) => (requests === undefined) === (per === undefined), {
      error: 'requests and per go together: requests: 20, per: 1s is 20 calls a second',
      when: ({ value, issues }) =>
        typeof value === 'object' && value !== null && !issues.some((issue) => issue.code === 'unrecognized_keys'),
    })
    .transform(({ requests, per, burst, concurrency }) => {
      const rate = { requests: requests ?? defaults.requests, perMs: per ?? defaults.perMs };
      return { ...rate, burst: burst ?? defaultBurst(rate.requests, rate.perMs), concurrency };
    });
}
