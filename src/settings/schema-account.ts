/** The settings of one account: its address, its key, how its service answers, and its budget. */
import { z } from 'zod';
import { dialectSetting } from '../client/call/dialect.ts';
import { PREFIXES } from '../contract/operation.ts';
import { type OperationName, operations } from '../contract/operations.ts';
import { duration } from './durations.ts';
import {
  choice,
  envName,
  exactlyOneOf,
  literalSecret,
  type SecretSource,
  scheme,
  secret,
  secretFile,
  serviceUrl,
  toSource,
} from './fields.ts';
import { explainType } from './issues.ts';
import { didYouMean } from './message-parts.ts';
import { count, defaultBurst, explainBudget, rateKeys, requestsWithPer, wrongType } from './rate.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;

const DEFAULT_REQUESTS = 20;
const DEFAULT_PER_MS = 1 * SECOND;
const DEFAULTS = { perMs: DEFAULT_PER_MS, concurrency: 16 };
/** The upper bound of a discovered rate. */
const DISCOVERED_REQUESTS = 10_000;

const authorization = z
  .strictObject({
    scheme: scheme.prefault('Bearer').describe('The word before the token. Default: Bearer.'),
    env: envName.optional(),
    file: secretFile.optional(),
    token: literalSecret.optional().describe('The token itself; use env or file to keep it out of this file.'),
  })
  .check(exactlyOneOf(['env', 'file', 'token']))
  .meta({ oneOf: [{ required: ['env'] }, { required: ['file'] }, { required: ['token'] }] })
  .transform(({ scheme, env, file, token }) => {
    const source: SecretSource = toSource({ env, file, literal: token }) ?? z.NEVER;
    return { scheme, token: source };
  });

// Safe: the keys of the table are the operations' names.
const operationNames = Object.keys(operations) as [OperationName, ...OperationName[]];

const weights = z.partialRecord(z.enum(operationNames), count, { error: explainWeights });

const budgetKeys = z.strictObject(
  {
    mode: choice(['fixed', 'discover'], 'fixed').describe(
      'fixed: requests and per set the rate. discover: Lockstep finds the rate by trying, and requests and per are the upper bound. Default: fixed.',
    ),
    ...rateKeys({ requests: `${DEFAULT_REQUESTS}; ${DISCOVERED_REQUESTS} if the mode is discover`, ...DEFAULTS }),
    weights: weights
      .prefault({})
      .describe('How many calls a call of an operation counts as, by the name of the operation. Default: 1 each.'),
    timeout: duration({ minMs: 10, maxMs: 60 * MINUTE })
      .prefault('15s')
      .describe('How long one call may take. Default: 15s.'),
    settle: duration()
      .optional()
      .describe(
        'How long the service may take to apply a call, and then to show it in lists. Default: 4 timeouts, at least 60s.',
      ),
  },
  { error: wrongType(explainBudget) },
);

const budget = budgetKeys
  .check(requestsWithPer)
  .transform(({ mode, requests, per = DEFAULT_PER_MS, burst, concurrency, weights, timeout, settle }, context) => {
    const allowed = requests ?? (mode === 'discover' ? DISCOVERED_REQUESTS : DEFAULT_REQUESTS);
    const atOnce = burst ?? defaultBurst(allowed, per);
    for (const [name, weight] of Object.entries(weights)) {
      if (weight <= atOnce) continue;
      const message = `a weight of ${weight} is more than the burst of ${atOnce}, so the call could never be made: raise burst`;
      context.addIssue({ code: 'custom', path: ['weights', name], message });
    }
    return {
      mode,
      requests: allowed,
      perMs: per,
      burst: atOnce,
      concurrency,
      weights,
      timeoutMs: timeout,
      settleMs: settle ?? Math.max(MINUTE, 4 * timeout),
    };
  });

const dialect = z.union(dialectSetting.options, {
  error: ({ input }) => explainType('auto or a map such as { firstTaskPage: 1 }', input),
});

export const account = z.strictObject({
  url: serviceUrl.optional().describe('Base address for this account; overrides service.url.'),
  apiKey: secret
    .optional()
    .describe('API key of the account. May be left out if the service is embedded; a key is then made automatically.'),
  authorization: authorization
    .optional()
    .describe('Sent as the Authorization header too, for services that ask for it.'),
  prefix: choice(['auto', ...PREFIXES], 'auto').describe(
    "Prefix of the service's paths. Default: auto, detected at the first call.",
  ),
  dialect: dialect
    .prefault('auto')
    .describe('How the service answers where its contract is silent. Default: auto, detected from its answers.'),
  patience: duration()
    .prefault('1h')
    .describe(
      'How long scheduled runs, detached runs and files of a folder wait for an unavailable service before they fail. Default: 1h.',
    ),
  budget: budget.prefault({}).describe('Calls allowed with this key, shared by every process that uses it.'),
});

function explainWeights(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code !== 'unrecognized_keys') {
    return wrongType((input) => explainType('a map such as { customers.getall: 5 }', input))(issue);
  }
  // One line per key; issues.ts splits them.
  return issue.keys.map((name) => `no operation has this name${didYouMean(name, operationNames)}`).join('\n');
}
