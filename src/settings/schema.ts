/**
 * The settings file as zod schemas, with every default. Strict: an unknown key is an error. A parse returns the file's
 * shape with durations in milliseconds; resolve.ts turns it into `Settings`.
 */
import { z } from 'zod';
import { listenAddress, name, nonEmpty, secret, serviceUrl, storeUrl } from './fields.ts';
import { explainType } from './issues.ts';
import { hiddenNodes, readRedisNodes } from './redis-url.ts';
import { account } from './schema-account.ts';
import { alertChannel } from './schema-alert.ts';
import { consoleSection } from './schema-console.ts';
import { retention } from './schema-retention.ts';
import { sync, syncTypes } from './schema-sync.ts';
import { target } from './schema-target.ts';

export const databaseUrl = storeUrl('embedded', ['postgres:', 'postgresql:']);
export const redisUrl = storeUrl('none', ['redis:', 'rediss:'], readNodes, ['redis+sentinel:', 'redis+cluster:']);

function readNodes(text: string) {
  const nodes = readRedisNodes(text);
  return typeof nodes === 'object' ? hiddenNodes(text) : nodes;
}

const redisPrefix = z
  .string({
    error: ({ input }) => explainType('text; braces need quotes: "{lockstep}"', input),
  })
  .regex(/^[\w{}.-]{1,64}$/, 'expected 1 to 64 letters, digits, _, -, . or braces')
  .prefault('lockstep')
  .describe('Prefix of the names of all keys. Default: lockstep.');

export const settingsFile = z.strictObject({
  service: z
    .strictObject({
      url: serviceUrl
        .prefault('embedded')
        .describe('embedded, or the base address of the service, used for all accounts. Default: embedded.'),
    })
    .prefault({})
    .describe('The Sales & Productivity API.'),
  accounts: z
    .record(name, account)
    .refine((accounts) => Object.keys(accounts).length > 0, 'needs at least one account')
    .describe('Tenants of the service, by names of your choice.'),
  database: z
    .strictObject({
      url: databaseUrl
        .prefault('embedded')
        .describe('embedded, or postgres://…; DATABASE_URL in the environment overrides it. Default: embedded.'),
    })
    .prefault({})
    .describe('Postgres: holds the ledger and the embedded service.'),
  redis: z
    .strictObject({
      url: redisUrl
        .prefault('none')
        .describe(
          'none, redis://…, redis+sentinel://… or redis+cluster://…; REDIS_URL in the environment overrides it. Default: none, the database is used instead.',
        ),
      sentinelPassword: secret
        .optional()
        .describe('The password of the Sentinels, if they have one of their own. Default: none.'),
      prefix: redisPrefix,
    })
    .prefault({})
    .describe('Redis or Valkey: queue and budgets, for several machines.'),
  syncs: z.record(name, sync).prefault({}).describe('Repeatable work, by names of your choice.'),
  targets: z.record(name, target).prefault({}).describe('Outside systems, by names of your choice.'),
  alerts: z.record(name, alertChannel).prefault({}).describe('Where problems are reported, by names of your choice.'),
  presets: nonEmpty
    .optional()
    .describe('Directory with presets of your own for orders load; relative to this file. Default: none.'),
  health: z
    .strictObject({
      listen: listenAddress
        .optional()
        .describe(
          'Address and port of /healthz, /readyz and /metrics, in every process of start; start --health wins. Default: none.',
        ),
    })
    .prefault({})
    .describe('Health checks and metrics.'),
  worker: z
    .strictObject({
      concurrency: z
        .int()
        .min(1)
        .max(32)
        .prefault(8)
        .describe(
          'Jobs that a process works on at once, and so the accounts that it sends for; without Redis at most 8. Default: 8.',
        ),
    })
    .prefault({})
    .describe('How much a process with the role worker does at once.'),
  retention,
  console: consoleSection,
});

/** The keys that each type of a section has. */
export const VARIANTS = {
  syncs: keysByType(syncTypes.options),
  targets: keysByType(target.options),
  alerts: keysByType(alertChannel.options),
};

function keysByType(
  options: readonly { readonly shape: { readonly type: z.ZodLiteral<string> } }[],
): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(options.map(({ shape }) => [shape.type.value, Object.keys(shape)]));
}

/** The content of the settings file, with defaults filled in. */
export type SettingsFile = z.output<typeof settingsFile>;

/** The file's JSON Schema, for editors: draft 7, because YAML editors understand it. */
export function settingsJsonSchema(): Record<string, unknown> {
  const schema = z.toJSONSchema(settingsFile, { io: 'input', target: 'draft-7' });
  return { ...schema, title: 'Lockstep settings' };
}

/** The text of config/lockstep.schema.json: `lockstep settings schema > config/lockstep.schema.json`. */
export function renderJsonSchema(): string {
  return `${JSON.stringify(settingsJsonSchema(), undefined, 2)}\n`;
}
