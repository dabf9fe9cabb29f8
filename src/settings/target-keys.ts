/** Keys that several types of targets share, and the resolved form of a target's settings. */
import { z } from 'zod';
import { duration } from './durations.ts';
import {
  baseUrl,
  flag,
  nonEmpty,
  type SecretRef,
  type SecretSource,
  secret,
  textAs,
  unlessKeysAreUnknown,
} from './fields.ts';
import { defaultBurst, explainBudget, rateKeys, requestsWithPer, wrongType } from './rate.ts';

/** The default limits of a type of target. */
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
    ...callKeys,
  };
}

/** Keys of everything that is called at an address of the settings. */
export const callKeys = {
  timeout: duration({ minMs: 10, maxMs: 300_000 })
    .prefault('15s')
    .describe('How long one call may take. Default: 15s.'),
  allowPrivate: flag.describe('Allow addresses of this machine and of private networks. Default: false.'),
};

/**
 * A target's settings as the rest of Lockstep sees them: secrets name the setting that needs them, and times are in
 * milliseconds.
 */
export type TargetOf<Schema extends z.ZodType> = { readonly name: string } & Resolved<z.output<Schema>>;

type Resolved<Given> = {
  readonly [Key in keyof Given as Key extends 'timeout' ? 'timeoutMs' : Key]: Key extends 'headers'
    ? Headers
    : Located<Given[Key], Key>;
};

type Located<Value, Key> = Value extends SecretSource
  ? SecretRef
  : Key extends WithSecrets
    ? { readonly [Inner in keyof Value]: Located<Value[Inner], Inner> }
    : Value;

/** Keys of a target that hold a map with secrets in it. */
type WithSecrets = 'headers' | 'app' | 'oauthClient';

/** The headers of every call to a target: text, or a secret that follows its scheme. */
export type Headers = Readonly<Record<string, string | (SecretRef & { readonly scheme?: string })>>;

function targetBudget(defaults: BudgetDefaults) {
  const { requests: usual, perMs: usualMs } = defaults;
  return z
    .strictObject(rateKeys({ ...defaults, requests: String(usual) }), { error: wrongType(explainBudget) })
    .check(requestsWithPer)
    .transform(({ requests = usual, per: perMs = usualMs, burst = defaultBurst(requests, perMs), concurrency }) => {
      return { requests, perMs, burst, concurrency };
    });
}

/** The address of a vendor; it may be replaced by a proxy or the user's own server. */
export const vendorUrl = textAs(baseUrl);

/** The address of a vendor's own API. `hint`: what the settings have to know about it. */
export function apiUrl(own: string, hint = '') {
  return vendorUrl.prefault(own).describe(`Address of the API${hint}. Default: ${own}.`);
}

export const createFlag = flag.describe(
  'Create an item for a task without a linked item. Default: false, the task is skipped.',
);

const BY_COLUMN =
  "State of a card at the target, by the name of its column. Default: completed for the sync's done columns, otherwise open.";

/** For systems whose items are either completed or open. */
export const columns = z
  .record(z.string(), z.enum(['completed', 'open']))
  .prefault({})
  .describe(BY_COLUMN);

/** For systems whose items have a status with a name. */
export const namedColumns = z
  .record(z.string(), nonEmpty)
  .prefault({})
  .describe(`${BY_COLUMN} Values: completed, open, or the name of a status.`);

export const hookKeys = {
  hookSecret: secret
    .optional()
    .describe('Secret of the webhook that reports changes made there; without it no call is accepted.'),
  previousHookSecret: secret
    .optional()
    .describe('The previous secret: during a rotation, calls signed with either are accepted.'),
};

/** For `.check`: these fields are looked up in a place that the settings name. */
export function neededForFields<Field extends string>(fields: readonly Field[]) {
  return z.superRefine<{ readonly fields: { readonly [F in Field]?: unknown }; readonly project?: unknown }>(
    (value, context) => {
      for (const field of fields) {
        if (value.project !== undefined || value.fields[field] === undefined) continue;
        context.addIssue({ code: 'custom', path: ['project'], message: `missing: fields.${field} needs the project` });
      }
    },
  );
}

/** For `.check`: creating items, and finding new ones, needs the setting that says where. */
export function neededFor<Flag extends 'create' | 'createTasks', Key extends string>(flag: Flag, key: Key) {
  const error = `missing: ${flag === 'create' ? 'create: true' : flag} needs the ${key}`;
  return z.refine<{ readonly [F in Flag]: unknown } & { readonly [K in Key]?: unknown }>(
    (value) => value[flag] === false || value[key] !== undefined,
    { error, path: [key], when: unlessKeysAreUnknown },
  );
}
