import { pino } from 'pino';
import { afterAll, expect, test } from 'vitest';
import { KeyRefused } from '../../../src/engine/account/failure.ts';
import { mayUse } from '../../../src/engine/account/suspension.ts';
import { suspendAccount } from '../../../src/engine/ledger/scopes/suspensions.ts';
import { freshDatabase } from '../../support/database.ts';

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
