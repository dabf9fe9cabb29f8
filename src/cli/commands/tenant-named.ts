/** The tenant of a command that administers the service. */

import type pg from 'pg';
import { wrongUse } from '../../base/errors.ts';
import { listTenants, type Tenant } from '../../service/tenants.ts';
import { didYouMean, oneOf, quote } from '../../settings/message-parts.ts';
import type { Session } from '../session.ts';

export interface TenantOption {
  readonly tenant: string;
}

/** The service's store and the tenant of `--tenant`. @throws LockstepError NO_SUCH_TENANT with the existing names */
export async function openTenant(
  session: Session,
  { tenant: name }: TenantOption,
): Promise<{ pool: pg.Pool; tenant: Tenant }> {
  const { pool } = await session.openServiceStore();
  const tenants = await listTenants(pool);
  const tenant = tenants.find((one) => one.name === name);
  if (tenant) return { pool, tenant };
  const names = tenants.map((one) => one.name);
  const known =
    names.length === 0
      ? 'there is none yet; add one with: `lockstep service tenants add NAME`'
      : `there is ${oneOf(names.map(quote))}`;
  throw wrongUse(`no tenant named ${quote(name)}${didYouMean(name, names)} (${known})`, 'NO_SUCH_TENANT');
}
