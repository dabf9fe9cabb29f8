/** The tenant that a command which administers the service is about. */
import type { Command } from 'commander';
import type pg from 'pg';
import { listTenants, type Tenant } from '../../service/tenants.ts';
import { didYouMean, oneOf, quote } from '../../settings/words.ts';
import { wrongUse } from '../errors.ts';

/** Such a command has its own --tenant, but commander gives it to `service`, which has one too. @throws LockstepError USAGE */
export function tenantOption(command: Command): string {
  const { tenant } = command.optsWithGlobals<{ tenant?: string }>();
  if (tenant === undefined) throw wrongUse('--tenant is missing: which tenant is it for?');
  return tenant;
}

/** @throws LockstepError NO_SUCH_TENANT, with the names there are */
export async function tenantNamed(pool: pg.Pool, name: string): Promise<Tenant> {
  const tenants = await listTenants(pool);
  const found = tenants.find((tenant) => tenant.name === name);
  if (found) return found;
  const names = tenants.map((tenant) => tenant.name);
  const known =
    names.length === 0
      ? 'there is none yet; add one with: lockstep service tenants add NAME'
      : `there is ${oneOf(names.map(quote))}`;
  throw wrongUse(`no tenant named ${quote(name)}${didYouMean(name, names)} (${known})`, 'NO_SUCH_TENANT');
}
