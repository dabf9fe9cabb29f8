/** Opens accounts for jobs: each client with its rate budget is opened at first use and shared by all jobs of the process. */
import type pg from 'pg';
import { z } from 'zod';
import { elapsedMs } from '../../base/clock.ts';
import { thisHolder } from '../../base/process-identity.ts';
import type { InSpan } from '../../base/trace-span.ts';
import type { BudgetStats, BudgetStore } from '../../client/budget/budget.ts';
import { createBudget } from '../../client/budget/key-budget.ts';
import { createBreaker } from '../../client/call/breaker.ts';
import { type CallEvent, createClient } from '../../client/call/client.ts';
import { guardClient } from '../../client/call/guarded-client.ts';
import { PREFIXES } from '../../contract/operation.ts';
import type { OperationName } from '../../contract/operations.ts';
import { sourceOf } from '../../settings/secrets.ts';
import { type AccountSettings, budgetLimits } from '../../settings/settings.ts';
import { keepLearnt, readLearnt } from '../ledger/scopes/learnt.ts';
import { firstService, type Identity, noteAccepted, scopeNamed } from '../ledger/scopes/scopes.ts';
import { refuseSuspended } from '../ledger/scopes/suspensions.ts';
import { type Account, EMBEDDED, type KeyFound } from './account.ts';
import { afterFirstAccepted } from './first-accepted.ts';
import { identityChanged, identityOf, recogniseRecords, resolveScope } from './identity.ts';
import { lookAtContacts, tryKey } from './key-check.ts';
import { createPermissions } from './permissions.ts';

/** What is needed to open an account's client, with its secrets read. */
export interface AccountAccess {
  readonly settings: AccountSettings;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Set if the service is embedded: the tenant by name, independent of this process's address and key. */
  readonly embeddedTenant?: string;
  readonly authorization: { readonly scheme: string; readonly token: string } | undefined;
}

export interface Accounts {
  /**
   * @throws LockstepError if the account is unknown or its secret cannot be read; IDENTITY_CHANGED if it may be a
   * different tenant
   */
  open(name: string): Promise<Account>;
  /** `open`, for calls outside runs, which wait by themselves. @throws also AccountSuspended if a person has suspended it */
  use(name: string): Promise<Account>;
  /**
   * Opens the account for inspection only, without an identity check. Closed by the caller, or with the others.
   * @throws AccountSuspended if a person has suspended it
   */
  inspect(name: string): Promise<Account & { close(): Promise<void> }>;
  /** The account's address, and the keyed hash of its key. */
  identify(name: string): Promise<Identity>;
  /** The current account: opened again if its address or a secret has changed since it was opened. */
  reopen(name: string): Promise<Account>;
  /** The account is opened again for new work, with the settings as they are then; jobs that hold it keep it. */
  renew(name: string): void;
  /** The figures of each budget that is in use, by account. */
  budgets(): ReadonlyMap<string, BudgetStats>;
  /** Saves what the clients learnt about their services, and closes them. */
  close(): Promise<void>;
}

const STORE_AWAY_MS = 2_000;
/** A replaced account without a call for this long is closed: no job uses it, since a key is blocked for 15 minutes at most. */
const UNUSED_MS = 60 * 60 * 1000;
/** How long an accepted key is trusted. */
const BELIEVED_MS = 30_000;

const prefixesSchema = z.record(z.string(), z.enum(PREFIXES)).catch({});

