import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { KeyRefused } from '../../../src/engine/account/failure.ts';
import { keepTryingKeys, mayUse } from '../../../src/engine/account/suspension.ts';
import { suspendAccount, suspendByHand, suspensionOf } from '../../../src/engine/ledger/scopes/suspensions.ts';
import { freshDatabase } from '../../support/database.ts';
import { anAccount } from '../worker/an-account.ts';

const database = await freshDatabase();
afterAll(() => database.close());

test('an account that cannot be opened because of its key stays suspended, and no job fails', async () => {
  const { pool } = database;
  const refused = new KeyRefused('unknown key');
  await suspendAccount(pool, 'acme', refused.message);
  await pool.query('update ledger.suspensions set probe_at = now()');
  const open = () => Promise.reject(refused);
  const needs = { pool, accounts: { open, reopen: open }, log: pino({ enabled: false }) };
  expect(await mayUse(needs, { account: 'acme', scope: 'acme' })).toMatchObject({ status: 'suspended' });
});

test('a corrected key is found without a run of its account; an account that a person suspended stays so', async () => {
  const { pool } = database;
  await suspendAccount(pool, 'other', 'unknown key');
  await suspendByHand(pool, 'third', { by: 'ann', reason: undefined });
  await pool.query('update ledger.suspensions set probe_at = now()');
  const open = async () => anAccount();
  const needs = { pool, accounts: { open, reopen: open }, log: pino({ enabled: false }) };
  const trying = keepTryingKeys(needs, () => ['third', 'other']);
  await expect.poll(() => suspensionOf(pool, 'other')).toBeUndefined();
  expect(await suspensionOf(pool, 'third')).toMatchObject({ code: 'ACCOUNT_SUSPENDED' });
  await trying.close();
});
