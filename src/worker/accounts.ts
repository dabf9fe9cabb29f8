/** An account as jobs use it: its client with its budget in front, opened at first use and shared by all jobs of the process. */
import type pg from 'pg';
import { z } from 'zod';
import type { BudgetStore } from '../budget/budget.ts';
import { createBudget } from '../budget/key-budget.ts';
import { type Client, createClient } from '../client/client.ts';
import type { Dialect } from '../client/dialect.ts';
import { type OperationName, PREFIXES } from '../contract/operations.ts';
import { keepLearnt, readLearnt } from '../ledger/learnt.ts';
import { type AccountSettings, budgetLimits } from '../settings/settings.ts';

export interface Account {
  readonly name: string;
  readonly baseUrl: string;
  readonly client: Client;
  readonly dialect: Dialect;
  /** Calls in flight at most, from this process. */
  readonly concurrency: number;
  readonly ratePerSecond: number;
  readonly timeoutMs: number;
  readonly settleMs: number;
  /** Where a person mends a key that is refused. */
  readonly keySource: string;
}

/** What opening an account's client takes, with its secrets read. */
export interface AccountAccess {
  readonly settings: AccountSettings;
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly authorization: { readonly scheme: string; readonly token: string } | undefined;
}

export interface Accounts {
  /** @throws LockstepError where the account is unknown or its secret cannot be read */
  open(name: string): Promise<Account>;
  /** Keeps what the clients learnt about their services, and closes them. */
  close(): Promise<void>;
}

const prefixesSchema = z.record(z.string(), z.enum(PREFIXES)).catch({});

export function createAccounts(needs: {
  readonly pool: pg.Pool;
  readonly store: BudgetStore;
  readonly access: (name: string) => Promise<AccountAccess>;
}): Accounts {
  const opened = new Map<string, Promise<{ account: Account; close: () => Promise<void> }>>();
  return {
    async open(name) {
      let opening = opened.get(name);
      if (!opening) {
        opening = openAccount(name, needs);
        opened.set(name, opening);
        opening.catch(() => opened.delete(name)); // a mended secret is read at the next try
      }
      return (await opening).account;
    },
    async close() {
      const all = [...opened.values()];
      opened.clear();
      for (const opening of all) await (await opening.catch(() => undefined))?.close();
    },
  };
}

async function openAccount(
  name: string,
  { pool, store, access }: Parameters<typeof createAccounts>[0],
): Promise<{ account: Account; close: () => Promise<void> }> {
  const { settings, baseUrl, apiKey, authorization } = await access(name);
  const limits = budgetLimits(settings);
  const budget = createBudget({ key: name, limits, store });
  const learnt = await readLearnt(pool, name);
  const client = createClient({
    account: name,
    baseUrl,
    apiKey,
    authorization,
    prefix: settings.prefix,
    timeoutMs: settings.budget.timeoutMs,
    concurrency: limits.concurrency,
    budget,
    dialect: settings.dialect,
    // Safe: the client uses only the names of operations it asks for.
    knownPrefixes: prefixesSchema.parse(learnt.get('prefixes')) as Partial<Record<OperationName, '/api/v1' | '/v1'>>,
  });
  const account: Account = {
    name,
    baseUrl,
    client,
    dialect: settings.dialect,
    concurrency: limits.concurrency,
    ratePerSecond: limits.ratePerSecond,
    timeoutMs: settings.budget.timeoutMs,
    settleMs: settings.budget.settleMs,
    keySource: settings.apiKey?.where ?? 'the embedded service',
  };
  const close = async () => {
    const prefixes = client.learntPrefixes();
    if (Object.keys(prefixes).length > 0) await keepLearnt(pool, name, 'prefixes', prefixes);
    await client.close();
    await budget.close();
  };
  return { account, close };
}