export function createAccounts(needs: {
  readonly pool: pg.Pool;
  readonly store: BudgetStore;
  readonly access: (name: string) => Promise<AccountAccess>;
  /** Receives each call that the budget granted. */
  readonly onCall?: (account: string, event: CallEvent) => void;
  readonly inSpan?: InSpan | undefined;
}): Accounts {
  const opened = new Map<string, Promise<OpenedAccount>>();
  const inUse = new Map<string, Account>();
  const inspected = new Set<OpenedAccount>();
  /** Accounts that were opened again for new work, each with the timer that closes it once no job uses it. */
  const replaced = new Map<Promise<OpenedAccount>, NodeJS.Timeout>();

  function current(name: string): Promise<OpenedAccount> {
    return opened.get(name) ?? open(name);
  }

  function closeUnused(opening: Promise<OpenedAccount>): void {
    let used: number | undefined;
    const look = async () => {
      const before = await opening.catch(() => undefined);
      const usedBefore = used;
      used = before?.account.budgetStats().used;
      if (used !== usedBefore) return;
      clearInterval(replaced.get(opening));
      replaced.delete(opening);
      await before?.close().catch(() => {}); // only what it learnt about prefixes is not saved
    };
    replaced.set(opening, setInterval(look, UNUSED_MS).unref());
  }

  function open(name: string): Promise<OpenedAccount> {
    const opening = needs.access(name).then((access) => openIdentified(name, access, needs));
    opened.set(name, opening);
    opening.then(
      ({ account }) => inUse.set(name, account),
      () => opened.get(name) === opening && opened.delete(name), // the next try uses a corrected secret or identity
    );
    return opening;
  }

  return {
    async open(name) {
      return (await current(name)).account;
    },
    async use(name) {
      await refuseSuspended(needs.pool, name);
      return (await current(name)).account;
    },
    async inspect(name) {
      await refuseSuspended(needs.pool, name);
      const scope = await scopeNamed(needs.pool, name);
      const inspecting = await openAccount(name, scope, await needs.access(name), needs);
      inspected.add(inspecting);
      const close = async () => void (inspected.delete(inspecting) && (await inspecting.close()));
      return { ...inspecting.account, close };
    },
    async identify(name) {
      return identityFor(needs.pool, await needs.access(name));
    },
    async reopen(name) {
      const opening = current(name);
      const before = await opening;
      const access = await needs.access(name);
      if (isSameAccess(access, before.access)) return before.account;
      if (opened.get(name) !== opening) return (await current(name)).account; // another caller has opened it again
      const after = open(name);
      await before.close(); // its calls in flight end first; a job that still holds it retries later
      return (await after).account;
    },
    renew(name) {
      const before = opened.get(name);
      if (before) closeUnused(before);
      opened.delete(name);
      inUse.delete(name);
    },
    budgets: () => new Map([...inUse].map(([name, account]) => [name, account.budgetStats()])),
    async close() {
      for (const timer of replaced.values()) clearInterval(timer);
      const all = [...opened.values(), ...replaced.keys()];
      opened.clear();
      replaced.clear();
      for (const opening of all) await (await opening.catch(() => undefined))?.close();
      for (const one of inspected) await one.close();
      inspected.clear();
    },
  };
}

interface OpenedAccount {
  readonly account: Account;
  readonly access: AccountAccess;
  readonly close: () => Promise<void>;
}

function isSameAccess(a: AccountAccess, b: AccountAccess): boolean {
  return (
    a.apiKey === b.apiKey &&
    a.baseUrl === b.baseUrl &&
    JSON.stringify(a.authorization) === JSON.stringify(b.authorization)
  );
}

type Needs = Parameters<typeof createAccounts>[0];

function identityFor(pool: pg.Pool, { baseUrl, apiKey, embeddedTenant }: AccountAccess): Promise<Identity> {
  return embeddedTenant === undefined ? identityOf(pool, baseUrl, apiKey) : identityOf(pool, EMBEDDED, embeddedTenant);
}

