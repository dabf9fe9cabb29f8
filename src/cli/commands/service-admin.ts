/**
 * `lockstep service tenants|keys|pipelines|delete`: administration that the service's API does not offer. A key is shown once, when
 * it is made.
 */
import { Argument } from 'commander';
import type pg from 'pg';
import { LockstepError, wrongUse } from '../../base/errors.ts';
import { capital } from '../../base/texts.ts';
import { formatTime } from '../../operator/format.ts';
import { createPipeline, type DeletableKind, deleteRecord, listPipelines } from '../../service/administration.ts';
import { keyHash } from '../../service/authentication.ts';
import {
  createKey,
  createTenant,
  type KeyEntry,
  listKeys,
  listTenants,
  OF_ACCOUNT,
  revokeKey,
  type Tenant,
} from '../../service/tenants.ts';
import { didYouMean, oneOf, quote } from '../../settings/message-parts.ts';
import type { Command } from '../command.ts';
import { FAILED } from '../errors.ts';
import type { Perform, Session } from '../session.ts';
import { commaSeparated, wholeNumber } from './arguments.ts';

const KINDS: readonly DeletableKind[] = ['contact', 'customer', 'order', 'task'];

export function addAdministration(service: Command, perform: Perform): void {
  addTenants(service, perform);
  addKeys(service, perform);
  addPipelines(service, perform);
  service
    .command('delete')
    .summary('delete a record')
    .description(
      'Deletes a record, which the API cannot do. The comments of a contact and the subtasks of a task are deleted with it. A customer with orders cannot be deleted.',
    )
    .addArgument(new Argument('<kind>', 'kind of record').choices(KINDS))
    .argument('<id>', 'id of the record', wholeNumber)
    .requiredOption('--tenant <name>', 'tenant of the record')
    .action(perform(remove));
}

function addTenants(service: Command, perform: Perform): void {
  const tenants = service
    .command('tenants')
    .summary('list or add tenants')
    .description('Lists the tenants of the service; `tenants add NAME` adds one.')
    .action(perform(showTenants));
  tenants
    .command('add')
    .summary('add a tenant')
    .description('Adds a tenant. The tenant has no records and no key yet: see `service seed` and `service keys add`.')
    .argument('<name>', 'a name that no other tenant has')
    .action(perform(addTenant));
}

function addPipelines(service: Command, perform: Perform): void {
  const pipelines = service
    .command('pipelines')
    .summary('list or add pipelines')
    .description(
      'Lists the pipelines of a tenant; `pipelines add NAME --columns a,b,c` adds one, which the API cannot do.',
    )
    .requiredOption('--tenant <name>', 'tenant of the pipelines')
    .action(perform(showPipelines));
  pipelines
    .command('add')
    .summary('add a pipeline')
    .description('Adds a pipeline with empty columns.')
    .argument('<name>', 'name of the pipeline')
    .requiredOption('--tenant <name>', 'tenant of the pipeline')
    .requiredOption('--columns <names>', 'names of its columns, separated by commas', commaSeparated)
    .action(perform(addPipeline));
}

async function showTenants(session: Session): Promise<void> {
  const { pool } = await session.openServiceStore();
  const tenants = await listTenants(pool);
  const none = `There is no tenant yet. Add one with: ${session.hint('service tenants add NAME')}`;
  session.out.table(['ID', 'NAME'], tenants.map(idAndName), { right: [0], none });
  session.out.result({ tenants });
}

async function addTenant(session: Session, name: string): Promise<void> {
  const { pool } = await session.openServiceStore();
  const tenant = await createTenant(pool, name);
  session.out.say(`Added tenant ${name} (id ${tenant.id}).`);
  session.out.result({ tenant });
}

async function showPipelines(session: Session, options: TenantOption): Promise<void> {
  const { pool, tenant } = await openTenant(session, options);
  const pipelines = await listPipelines(pool, tenant.id);
  const rows = pipelines.map(({ id, name, columns, cards }) => [String(id), name, String(columns), String(cards)]);
  const none = `Tenant ${tenant.name} has no pipeline.`;
  session.out.table(['ID', 'NAME', 'COLUMNS', 'CARDS'], rows, { right: [0, 2, 3], none });
  session.out.result({ tenant, pipelines });
}

async function addPipeline(
  session: Session,
  name: string,
  options: TenantOption & { readonly columns: readonly string[] },
): Promise<void> {
  const { pool, tenant } = await openTenant(session, options);
  const named = options.columns.map((column) => ({ name: column }));
  const pipeline = await createPipeline(pool, tenant.id, { name, columns: named });
  session.out.say(`Added pipeline ${name} (id ${pipeline.id}) with the columns:`);
  session.out.table(['ID', 'NAME'], pipeline.columns.map(idAndName), { right: [0] });
  session.out.result({ tenant, pipeline });
}

const idAndName = ({ id, name }: { id: number; name: string }) => [String(id), name];

async function remove(session: Session, kind: DeletableKind, id: number, options: TenantOption): Promise<void> {
  const { pool, tenant } = await openTenant(session, options);
  const { status } = await deleteRecord(pool, tenant.id, kind, id);
  switch (status) {
    case 'absent':
      throw wrongUse(`Tenant ${tenant.name} has no ${kind} ${id}`, 'RECORD_ABSENT');
    case 'in-use':
      throw new LockstepError('RECORD_IN_USE', `${capital(kind)} ${id} still has orders: delete them first`, {
        exitCode: FAILED,
      });
    case 'deleted':
      session.out.say(`Deleted ${kind} ${id} of tenant ${tenant.name}.`);
      session.out.result({ tenant, deleted: { kind, id } });
      return;
    default:
      return status satisfies never;
  }
}

function addKeys(service: Command, perform: Perform): void {
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
    .description(
      'Revokes a key within a second, in every process that serves the API. The key works again if a process opens the service ' +
        'for an account that has the key, or `service` starts with the key (--key-env or --key-file).',
    )
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
  const label = (await listKeys(pool, tenant.id)).find((key) => key.id === id)?.label;
  if (!(await revokeKey(pool, tenant.id, id))) {
    const list = session.hint(`service keys --tenant ${tenant.name}`);
    throw wrongUse(`Tenant ${tenant.name} has no key ${id} in use. List its keys with: ${list}`, 'NO_SUCH_KEY');
  }
  session.out.say(`Key ${id} of tenant ${tenant.name} is revoked.`);
  if (label?.startsWith(OF_ACCOUNT)) {
    const account = label.slice(OF_ACCOUNT.length);
    session.out.say(
      `Account ${account} has this key: the key works again if a process opens the service for the account. To prevent that, change the ` +
        `apiKey of the account in the settings; if it has none, delete the file keys/${account} of the data directory.`,
    );
  }
  session.out.result({ tenant, revoked: id });
}

interface TenantOption {
  readonly tenant: string;
}

/** The service's store and the tenant of `--tenant`. @throws LockstepError NO_SUCH_TENANT with the existing names */
async function openTenant(
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
      : `expected ${oneOf(names.map(quote))}`;
  throw wrongUse(`No tenant named ${quote(name)}${didYouMean(name, names)} (${known})`, 'NO_SUCH_TENANT');
}
