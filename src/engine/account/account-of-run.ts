/** The account of a run, which the settings may not have any more under the name with which the run was started. */
import { LockstepError, wrongUse } from '../../base/errors.ts';
import type { Run } from '../ledger/runs.ts';
import type { Account } from './account.ts';
import type { Accounts } from './accounts.ts';

/** @throws as `open` of the accounts */
export async function accountOfRun(
  accounts: Pick<Accounts, 'open'>,
  { id, account }: Pick<Run, 'id' | 'account'>,
): Promise<Account> {
  try {
    return await accounts.open(account);
  } catch (error) {
    if (!(error instanceof LockstepError) || error.code !== 'SETTINGS_NAME_UNKNOWN') throw error;
    const remedy = `Run ${id} was started with it. If it was renamed, add it to the settings under its earlier name too, and resume the run; or end the run: \`lockstep runs cancel ${id}\``;
    throw wrongUse(`${error.message}. ${remedy}`, 'SETTINGS_NAME_UNKNOWN', error);
  }
}
