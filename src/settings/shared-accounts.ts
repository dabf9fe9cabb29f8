/** Finds accounts that are the same tenant of the same service: two names with the same address and key. */
import { grouped } from '../base/grouped.ts';
import { readSecret } from './secrets.ts';
import type { AccountSettings, BudgetSettings, Settings } from './settings.ts';

/** A normalised address: without default ports, and with one name for this machine. */
export function originOf(baseUrl: string): string {
  const url = new URL(baseUrl);
  const host = url.hostname.replace(/\.$/, '');
  const name = ['localhost', '127.0.0.1', '[::1]'].includes(host) ? 'localhost' : host;
  return `${url.protocol}//${name}${url.port === '' ? '' : `:${url.port}`}${url.pathname.replace(/\/+$/, '')}`;
}

export interface SharedAccounts {
  readonly same: readonly (readonly string[])[];
  /** Groups of accounts with the same key at several addresses. */
  readonly sameKey: readonly (readonly string[])[];
}

type Env = Parameters<typeof readSecret>[1];

/** Compares the accounts whose keys this process can read. */
export async function sharedAccounts({ accounts }: Settings, env: Env): Promise<SharedAccounts> {
  const keyed: [key: string, account: AccountSettings][] = [];
  for (const account of Object.values(accounts)) {
    const key = account.url === undefined ? undefined : await keyOf(account, env);
    if (key !== undefined) keyed.push([key, account]);
  }
  const groups = [...grouped(keyed).values()].filter((group) => group.length > 1);
  const origins = (group: readonly AccountSettings[]) =>
    grouped(group.map((account) => [originOf(account.url ?? ''), account]));
  const names = (group: readonly AccountSettings[]) => group.map(({ name }) => name);
  return {
    same: groups.flatMap((group) => [...origins(group).values()].filter((one) => one.length > 1).map(names)),
    sameKey: groups.filter((group) => origins(group).size > 1).map(names),
  };
}

/** The settings in which accounts with the same key and address share one budget, the strictest of their budgets. */
export async function withSharedBudgets(settings: Settings, env: Env): Promise<Settings> {
  const { same } = await sharedAccounts(settings, env);
  const shared = same.flatMap((names) => {
    const accounts = names.flatMap((name) => settings.accounts[name] ?? []);
    const budget = accounts.map((account) => account.budget).reduce(stricter);
    return accounts.map((account): [string, AccountSettings] => [account.name, { ...account, budget }]);
  });
  if (shared.length === 0) return settings;
  return { ...settings, accounts: { ...settings.accounts, ...Object.fromEntries(shared) } };
}

function stricter(one: BudgetSettings, other: BudgetSettings): BudgetSettings {
  const slower = one.requests * other.perMs <= other.requests * one.perMs ? one : other;
  return {
    ...one,
    mode: one.mode === 'discover' && other.mode === 'discover' ? 'discover' : 'fixed',
    requests: slower.requests,
    perMs: slower.perMs,
    burst: Math.min(one.burst, other.burst),
    concurrency: Math.min(one.concurrency, other.concurrency),
    settleMs: Math.max(one.settleMs, other.settleMs),
  };
}

async function keyOf({ apiKey }: AccountSettings, env: Env): Promise<string | undefined> {
  return apiKey && readSecret(apiKey, env).catch(() => undefined);
}