/** @throws LockstepError IDENTITY_CHANGED */
async function openIdentified(name: string, access: AccountAccess, needs: Needs): Promise<OpenedAccount> {
  const identity = await identityFor(needs.pool, access);
  const resolved = await resolveScope(needs.pool, name, identity, async (scope) => {
    await refuseSuspended(needs.pool, name);
    const asking = await openAccount(name, scope, access, needs);
    try {
      return await recogniseRecords(needs.pool, asking.account, scope);
    } finally {
      await asking.close();
    }
  });
  if (resolved.status === 'unclear') throw identityChanged(name, resolved.why);
  return openAccount(name, resolved.scope, access, {
    ...needs,
    onAccepted: () => noteAccepted(needs.pool, identity),
  });
}

async function openAccount(
  name: string,
  scope: string,
  access: AccountAccess,
  { pool, store, onCall, inSpan, onAccepted }: Needs & { readonly onAccepted?: () => Promise<void> },
): Promise<OpenedAccount> {
  const { settings, baseUrl, apiKey, authorization } = access;
  const limits = budgetLimits(settings);
  const budget = createBudget({ key: scope, limits, store, process: thisHolder() });
  const learnt = await readLearnt(pool, scope);
  const client = createClient({
    account: name,
    baseUrl,
    apiKey,
    authorization,
    prefix: settings.prefix,
    timeoutMs: settings.budget.timeoutMs,
    concurrency: limits.concurrency,
    budget,
    costOf: (operation) => settings.budget.weights[operation] ?? 1,
    dialect: settings.dialect,
    onCall: (event) => onCall?.(name, event),
    inSpan,
    // Safe: the client uses only the names of operations it asks for.
    knownPrefixes: prefixesSchema.parse(learnt.get('prefixes')) as Partial<Record<OperationName, '/api/v1' | '/v1'>>,
  });
  const account: Account = {
    name,
    scope,
    baseUrl,
    service: await firstService(pool, scope, settings.url ?? EMBEDDED),
    client: guardClient(onAccepted === undefined ? client : afterFirstAccepted(client, onAccepted), {
      breaker: createBreaker(),
      probe: (options) => lookAtContacts(client, settings.dialect, options),
      now: () => performance.now(),
    }),
    dialect: settings.dialect,
    concurrency: limits.concurrency,
    ratePerSecond: limits.ratePerSecond,
    timeoutMs: settings.budget.timeoutMs,
    settleMs: settings.budget.settleMs,
    keySource: settings.apiKey ? sourceOf(settings.apiKey) : 'the embedded service',
    checkKey: believed((refused) => tryKey(account, refused)),
    permissions: createPermissions(),
    // Without the store, this process cannot know the recent retries: retry later.
    takeRetry: () => budget.retry().catch(() => ({ status: 'empty', retryAfterMs: STORE_AWAY_MS })),
    budgetStats: () => budget.stats(),
  };
  const close = async () => {
    const prefixes = client.learntPrefixes();
    if (Object.keys(prefixes).length > 0) await keepLearnt(pool, scope, 'prefixes', prefixes);
    await client.close();
    await budget.close();
  };
  return { account, access, close };
}

/**
 * Shares one check between concurrent callers, and trusts the result for a while once a read other than theirs got an
 * answer.
 */
function believed(ask: (refused?: OperationName) => Promise<KeyFound>): Account['checkKey'] {
  let asking: Promise<KeyFound> | undefined;
  let accepted: { readonly by: OperationName; readonly untilMs: number } | undefined;
  return async function checkKey(refused): Promise<KeyFound> {
    if (accepted !== undefined && accepted.by !== refused && elapsedMs() < accepted.untilMs)
      return { status: 'accepted', by: accepted.by, calls: 0 };
    const isAsked = asking !== undefined;
    asking ??= ask(refused).finally(() => {
      asking = undefined;
    });
    const found = await asking;
    const key = isAsked ? { ...found, calls: 0 } : found;
    accepted = key.status === 'accepted' ? { by: key.by, untilMs: elapsedMs() + BELIEVED_MS } : undefined;
    // Another caller's check had an answer from the operation that was refused here: that shows nothing about the others.
    return key.status === 'accepted' && key.by === refused ? checkKey(refused) : key;
  };
}
