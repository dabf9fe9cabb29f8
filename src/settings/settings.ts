/**
 * The settings as the rest of Lockstep sees them: checked, with defaults filled in and references that exist. They name
 * secrets but never contain them in readable form (secrets.ts). Durations are in milliseconds.
 */
import { wrongUse } from '../base/errors.ts';
import type { BudgetLimits } from '../client/budget/budget.ts';
import type { ListenAddress, SecretRef } from './fields.ts';
import type { Hidden } from './hidden.ts';
import { didYouMean, oneOf, quote } from './message-parts.ts';
import type { SettingsFile } from './schema.ts';
import type { ChannelSettings } from './schema-alert.ts';
import type { ConsoleRole } from './schema-console.ts';
import type { RetentionSettings } from './schema-retention.ts';
import type { TargetSettings } from './schema-target.ts';

export interface Settings {
  /** Absolute path of the file they were read from. */
  readonly file: string;
  /** Warnings about settings that work but may be a mistake, one line each. */
  readonly warnings: readonly string[];
  /** The service of accounts that name none; undefined: the embedded service. */
  readonly service: { readonly url: string | undefined };
  /** Maps by name have no prototype: `accounts.constructor` is undefined unless an account has that name. */
  readonly accounts: Readonly<Record<string, AccountSettings>>;
  /** Undefined: the embedded Postgres. */
  readonly database: { readonly url: Hidden | undefined };
  /** Undefined: no Redis, the database is used instead. */
  readonly redis: {
    readonly url: Hidden | undefined;
    readonly sentinelPassword: SecretRef | undefined;
    readonly prefix: string;
  };
  readonly syncs: Readonly<Record<string, SyncSettings>>;
  readonly targets: Readonly<Record<string, TargetSettings>>;
  /** Where problems are reported. */
  readonly alerts: Readonly<Record<string, ChannelSettings>>;
  readonly worker: { readonly concurrency: number };
  readonly retention: RetentionSettings;
  readonly console: ConsoleSettings;
  /** Absolute path of the directory with the user's own presets. */
  readonly presets: string | undefined;
  /** Where each process of `start` serves health checks and metrics; undefined: nowhere. */
  readonly health: ListenAddress | undefined;
}

export interface AccountSettings extends Pick<SettingsFile['accounts'][string], 'prefix' | 'dialect' | 'budget'> {
  readonly name: string;
  /** Base address without a trailing slash; undefined: the embedded service. */
  readonly url: string | undefined;
  /** Undefined only if `url` is undefined: a key for the embedded service is then made automatically. */
  readonly apiKey: SecretRef | undefined;
  readonly authorization: { readonly scheme: string; readonly token: SecretRef } | undefined;
  /** How long a run waits for an unavailable service before it fails. */
  readonly patienceMs: number;
}

export interface ConsoleSettings extends ListenAddress {
  /** Address at which people open it, without a trailing slash; undefined: unknown. */
  readonly url: string | undefined;
  /** By name; none: everyone on this machine is the operator. */
  readonly users: Readonly<Record<string, { readonly password: SecretRef; readonly role: ConsoleRole }>>;
  readonly tokens: Readonly<Record<string, { readonly token: SecretRef; readonly role: ConsoleRole }>>;
  readonly trustProxy: readonly string[];
}

export type BudgetSettings = AccountSettings['budget'];

/** The options as in the file, with an absolute path of the folder of orders. */
export type SyncSettings = { readonly name: string } & SettingsFile['syncs'][string];
export type TasksSync = Extract<SyncSettings, { type: 'tasks' }>;

/** Each gives the entry called so. Throws SETTINGS_NAME_UNKNOWN, exit code 2, and lists the existing names. */
export const accountNamed = namedIn('account', 'accounts', ({ accounts }) => accounts);
export const syncNamed = namedIn('sync', 'syncs', ({ syncs }) => syncs);
export const targetNamed = namedIn('target', 'targets', ({ targets }) => targets);
/** A channel for alerts. */
export const channelNamed = namedIn('channel', 'alerts', ({ alerts }) => alerts);

/** The account called `name`; default: the only one. Throws USAGE if there are several, or SETTINGS_NAME_UNKNOWN; exit code 2. */
export function accountChosen(settings: Settings, name?: string): AccountSettings {
  const [only = '', ...others] = Object.keys(settings.accounts).toSorted();
  if (name !== undefined || others.length === 0) return accountNamed(settings, name ?? only);
  throw wrongUse(`--account NAME is missing: ${settings.file} has several accounts, ${oneOf([only, ...others])}`);
}

/** The rate that the budget of an account allows, per second. */
export function budgetLimits({ budget }: AccountSettings): BudgetLimits {
  return {
    ratePerSecond: (budget.requests * 1000) / budget.perMs,
    burst: budget.burst,
    concurrency: budget.concurrency,
    mode: budget.mode,
  };
}

function namedIn<T>(kind: string, section: string, of: (settings: Settings) => Readonly<Record<string, T>>) {
  return (settings: Settings, name: string): T => {
    const entries = of(settings);
    const entry = entries[name];
    if (entry !== undefined) return entry;
    const names = Object.keys(entries);
    const known = names.length === 0 ? 'none is defined' : `defined: ${oneOf(names.toSorted())}`;
    const where = `under ${section} in ${settings.file}`;
    throw wrongUse(
      `No ${kind} named ${quote(name)} ${where}${didYouMean(name, names)} (${known})`,
      'SETTINGS_NAME_UNKNOWN',
    );
  };
}
