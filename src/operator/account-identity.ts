/** What a person decides about an account whose address, key or records have changed: it is the same tenant as before, or another one. */
import type pg from 'pg';
import { LockstepError, wrongUse } from '../base/errors.ts';
import type { Accounts } from '../engine/account/accounts.ts';
import { refusalOf } from '../engine/account/failure.ts';
import { tryKey } from '../engine/account/key-check.ts';
import { OF_OTHER_TENANT, UNCONFIRMED } from '../engine/ledger/run-remedy.ts';
import { cancelledBy, confirmPaused, endRun } from '../engine/ledger/run-status.ts';
import {
  type Identity,
  moveToFreshScope,
  rebindAccount,
  scopeNamed,
  strandedRuns,
} from '../engine/ledger/scopes/scopes.ts';
import { accountNamed, type Settings } from '../settings/settings.ts';
import { inTransaction } from '../storage/transaction.ts';

export interface IdentityNeeds {
  readonly pool: pg.Pool;
  readonly settings: () => Settings;
  readonly accounts: Pick<Accounts, 'inspect' | 'identify'>;
}

export interface Confirmed {
  readonly tenant: string;
  readonly address: string;
}

/**
 * If it is another known tenant, its runs at the earlier one cannot continue, and are cancelled. `paused`: the runs that can be
 * resumed. @throws LockstepError KEY_REFUSED, KEY_NOT_TRIED, ACCOUNT_UNUSED, SETTINGS_NAME_UNKNOWN
 */
export async function confirmSameTenant(
  needs: IdentityNeeds,
  name: string,
  by: string,
): Promise<Confirmed & { readonly paused: readonly string[]; readonly cancelled: readonly string[] }> {
  const { pool } = needs;
  const identity = await identified(needs, name, 'rebind');
  const before = await scopeNamed(pool, name);
  const { tenant, paused } = await inTransaction(pool, async (db) => {
    const scope = await rebindAccount(db, name, identity);
    if (scope === undefined) throw neverUsed(name);
    return { tenant: scope, paused: await confirmPaused(db, scope, [...UNCONFIRMED, OF_OTHER_TENANT]) };
  });
  const cancelled = await cancelStranded(pool, before, by);
  return { tenant, address: identity.address, paused, cancelled };
}

/** The unfinished runs of the earlier tenant are cancelled. @throws LockstepError ACCOUNT_KNOWN, and like confirmSameTenant */
export async function declareOtherTenant(
  needs: IdentityNeeds,
  name: string,
  by: string,
): Promise<Confirmed & { readonly cancelled: readonly string[] }> {
  const { pool } = needs;
  const identity = await identified(needs, name, 'fresh');
  const before = await scopeNamed(pool, name);
  const moved = await inTransaction(pool, (db) => moveToFreshScope(db, name, identity));
  if (moved.status === 'never-used') throw neverUsed(name);
  if (moved.status === 'known') {
    const message = `Account "${name}" has the address and key of "${moved.scope}", which is known. Confirm that it is that tenant with: \`lockstep accounts rebind ${name}\``;
    throw wrongUse(message, 'ACCOUNT_KNOWN');
  }
  const cancelled = await cancelStranded(pool, before, by);
  return { tenant: moved.scope, address: identity.address, cancelled };
}

async function cancelStranded(pool: pg.Pool, scope: string, by: string): Promise<readonly string[]> {
  const stranded = await strandedRuns(pool, scope);
  for (const id of stranded) await endRun(pool, id, 'cancelled', cancelledBy(by));
  return stranded;
}

/** The address and key of the account, once a read has shown that the service accepts the key. */
async function identified({ settings, accounts }: IdentityNeeds, name: string, command: string): Promise<Identity> {
  accountNamed(settings(), name);
  await requireAcceptedKey(accounts, name, command);
  return accounts.identify(name);
}

/** Tries the key of an account with one read. @throws LockstepError KEY_REFUSED, KEY_NOT_TRIED: run `command` again */
export async function requireAcceptedKey(
  accounts: Pick<Accounts, 'inspect'>,
  name: string,
  command: string,
): Promise<void> {
  const account = await accounts.inspect(name);
  try {
    const key = await tryKey(account);
    const again = `run this again: \`lockstep accounts ${command} ${name}\``;
    if (key.status === 'refused') {
      const message = `${refusalOf(account, key.failure)} Nothing was changed. Correct the key (${account.keySource}), then ${again}`;
      throw new LockstepError('KEY_REFUSED', message);
    }
    if (key.status === 'unclear') {
      const message = `The service at ${account.baseUrl} did not say whether it accepts the API key of account "${name}" (${key.why}). Nothing was changed. When the service answers, ${again}`;
      throw new LockstepError('KEY_NOT_TRIED', message);
    }
  } finally {
    await account.close();
  }
}

function neverUsed(name: string): LockstepError {
  return wrongUse(`Account "${name}" was never used, so there is nothing to change.`, 'ACCOUNT_UNUSED');
}
