import { afterAll, beforeEach, expect, test } from 'vitest';
import { bindAccount } from '../../../../src/engine/ledger/scopes/scopes.ts';
import {
  askToProbe,
  liftSuspension,
  probeSoon,
  resumeAccount,
  suspendAccount,
  suspendByHand,
  suspendedAccounts,
  suspensionOf,
} from '../../../../src/engine/ledger/scopes/suspensions.ts';
import { aRun, freshLedger } from '../fresh-ledger.ts';

const database = await freshLedger();
afterAll(() => database.close());
beforeEach(() => suspendAccount(database.pool, 'acme', 'fix the key'));

const ask = () => askToProbe(database.pool, 'acme');

test('suspends one account with its message, and no other account', async () => {
  expect(await suspensionOf(database.pool, 'acme')).toMatchObject({ message: 'fix the key' });
  expect([await suspensionOf(database.pool, 'other'), await askToProbe(database.pool, 'other')]).toEqual([
    undefined,
    { status: 'open' },
  ]);
});

test('of several accounts, those that are suspended are found by name, also if they were never opened', async () => {
  const run = await aRun(database);
  await suspendByHand(database.pool, run.scope, { by: 'ann', reason: undefined });
  await bindAccount(database.pool, 'second-name', run.scope);
  const found = await suspendedAccounts(database.pool, ['acme', 'second-name', 'other']);
  expect([...found].map(([name, { code }]) => [name, code]).sort()).toEqual([
    ['acme', 'KEY_REFUSED'],
    ['second-name', 'ACCOUNT_SUSPENDED'],
  ]);
});

test('no process tries the key at once; later one of all that ask tries, and the others wait for the next time', async () => {
  expect(await ask()).toMatchObject({ status: 'suspended', probeInMs: expect.any(Number) });
  await probeSoon(database.pool, 'acme');
  const asked = await Promise.all([1, 2, 3, 4, 5].map(ask));
  expect(asked.filter(({ status }) => status === 'probe')).toEqual([{ status: 'probe' }]);
  expect(asked.filter(({ status }) => status === 'suspended')).toHaveLength(4);
});

test('doubles the pauses between two tries, up to a minute', async () => {
  await probeSoon(database.pool, 'acme');
  const pauses: number[] = [];
  for (let i = 0; i < 8; i++) {
    await ask();
    const next = await ask();
    if (next.status === 'suspended') pauses.push(Math.round(next.probeInMs / 1_000));
    await database.pool.query(`update ledger.suspensions set probe_at = clock_timestamp()`);
  }
  expect(pauses).toEqual([4, 8, 16, 32, 60, 60, 60, 60]);
});

test('tells whether a refusal is the first, and whether there was something to lift', async () => {
  expect(await suspendAccount(database.pool, 'acme', 'fix the key')).toBe(false);
  expect(await liftSuspension(database.pool, 'acme')).toBe(true);
  expect(await liftSuspension(database.pool, 'acme')).toBe(false);
  expect(await suspendAccount(database.pool, 'acme', 'fix the key')).toBe(true);
});

test('keeps an account suspended that a person suspended, until a person resumes it', async () => {
  const { pool } = database;
  await suspendByHand(pool, 'acme', { by: 'anna', reason: 'the service is moving' });
  expect(await suspendAccount(pool, 'acme', 'fix the key')).toBe(false);
  await probeSoon(pool, 'acme');
  expect(await ask()).toEqual({ status: 'suspended', probeInMs: Number.POSITIVE_INFINITY });
  expect(await liftSuspension(pool, 'acme')).toBe(false);
  const message = 'Suspended by anna: the service is moving.';
  await suspendByHand(pool, 'acme', { by: 'ben', reason: undefined });
  expect(await suspensionOf(pool, 'acme')).toMatchObject({ code: 'ACCOUNT_SUSPENDED', message });
  expect([await resumeAccount(pool, 'acme'), await resumeAccount(pool, 'acme')]).toEqual([true, false]);
  expect(await ask()).toEqual({ status: 'open' });
});

test('a person cannot resume an account whose key is refused', async () => {
  expect(await resumeAccount(database.pool, 'acme')).toBe(false);
  expect(await suspensionOf(database.pool, 'acme')).toMatchObject({ code: 'KEY_REFUSED' });
});

test('a lifted suspension is gone', async () => {
  await liftSuspension(database.pool, 'acme');
  expect([await suspensionOf(database.pool, 'acme'), await ask()]).toEqual([undefined, { status: 'open' }]);
});
