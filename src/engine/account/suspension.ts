/**
 * Accounts whose key is refused: their runs wait, and one process at a time reads the key again from its source and tries
 * it. Once it is accepted, the runs resume automatically. Runs of an account that a person suspended wait until a person
 * resumes it. Other accounts are not affected.
 */
import type pg from 'pg';
import type { Logger } from 'pino';
import { type Repeated, repeat } from '../../base/repeat.ts';
import type { Run } from '../ledger/runs.ts';
import { scopeNamed } from '../ledger/scopes/scopes.ts';
import {
  AccountSuspended,
  askToProbe,
  liftSuspension,
  suspendAccount,
  suspendedAccounts,
  suspensionOf,
} from '../ledger/scopes/suspensions.ts';
import type { Account } from './account.ts';
import type { Accounts } from './accounts.ts';
import { KeyRefused } from './failure.ts';
import { tryKey } from './key-check.ts';

export interface SuspensionNeeds {
  readonly pool: pg.Pool;
  readonly accounts: Pick<Accounts, 'open' | 'reopen'>;
  readonly log: Logger;
}

/** How often the jobs of a suspended account, and workers without such a job, check whether it still is. */
const LOOK_MS = 2_000;

/** Whether an account may be used now, and if not, when to ask again. Tries the key if that is due. */
export async function mayUse(
  { pool, accounts, log }: SuspensionNeeds,
  { account, scope }: Pick<Run, 'account' | 'scope'>,
): Promise<{ readonly status: 'open' } | { readonly status: 'suspended'; readonly againInMs: number }> {
  const probe = await askToProbe(pool, scope);
  if (probe.status === 'open') return probe;
  if (probe.status === 'suspended') {
    return { status: 'suspended', againInMs: Math.max(50, Math.min(LOOK_MS, probe.probeInMs)) };
  }
  const found = await accounts.reopen(account).then(tryKey).catch(whyNotOpened);
  if (found.status === 'accepted') {
    if (await liftSuspension(pool, scope)) log.info({ account: scope }, 'account resumed: the key is accepted again');
    return (await suspensionOf(pool, scope)) ? { status: 'suspended', againInMs: LOOK_MS } : { status: 'open' };
  }
  if (found.status === 'refused') {
    await suspendAccount(pool, scope, found.refused.message);
    return { status: 'suspended', againInMs: LOOK_MS };
  }
  return { status: 'open' }; // the service, not the key, is the problem now: the run finds and reports it
}

/**
 * An account for work that belongs to no run, such as deliveries to its tasks. Tries a refused key if that is due. `suspend`: for a
 * key that the service refuses. @throws AccountSuspended, and what `accounts.use` throws
 */
export async function useAccount(
  needs: SuspensionNeeds & { readonly accounts: Pick<Accounts, 'use'> },
  name: string,
): Promise<Account & { suspend(why: string): Promise<void> }> {
  const { pool, accounts, log } = needs;
  const scope = await scopeNamed(pool, name);
  const usable = await mayUse(needs, { account: name, scope });
  const suspension = usable.status === 'suspended' ? await suspensionOf(pool, scope) : undefined;
  if (suspension?.code === 'KEY_REFUSED') throw new AccountSuspended(name, suspension.message);
  const account = await accounts.use(name);
  const suspend = async (why: string) => {
    if (await suspendAccount(pool, account.scope, why))
      log.warn({ account: account.scope }, `account suspended: ${why}`);
  };
  return { ...account, suspend };
}

/** Tries the refused keys of these accounts, also while no run waits for them, until closed. */
export function keepTryingKeys(needs: SuspensionNeeds, names: () => readonly string[]): Repeated {
  const look = async (): Promise<void> => {
    for (const [account, { code }] of await suspendedAccounts(needs.pool, names()))
      if (code === 'KEY_REFUSED') await mayUse(needs, { account, scope: await scopeNamed(needs.pool, account) });
  };
  const failed = (err: unknown) => needs.log.warn({ err }, 'refused keys could not be tried');
  return repeat(look, { pauseMs: () => LOOK_MS, failed });
}

/** An account that was not open yet is opened by a first read, which may refuse the key too. */
function whyNotOpened(
  error: unknown,
): { readonly status: 'refused'; readonly refused: KeyRefused } | { readonly status: 'unclear' } {
  return error instanceof KeyRefused ? { status: 'refused', refused: error } : { status: 'unclear' };
}
