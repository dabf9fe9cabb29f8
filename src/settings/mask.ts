/** The settings for `lockstep settings print`: in the file's own shape, defaults filled in, secrets masked. */
import { formatDuration } from './durations.ts';
import type { Schedule } from './schedules.ts';
import type { AccountSettings, SecretRef, Settings, SyncSettings, TargetSettings } from './settings.ts';

/** Plain values for YAML or JSON. Sources of secrets are shown, secrets are `***`, and so are passwords in URLs. */
export function maskSettings(settings: Settings): Record<string, unknown> {
  const { host, port, password } = settings.console;
  return withoutUndefined({
    service: { url: settings.service.url ?? 'embedded' },
    accounts: mapValues(settings.accounts, maskAccount),
    database: { url: settings.database.url?.toString() ?? 'embedded' },
    redis: { url: settings.redis.url?.toString() ?? 'none', prefix: settings.redis.prefix },
    syncs: mapValues(settings.syncs, maskSync),
    targets: mapValues(settings.targets, maskTarget),
    console: withoutUndefined({
      listen: `${host.includes(':') ? `[${host}]` : host}:${port}`,
      password: maskSecret(password),
    }),
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

function maskTarget({ type, url, secret, previousSecret, allowPrivate, timeoutMs }: TargetSettings) {
  return withoutUndefined({
    type,
    url: url.toString(),
    secret: maskSecret(secret),
    previousSecret: maskSecret(previousSecret),
    allowPrivate,
    timeout: formatDuration(timeoutMs),
  });
}

function maskSecret(ref: SecretRef | undefined) {
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
