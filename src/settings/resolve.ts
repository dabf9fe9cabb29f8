/** From the parsed file to `Settings`: each account's own service, secrets with their place, the environment's overrides. */
import { dirname, resolve } from 'node:path';
import { isSecretSource, type SecretRef, type SecretSource } from './fields.ts';
import type { Hidden } from './hidden.ts';
import type { SettingsFile } from './schema.ts';
import type { AccountSettings, Settings, SyncSettings } from './settings.ts';
import type { TargetSettings } from './target.ts';

export interface Overrides {
  readonly databaseUrl?: Hidden | undefined;
  readonly redisUrl?: Hidden | undefined;
}

/** `overrides` holds a key where the environment decides, also where it decides for undefined (embedded, none). */
export function resolveSettings(parsed: SettingsFile, file: string, overrides: Overrides): Omit<Settings, 'warnings'> {
  const secretAt = (where: string, source: SecretSource): SecretRef =>
    source.from === 'file' ? { ...source, path: resolve(dirname(file), source.path), where } : { ...source, where };
  const optionalAt = (where: string, source: SecretSource | undefined) =>
    source === undefined ? undefined : secretAt(where, source);

  const account = (name: string, given: SettingsFile['accounts'][string]): AccountSettings => ({
    name,
    url: Object.hasOwn(given, 'url') ? given.url : parsed.service.url,
    apiKey: optionalAt(`accounts.${name}.apiKey`, given.apiKey),
    authorization:
      given.authorization === undefined
        ? undefined
        : {
            scheme: given.authorization.scheme,
            token: secretAt(`accounts.${name}.authorization`, given.authorization.token),
          },
    prefix: given.prefix,
    dialect: given.dialect,
    patienceMs: given.patience,
    budget: given.budget,
  });

  const sync = (name: string, given: SettingsFile['syncs'][string]): SyncSettings => {
    if (given.job !== 'orders') return { name, ...given, schedule: given.schedule };
    const options = { ...given.options, folder: resolve(dirname(file), given.options.folder) };
    return { name, ...given, schedule: given.schedule, options };
  };

  const target = (name: string, written: SettingsFile['targets'][string]): TargetSettings => {
    const { timeout: timeoutMs, ...given } = { timeout: undefined, ...written };
    const fields = Object.entries(given).map(([key, value]) => [
      key,
      isSecretSource(value) ? secretAt(`targets.${name}.${key}`, value) : value,
    ]);
    // Safe: just what TargetOf says of every type, which the loss of the keys' names keeps the compiler from seeing.
    return { ...Object.fromEntries(fields), name, ...(timeoutMs !== undefined && { timeoutMs }) } as TargetSettings;
  };

  return {
    file,
    service: parsed.service,
    accounts: mapEntries(parsed.accounts, account),
    database: { url: 'databaseUrl' in overrides ? overrides.databaseUrl : parsed.database.url },
    redis: { ...parsed.redis, url: 'redisUrl' in overrides ? overrides.redisUrl : parsed.redis.url },
    syncs: mapEntries(parsed.syncs, sync),
    targets: mapEntries(parsed.targets, target),
    console: parsed.console.listen,
  };
}

/** Without a prototype: a name such as `constructor` is found only where somebody gave it. */
function mapEntries<T, R>(entries: Readonly<Record<string, T>>, map: (name: string, entry: T) => R): Record<string, R> {
  const mapped: Record<string, R> = Object.create(null);
  for (const [name, entry] of Object.entries(entries)) mapped[name] = map(name, entry);
  return mapped;
}
