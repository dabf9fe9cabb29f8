/** `lockstep service keys`: the API keys of a tenant. A key is shown once, when it is made. */

import type { Command } from '../command.ts';
import { wrongUse } from '../../base/errors.ts';
import { formatTime } from '../../operator/format.ts';
import { keyHash } from '../../service/authentication.ts';
import { createKey, type KeyEntry, listKeys, revokeKey } from '../../service/tenants.ts';
import type { Perform, Session } from '../session.ts';
import { wholeNumber } from './arguments.ts';
import { openTenant, type TenantOption } from './tenant-named.ts';

export function addKeys(service: Command, perform: Perform): void {
  const keys = service
    .command('keys')
    .summary('list, add or revoke API keys')
    .description(
      'Lists the API keys of a tenant by id and fingerprint: only hashes of the keys are stored. `keys add` makes a key and ' +
        'shows it once; `keys revoke ID` revokes a key within a second.',
    )
    .requiredOption('--tenant <name>', 'tenant of the keys')
    .action(perform(show));
  keys
    .command('add')
    .summary('make a key, and show it once')
    .description('Makes an API key of 256 random bits and shows it. It cannot be shown again.')
    .requiredOption('--tenant <name>', 'tenant of the key')
    .action(perform(add));
  keys
    .command('revoke')
    .summary('revoke a key')
    .description('Revokes a key within a second, in every process that serves the API.')
    .argument('<id>', 'id of the key, as `keys` lists it', wholeNumber)
    .requiredOption('--tenant <name>', 'tenant of the key')
    .action(perform(revoke));
}

async function show(session: Session, options: TenantOption): Promise<void> {
  const { pool, tenant } = await openTenant(session, options);
  const keys = await listKeys(pool, tenant.id);
  const rows = keys.map(({ id, fingerprint, label, createdAt, revokedAt }) => [
    String(id),
    fingerprint,
    label ?? '',
    formatTime(createdAt),
    revokedAt === undefined ? 'in use' : `revoked ${formatTime(revokedAt)}`,
  ]);
  const none = `Tenant ${tenant.name} has no key.`;
  session.out.table(['ID', 'FINGERPRINT', 'LABEL', 'MADE', 'STATUS'], rows, { right: [0], none });
  session.out.result({ tenant, keys: keys.map((key) => ({ ...key, revokedAt: key.revokedAt ?? null })) });
}

async function add(session: Session, options: TenantOption): Promise<void> {
  const { pool, tenant } = await openTenant(session, options);
  const { key } = await createKey(pool, tenant.id);
  const entry = entryOf(key, await listKeys(pool, tenant.id));
  session.out.say(`Key ${entry?.id} of tenant ${tenant.name}, shown only once:`, key);
  session.out.result({ tenant, key: { id: entry?.id, value: key } });
}

function entryOf(key: string, entries: readonly KeyEntry[]): KeyEntry | undefined {
  const hash = keyHash(key).toString('hex');
  return entries.find(({ fingerprint }) => hash.startsWith(fingerprint));
}

async function revoke(session: Session, id: number, options: TenantOption): Promise<void> {
  const { pool, tenant } = await openTenant(session, options);
  if (!(await revokeKey(pool, tenant.id, id))) {
    const list = session.hint(`service keys --tenant ${tenant.name}`);
    throw wrongUse(`tenant ${tenant.name} has no key ${id} in use. List its keys with: ${list}`, 'NO_SUCH_KEY');
  }
  session.out.say(`Key ${id} of tenant ${tenant.name} is revoked.`);
  session.out.result({ tenant, revoked: id });
}
