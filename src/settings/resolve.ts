/**
 * Turns the parsed file into `Settings`: the service of each account, secrets with the setting that needs them, and
 * overrides from the environment.
 */
import { dirname, resolve } from 'node:path';
import { isSecretSource, type SecretRef, type SecretSource } from './fields.ts';
import type { Hidden } from './hidden.ts';
import type { SettingsFile } from './schema.ts';
import type { ChannelSettings } from './schema-alert.ts';
import { OPERATOR } from './schema-console.ts';
import type { TargetSettings } from './schema-target.ts';
import type { AccountSettings, Settings, SyncSettings } from './settings.ts';

/** The overrides from the environment. `{ url: undefined }` means embedded or none. */
export interface Overrides {
  readonly database?: { readonly url: Hidden | undefined } | undefined;
  readonly redis?: { readonly url: Hidden | undefined } | undefined;
}

export function resolveSettings(parsed: SettingsFile, file: string, overrides: Overrides): Omit<Settings, 'warnings'> {
  const secretAt = (where: string, source: SecretSource): SecretRef =>
    source.from === 'file' ? { ...source, path: resolve(dirname(file), source.path), where } : { ...source, where };

  const account = (name: string, given: SettingsFile['accounts'][string]): AccountSettings => {
    const { patience: patienceMs, apiKey, authorization, ...rest } = given;
    const where = `accounts.${name}`;
    return {
      ...rest,
      name,
      url: Object.hasOwn(given, 'url') ? given.url : parsed.service.url,
      apiKey: apiKey && secretAt(`${where}.apiKey`, apiKey),
      authorization: authorization && {
        ...authorization,
        token: secretAt(`${where}.authorization`, authorization.token),
      },
      patienceMs,
    };
  };

  const presets = parsed.presets === undefined ? undefined : resolve(dirname(file), parsed.presets);

  const sync = (name: string, given: SettingsFile['syncs'][string]): SyncSettings => {
    if (given.type !== 'orders') return { name, ...given };
    return { name, ...given, options: { ...given.options, folder: resolve(dirname(file), given.options.folder) } };
  };

  const located = (where: string, value: unknown): unknown => {
    if (isSecretSource(value)) return secretAt(where, value);
    const isMap = typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
    return isMap ? locatedIn(where, value) : value;
  };
  const locatedIn = (where: string, map: object) =>
    Object.fromEntries(Object.entries(map).map(([key, value]) => [key, located(`${where}.${key}`, value)]));
  // Safe: TargetOf says the same for every type, but the compiler cannot see it because the names of the keys are lost.
  const outside = <Outside>(section: 'targets' | 'alerts', name: string, written: object) => {
    const { timeout: timeoutMs, ...given } = locatedIn(`${section}.${name}`, written);
    return { ...given, name, ...(timeoutMs !== undefined && { timeoutMs }) } as Outside;
  };

  const { password } = parsed.console;
  const users = {
    ...(password && { [OPERATOR]: { password, role: 'operator' } as const }),
    ...parsed.console.users,
  };

  return {
    file,
    service: parsed.service,
    accounts: mapEntries(parsed.accounts, account),
    database: overrides.database ?? parsed.database,
    redis: {
      ...parsed.redis,
      ...overrides.redis,
      sentinelPassword:
        parsed.redis.sentinelPassword && secretAt('redis.sentinelPassword', parsed.redis.sentinelPassword),
    },
    syncs: mapEntries(parsed.syncs, sync),
    targets: mapEntries(parsed.targets, (name, given) => outside<TargetSettings>('targets', name, given)),
    alerts: mapEntries(parsed.alerts, (name, given) => outside<ChannelSettings>('alerts', name, given)),
    worker: parsed.worker,
    retention: parsed.retention,
    console: {
      ...parsed.console.listen,
      url: parsed.console.url,
      users: mapEntries(users, (name, user) => ({
        ...user,
        password: secretAt(name === OPERATOR ? 'console.password' : `console.users.${name}.password`, user.password),
      })),
      tokens: mapEntries(parsed.console.tokens, (name, given) => ({
        ...given,
        token: secretAt(`console.tokens.${name}.token`, given.token),
      })),
      trustProxy: parsed.console.trustProxy,
    },
    presets,
    health: parsed.health.listen,
  };
}

/** Without a prototype, so that a name such as `constructor` exists only if the settings define it. */
function mapEntries<T, R>(entries: Readonly<Record<string, T>>, map: (name: string, entry: T) => R): Record<string, R> {
  const mapped: Record<string, R> = Object.create(null);
  for (const [name, entry] of Object.entries(entries)) mapped[name] = map(name, entry);
  return mapped;
}
