/** `lockstep accounts …`: shows which tenant each account is, and settles it after an address or key changed. */
import { plural } from '../../base/counts.ts';
import { listAccounts, scopeNamed } from '../../engine/ledger/scopes/scopes.ts';
import {
  liftSuspension,
  resumeAccount,
  suspendByHand,
  suspendedAccounts,
  suspensionOf,
} from '../../engine/ledger/scopes/suspensions.ts';
import {
  confirmSameTenant,
  declareOtherTenant,
  type IdentityNeeds,
  requireAcceptedKey,
} from '../../operator/account-identity.ts';
import { formatTime } from '../../operator/format.ts';
import { accountNamed } from '../../settings/settings.ts';
import type { Command } from '../command.ts';
import type { Perform, Session } from '../session.ts';
import { thisPerson } from '../this-person.ts';

export function define(accounts: Command, perform: Perform): void {
  accounts
    .description(
      'Lists the accounts that were used, and which tenant of which service each one is. Links, runs and the ' +
        'budget belong to the tenant. If an account’s address or key changes, Lockstep writes nothing until it knows ' +
        'that the tenant is the same, or until you confirm it.',
    )
    .action(perform(list));
  accounts
    .command('rebind')
    .summary('confirm that the account is the same tenant as before')
    .description(
      'Confirms that an account whose address, key or records have changed is the same tenant as before: it keeps its ' +
        'links and its history. Use it after a service has moved to another address, after a key was changed, and after ' +
        'the service was restored from a backup. An account that shows the records of a known tenant with another key ' +
        'becomes that tenant, and its unfinished runs are cancelled. The next contact sync removes links with customers that are gone or that ' +
        'are other people now, and matches their contacts again.',
    )
    .argument('<account>', 'name of the account in the settings')
    .action(perform(rebind));
  accounts
    .command('fresh')
    .summary('declare that the account is another tenant than before')
    .description(
      'Declares that an account is another tenant than before: it starts without links and history, and its unfinished ' +
        'runs are cancelled. This creates nothing twice: the next contact sync finds existing customers by e-mail and ' +
        'phone, and a load finds existing orders by customer and order_id.',
    )
    .argument('<account>', 'name of the account in the settings')
    .action(perform(fresh));
  accounts
    .command('suspend')
    .summary('send nothing to an account until it is resumed')
    .description(
      'Sends nothing more to an account until it is resumed: calls in flight finish, and its runs wait. A command that ' +
        'follows a run of the account stops, and exits with 3. Runs of other accounts continue. Accounts that are the ' +
        'same tenant are suspended together.',
    )
    .argument('<account>', 'name of the account in the settings')
    .option('--reason <text>', 'the reason, which `lockstep status` shows')
    .action(perform(suspend));
  accounts
    .command('resume')
    .summary('let the runs of a suspended account continue')
    .description(
      'Lets the runs of a suspended account continue. If the service refused the key, the command tries the key first. ' +
        '`lockstep start` also tries the key at least once a minute, and `lockstep run` at once.',
    )
    .argument('<account>', 'name of the account in the settings')
    .action(perform(resume));
}

async function list(session: Session): Promise<void> {
  const { out } = session;
  const { pool } = await session.openLedger();
  const accounts = await listAccounts(pool);
  const lines = accounts.map(({ name, scope, origins, tenant, boundAt }) => {
    return [name, scope, origins.join(', ') || 'not known yet', tenant ?? '', formatTime(boundAt)];
  });
  const none = 'No account was used yet.';
  out.table(['ACCOUNT', 'TENANT', 'ADDRESS', 'TENANT ID', 'SINCE'], lines, { none });
  const names = accounts.map(({ name }) => name);
  const suspended = await suspendedAccounts(pool, names);
  for (const [name, { since, message }] of suspended)
    out.say(`Account ${name} has been suspended since ${formatTime(since)}: ${message}`);
  out.result({
    accounts: accounts.map((account) => ({ ...account, suspension: suspended.get(account.name) ?? null })),
  });
}

async function rebind(session: Session, name: string): Promise<void> {
  const { out, hint } = session;
  const needs = await identityNeeds(session, name);
  const { tenant, address, paused, cancelled } = await confirmSameTenant(needs, name, thisPerson());
  out.say(`Account ${name} is ${tenant} at ${address}, with its current key.`);
  out.say(...paused.map((id) => `Resume the paused run: ${hint(`runs resume ${id}`)}`));
  out.say(...cancelledWords(cancelled));
  out.result({ account: name, tenant, address, paused, cancelled });
}

async function fresh(session: Session, name: string): Promise<void> {
  const { out } = session;
  const needs = await identityNeeds(session, name);
  const { tenant, address, cancelled } = await declareOtherTenant(needs, name, thisPerson());
  out.say(`Account ${name} is ${tenant} at ${address}: it starts without links and history.`);
  out.say(...cancelledWords(cancelled));
  out.result({ account: name, tenant, address, cancelled });
}

function cancelledWords(runs: readonly string[]): readonly string[] {
  return runs.length === 0
    ? []
    : [`${plural(runs.length, 'unfinished run')} of the earlier tenant cancelled: ${runs.join(', ')}.`];
}

async function suspend(session: Session, name: string, { reason }: { reason?: string }): Promise<void> {
  const { out, hint } = session;
  accountNamed(await session.settings(), name);
  const { pool } = await session.openLedger();
  await suspendByHand(pool, await scopeNamed(pool, name), { by: thisPerson(), reason });
  out.say(`Account ${name} is suspended: its runs wait. Resume it with: ${hint(`accounts resume ${name}`)}`);
  out.result({ account: name, suspended: true });
}

async function resume(session: Session, name: string): Promise<void> {
  const { out } = session;
  const { pool, accounts } = await identityNeeds(session, name);
  const scope = await scopeNamed(pool, name);
  const isKeyRefused = (await suspensionOf(pool, scope))?.code === 'KEY_REFUSED';
  if (isKeyRefused) await requireAcceptedKey(accounts, name, 'resume');
  const resumed = isKeyRefused ? await liftSuspension(pool, scope) : await resumeAccount(pool, scope);
  if (resumed) out.say(`Account ${name} is resumed: its runs continue.`);
  else out.say(`Account ${name} was not suspended; nothing has changed.`);
  out.result({ account: name, resumed });
}

async function identityNeeds(session: Session, name: string): Promise<IdentityNeeds> {
  const settings = await session.settings();
  accountNamed(settings, name); // reports a misspelt name before a database is opened
  const { accounts, database } = await session.openWorkspace();
  return { pool: database.pool, settings: () => settings, accounts };
}
