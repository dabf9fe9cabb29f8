/** The settings that all targets reached by HTTP share, and what becomes of a target's settings once they are resolved. */
import { z } from 'zod';
import { duration } from '../durations.ts';
import type { SecretRef, SecretSource } from '../fields.ts';
import { defaultBurst, explainBudget, rateKeys, requestsWithPer, whenWrongType } from '../rate.ts';

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
  const { requests: usual, perMs: usualMs } = defaults;
  return z
    .strictObject(rateKeys({ ...defaults, requests: String(usual) }), {
      error: (issue) => whenWrongType(issue, () => explainBudget(issue.input)),
    })
    .check(requestsWithPer)
    .transform(({ requests = usual, per: perMs = usualMs, burst = defaultBurst(requests, perMs), concurrency }) => {
      return { requests, perMs, burst, concurrency };
    });
}
