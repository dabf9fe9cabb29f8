/** The settings for `lockstep settings print`: in the file's own shape, defaults filled in, secrets masked. */
import { formatDuration } from './durations.ts';
import { isSecretSource, type SecretRef, type SecretSource } from './fields.ts';
import { Hidden } from './hidden.ts';
import type { Schedule } from './schedules.ts';
import type { AccountSettings, Settings, SyncSettings } from './settings.ts';
import type { TargetSettings } from './target.ts';

/** Plain values for YAML or JSON. Sources of secrets are shown, secrets are `***`, and so are passwords in URLs. */
export function maskSettings(settings: Settings): Record<string, unknown> {
  const { host, port } = settings.console;
  return withoutUndefined({
    service: { url: settings.service.url ?? 'embedded' },
    accounts: mapValues(settings.accounts, maskAccount),
    database: { url: settings.database.url?.toString() ?? 'embedded' },
    redis: { url: settings.redis.url?.toString() ?? 'none', prefix: settings.redis.prefix },
    syncs: mapValues(settings.syncs, maskSync),
    targets: mapValues(settings.targets, maskTarget),
    console: { listen: `${host.includes(':') ? `[${host}]` : host}:${port}` },
  });
}

function maskAccount({ url, apiKey, authorization, prefix, dialect, budget }: AccountSettings) {
  return withoutUndefined({
    url: url ?? 'embedded',
    apiKey: maskSecret(apiKey),
    authorization: authorization && { scheme: authorization.scheme, ...tokenOf(authorization.token) },
    prefix,
    dialect,
    budget: {
      requests: budget.requests,
      per: formatDuration(budget.perMs),
      burst: budget.burst,
      concurrency: budget.concurrency,
      timeout: formatDuration(budget.timeoutMs),
      settle: formatDuration(budget.settleMs),
    },
  });
}

function maskSync({ name, schedule, ...sync }: SyncSettings) {
  const { job, account, options, ...rest } = sync;
  return withoutUndefined({
    job,
    account,
    schedule: schedule && maskSchedule(schedule),
    ...rest,
    options,
  });
}

function maskSchedule(schedule: Schedule) {
  if (schedule.kind === 'every') return { every: formatDuration(schedule.everyMs) };
  return { cron: schedule.cron, timezone: schedule.timezone };
}

/** Of any type: what is hidden or a secret is masked, and what is in milliseconds is a duration again. */
function maskTarget({ name, ...target }: TargetSettings) {
  return maskFields(target);
}

function maskFields(fields: object): Record<string, unknown> {
  return withoutUndefined(Object.fromEntries(Object.entries(fields).map(maskField)));
}

function maskField([key, value]: [string, unknown]): [string, unknown] {
  if (value instanceof Hidden) return [key, value.toString()];
  if (isSecretSource(value)) return [key, maskSecret(value)];
  if (typeof value === 'number' && key.endsWith('Ms')) return [key.slice(0, -2), formatDuration(value)];
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return [key, isMap ? maskFields(value) : value];
}

function maskSecret(ref: SecretSource | undefined) {
  if (ref === undefined) return undefined;
  if (ref.from === 'env') return { env: ref.name };
  return ref.from === 'file' ? { file: ref.path } : ref.value.toString();
}

function tokenOf(ref: SecretRef) {
  const masked = maskSecret(ref);
  return typeof masked === 'string' ? { token: masked } : masked;
}

function mapValues<T>(entries: Readonly<Record<string, T>>, map: (entry: T) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, map(entry)]));
}

function withoutUndefined(entries: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entries).filter(([, value]) => value !== undefined));
}
