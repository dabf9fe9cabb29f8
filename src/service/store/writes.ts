/**
 * Creating and updating records. Each write is one statement that also writes the commit log, so the log and the records
 * can never disagree.
 */
import { codeOf } from '../../errors.ts';
import { foldedContact } from './contact-search.ts';
import { kinds, type StoredKind } from './kinds.ts';
import type { SqlId, TenantDb } from './tenant-db.ts';

export interface Write {
  /** As the commit log names it, such as `orders.create`. */
  readonly operation: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Value of the kind's link column, such as an order's `client_id`. */
  readonly link?: number;
  /** What the caller calls the record, for the commit log: an order's `order_id`, a contact's e-mail. */
  readonly naturalKey?: string;
}

export type Created = { readonly status: 'created'; readonly id: number } | { readonly status: 'no-parent' };
export type Updated = { readonly status: 'updated' } | { readonly status: 'absent' } | { readonly status: 'no-parent' };

const FOREIGN_KEY_VIOLATION = '23503';

/** Writes a new record; `no-parent` where the linked record does not exist in the tenant. */
export async function create(db: TenantDb, kind: StoredKind, write: Write): Promise<Created> {
  const values = [write.operation, write.naturalKey ?? null, JSON.stringify(write.fields)];
  if (kind === 'contact') values.push(JSON.stringify(foldedContact(write.fields)));
  const link = kinds[kind].link === undefined ? [] : [write.link ?? null];
  try {
    const [row] = await db.query<{ id: SqlId }>(createSql[kind], [...values, ...link]);
    return { status: 'created', id: Number(row?.id) };
  } catch (error) {
    if (codeOf(error) === FOREIGN_KEY_VIOLATION) return { status: 'no-parent' };
    throw error;
  }
}

/**
 * Changes the fields that are given and leaves the others. `link` moves the record to another parent, except for a
 * subtask, where it says whose subtask it has to be.
 */
export async function update(db: TenantDb, kind: StoredKind, id: number, write: Write): Promise<Updated> {
  const values = [write.operation, write.naturalKey ?? null, id, JSON.stringify(write.fields)];
  if (kind === 'contact') values.push(JSON.stringify(foldedContact(write.fields)));
  const link = kinds[kind].link === undefined ? [] : [write.link ?? null];
  try {
    const rows = await db.query(updateSql[kind], [...values, ...link]);
    return { status: rows.length === 1 ? 'updated' : 'absent' };
  } catch (error) {
    if (codeOf(error) === FOREIGN_KEY_VIOLATION) return { status: 'no-parent' };
    throw error;
  }
}

/** Wraps a write that returns ids, with `$1` the tenant, `$2` the operation and `$3` the natural key. */
export function logged(write: string, kind: string, naturalKey = '$3::text'): string {
  return `
    with written as (${write}),
    logged as (
      insert into service.commits (tenant_id, operation, kind, record_id, natural_key)
      select $1, $2, '${kind}', id, ${naturalKey} from written
    )
    select id from written`;
}

const createSql: Readonly<Record<StoredKind, string>> = {
  contact: logged(
    'insert into service.contacts (tenant_id, fields, folded) values ($1, $4, $5) returning id',
    'contact',
  ),
  customer: logged(
    'insert into service.customers (tenant_id, fields, contact_id) values ($1, $4, $5) returning id',
    'customer',
  ),
  order: logged('insert into service.orders (tenant_id, fields, client_id) values ($1, $4, $5) returning id', 'order'),
  task: logged('insert into service.tasks (tenant_id, fields) values ($1, $4) returning id', 'task'),
  subtask: logged(
    'insert into service.subtasks (tenant_id, fields, task_id) values ($1, $4, $5) returning id',
    'subtask',
  ),
};

const updateSql: Readonly<Record<StoredKind, string>> = {
  contact: logged(updating('contact', ', folded = folded || $6'), 'contact'),
  customer: logged(updating('customer', ', contact_id = coalesce($6::bigint, contact_id)'), 'customer'),
  order: logged(updating('order', ', client_id = coalesce($6::bigint, client_id)'), 'order'),
  task: logged(updating('task'), 'task'),
  subtask: logged(updating('subtask', '', ' and task_id = $6'), 'subtask'),
};

function updating(kind: StoredKind, set = '', where = ''): string {
  return `update ${kinds[kind].table} set fields = fields || $5, updated_at = now()${set}
          where tenant_id = $1 and id = $4${where} returning id`;
}
