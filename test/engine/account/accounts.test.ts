import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { LockstepError } from '../../../src/base/errors.ts';
import type { BudgetStore } from '../../../src/client/budget/budget.ts';
import { openPostgresStore } from '../../../src/client/budget/postgres-store.ts';
import { type AccountAccess, createAccounts } from '../../../src/engine/account/accounts.ts';
import { RetryLater } from '../../../src/engine/account/failure.ts';
import { readCall } from '../../../src/engine/account/reads.ts';
import { readLearnt } from '../../../src/engine/ledger/scopes/learnt.ts';
import { accountNamed } from '../../../src/settings/settings.ts';
import { settingsOf } from '../../settings/problems-in.ts';
import { startHttpServer } from '../../support/http-server.ts';
import { freshLedger } from '../ledger/fresh-ledger.ts';

const database = await freshLedger();
const server = await startHttpServer({ body: [] });
afterAll(async () => {
  await server.close();
  await database.close();
});

const AWAY: BudgetStore = {
  name: 'the store',
  remedy: 'start it',
  acquire: () => Promise.reject(new Error('it is away')),
  block: () => Promise.reject(new Error('it is away')),
  limited: () => Promise.reject(new Error('it is away')),
  holders: () => Promise.reject(new Error('it is away')),
  forget: () => Promise.reject(new Error('it is away')),
  retry: () => Promise.reject(new Error('it is away')),
};

const HOUR_MS = 60 * 60 * 1000;

/** Accounts called `acme` of the test's server; `access` replaces reading the settings. */
async function accountsWith({ store, access }: { store?: BudgetStore; access?: () => Promise<AccountAccess> } = {}) {
  const accounts = createAccounts({
    pool: database.pool,
    store: store ?? (await openPostgresStore({ pool: database.pool })),
    access: access ?? (async () => accessTo(server.url)),
  });
  onTestFinished(() => accounts.close());
  return accounts;
}

function accessTo(url: string): AccountAccess {
  const text = `accounts: { acme: { url: "${url}", apiKey: { env: ACME_KEY }, budget: { settle: 7s } } }`;
  return { settings: accountNamed(settingsOf(text), 'acme'), baseUrl: url, apiKey: 'k', authorization: undefined };
}

test('a renewed account is opened again for new work, and a job that holds the earlier one keeps it', async () => {
  const accounts = await accountsWith();
  const before = await accounts.open('acme');
  accounts.renew('acme');
  const after = await accounts.open('acme');
  expect(after).not.toBe(before);
  expect(await accounts.open('acme')).toBe(after);
  for (const { client } of [before, after]) {
    expect(await client.call('contacts.getall', { lane: 'batch' })).toMatchObject({ status: 'applied' });
  }
});

test('a replaced account is closed once no job uses it', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const accounts = await accountsWith();
  const before = await accounts.open('acme');
  const read = () => before.client.call('contacts.getall', { lane: 'interactive' });
  accounts.renew('acme');
  for (const used of ['just now', 'an hour later']) {
    expect(await read(), used).toMatchObject({ status: 'applied' });
    await vi.advanceTimersByTimeAsync(HOUR_MS);
  }
  await vi.advanceTimersByTimeAsync(HOUR_MS);
  await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'not-sent', reason: 'budget-away' }));
  expect(await (await accounts.open('acme')).client.call('contacts.getall', { lane: 'batch' })).toMatchObject({
    status: 'applied',
  });
});

test('two callers that reopen an account with a changed key get the same account', async () => {
  let apiKey = 'k';
  const accounts = await accountsWith({ access: async () => ({ ...accessTo(server.url), apiKey }) });
  const before = await accounts.open('acme');
  apiKey = 'changed';
  const [one, other] = await Promise.all([accounts.reopen('acme'), accounts.reopen('acme')]);
  expect([one === before, one === other]).toEqual([false, true]);
});

test('a check of the key that another caller began never counts the operation that was refused here', async () => {
  const account = await (await accountsWith()).open('acme');
  const checks = ['contacts.getall', 'customers.getall'] as const;
  const keys = await Promise.all(checks.map((refused) => account.checkKey(refused)));
  expect(keys).toEqual([
    { status: 'accepted', by: 'customers.getall', calls: 1 },
    { status: 'accepted', by: 'contacts.getall', calls: 1 },
  ]);
});

test('opens an account once and shares it', async () => {
  let opened = 0;
  const access = async () => {
    opened++;
    return accessTo(server.url);
  };
  const accounts = await accountsWith({ access });
  const keySource = 'accounts.acme.apiKey: the environment variable ACME_KEY; restart Lockstep after you change it';
  const [one, other] = await Promise.all([accounts.open('acme'), accounts.open('acme')]);
  expect([one === other, opened, one.settleMs, one.keySource]).toEqual([true, 1, 7_000, keySource]);
});

test('opens an account once its missing secret is available', async () => {
  let isThere = false;
  const access = async () => {
    if (!isThere) throw new LockstepError('SECRET_MISSING', 'set ACME_KEY');
    return accessTo(server.url);
  };
  const accounts = await accountsWith({ access });
  await expect(accounts.open('acme')).rejects.toMatchObject({ code: 'SECRET_MISSING' });
  isThere = true;
  expect((await accounts.open('acme')).name).toBe('acme');
});

test('keeps what its calls learnt about prefixes for the next process', async () => {
  const accounts = await accountsWith();
  await readCall(await accounts.open('acme'), 'contacts.getall', { lane: 'batch' });
  await accounts.close();
  expect((await readLearnt(database.pool, 'acme')).get('prefixes')).toMatchObject({ 'contacts.getall': '/api/v1' });
});

test('sends nothing without its budget’s store, and the run retries later', async () => {
  const before = server.requests.length;
  const account = await (await accountsWith({ store: AWAY })).open('acme');
  const read = readCall(account, 'contacts.getall', { lane: 'batch', tries: 1 });
  const failure = await read.catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(RetryLater);
  expect(failure).toMatchObject({ isFailure: true, message: expect.stringMatching(/the store.*it is away|start it/) });
  expect(server.requests.length).toBe(before);
});
