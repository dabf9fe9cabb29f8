/** `lockstep service tenants|pipelines|delete`: administration that the service's API does not offer. */
import { Argument } from 'commander';
import { LockstepError, wrongUse } from '../../base/errors.ts';
import { createPipeline, type DeletableKind, deleteRecord, listPipelines } from '../../service/administration.ts';
import { createTenant, listTenants } from '../../service/tenants.ts';
import type { Command } from '../command.ts';
import { FAILED } from '../errors.ts';
import type { Perform, Session } from '../session.ts';
import { commaSeparated, wholeNumber } from './arguments.ts';
import { addKeys } from './service-keys.ts';
import { openTenant, type TenantOption } from './tenant-named.ts';

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
      throw wrongUse(`tenant ${tenant.name} has no ${kind} ${id}`, 'RECORD_ABSENT');
    case 'in-use':
      throw new LockstepError('RECORD_IN_USE', `${kind} ${id} still has orders: delete them first`, {
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
