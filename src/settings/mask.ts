/** The settings for `lockstep settings print`: in the file's own shape, defaults filled in, secrets masked. */
import { formatDuration } from './durations.ts';
import { isSecretSource, type ListenAddress, type SecretSource } from './fields.ts';
import { Hidden } from './hidden.ts';
import type { ChannelSettings } from './schema-alert.ts';
import { OPERATOR } from './schema-console.ts';
import type { TargetSettings } from './schema-target.ts';
import type { AccountSettings, Settings, SyncSettings } from './settings.ts';

/** Plain values for YAML or JSON. Sources of secrets are shown, secrets are `***`, and so are passwords in URLs. */
export function maskSettings({
  service,
  accounts,
  database,
  redis,
  syncs,
  targets,
  alerts,
  console,
  health,
  worker,
  retention: { rowsMs, runsMs, deliveriesMs, inboxMs },
  presets,
}: Settings) {
  return {
    service: { url: service.url ?? 'embedded' },
    accounts: mapValues(accounts, maskAccount),
    database: maskFields({ url: database.url ?? 'embedded' }),
    redis: maskFields({ ...redis, url: redis.url ?? 'none' }),
    syncs: mapValues(syncs, maskSync),
    targets: mapValues(targets, ({ name, ...target }: TargetSettings) => maskFields(target)),
    alerts: mapValues(alerts, ({ name, ...channel }: ChannelSettings) => maskFields(channel)),
    console: maskConsole(console),
    health: health ? { listen: addressText(health) } : {},
    worker,
    retention: mapValues({ rows: rowsMs, runs: runsMs, deliveries: deliveriesMs, inbox: inboxMs }, ageText),
    ...(presets !== undefined && { presets }),
  };
}

const ageText = (ms: number | undefined) => (ms === undefined ? 'forever' : formatDuration(ms));

function addressText({ host, port }: ListenAddress): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function maskConsole({ url, users, tokens, trustProxy, ...address }: Settings['console']) {
  const { [OPERATOR]: operator, ...others } = users;
  return {
    listen: addressText(address),
    ...(url !== undefined && { url }),
    ...(operator && { password: maskSecret(operator.password) }),
    users: mapValues(others, maskFields),
    tokens: mapValues(tokens, maskFields),
    trustProxy,
  };
}

function maskAccount({ name, url, authorization, ...account }: AccountSettings) {
  const token = authorization && maskSecret(authorization.token);
  const shown = authorization && { scheme: authorization.scheme, ...(typeof token === 'string' ? { token } : token) };
  return maskFields({ url: url ?? 'embedded', authorization: shown, ...account });
}

function maskSync({ name, schedule, ...sync }: SyncSettings) {
  const { kind, ...shown } = schedule ?? {};
  return maskFields({ ...sync, schedule: schedule && shown });
}

/** For a value of any type: hidden values and secrets are masked, and milliseconds become durations again. */
function maskFields(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(maskField),
  );
}

function maskField([key, value]: [string, unknown]): [string, unknown] {
  if (value instanceof Hidden) return [key, value.toString()];
  if (isSecretSource(value)) return [key, maskSecret(value)];
  if (typeof value === 'number' && key.endsWith('Ms')) return [key.slice(0, -2), formatDuration(value)];
  const isMap = typeof value === 'object' && value !== null && !Array.isArray(value);
  return [key, isMap ? maskFields(value) : value];
}

function maskSecret(ref: SecretSource & { readonly scheme?: string }) {
  const scheme = ref.scheme !== undefined && { scheme: ref.scheme };
  if (ref.from === 'env') return { ...scheme, env: ref.name };
  return ref.from === 'file' ? { ...scheme, file: ref.path } : ref.value.toString();
}

function mapValues<T>(entries: Readonly<Record<string, T>>, map: (entry: T) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(entries).map(([name, entry]) => [name, map(entry)]));
}
