/**
 * Creating and updating records. Each write is one statement that also writes the commit log, so the log and the records
 * can never disagree.
 */
import { codeOf } from '../../base/errors.ts';
import { foldedContact } from './contact-search.ts';
import { kinds, perKind, type StoredKind } from './kinds.ts';
import type { ItemRow, SqlId, TenantDb } from './tenant-db.ts';

export interface Write {
  /** The name in the commit log. Default: that of the kind, such as `orders.create`. */
  readonly operation?: string;
  readonly fields: Readonly<Record<string, unknown>>;
  /** Value of the kind's link column, such as an order's `client_id`. */
  readonly link?: number;
  /** The caller's name for the record, for the commit log: an order's `order_id`, a contact's e-mail. */
  readonly naturalKey?: string;
}

/** The outcome of a write. `no-parent`: the tenant does not have the linked record. */
export type Outcome = { readonly status: 'written' | 'absent'; readonly id: number } | { readonly status: 'no-parent' };

const FOREIGN_KEY_VIOLATION = '23503';

/** Writes a new record. */
export function create(db: TenantDb, kind: StoredKind, write: Write): Promise<Outcome> {
  const folded = kind === 'contact' ? foldedContact(write.fields) : undefined;
  const item = { operation: `${kind}s.create`, ...write, folded };
  return unlessOrphan(async () => {
    const [row] = await db.each<IdRow>(createSql[kind], item);
    return { status: 'written', id: Number(row?.id) };
  });
}

/**
 * Changes only the given fields. `link` moves the record to another parent; for a subtask, it is the task that the
 * subtask has to belong to.
 */
export function update(db: TenantDb, kind: StoredKind, id: number, write: Write): Promise<Outcome> {
  const values = [write.operation ?? `${kind}s.update`, write.naturalKey ?? null, id, JSON.stringify(write.fields)];
  if (kind === 'contact') values.push(JSON.stringify(foldedContact(write.fields)));
  const link = kinds[kind].link === undefined ? [] : [write.link ?? null];
  return unlessOrphan(async () => {
    const rows = await db.query(updateSql[kind], [...values, ...link]);
    return { status: rows.length === 1 ? 'written' : 'absent', id };
  });
}

async function unlessOrphan(write: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await write();
  } catch (error) {
    if (codeOf(error) === FOREIGN_KEY_VIOLATION) return { status: 'no-parent' };
    throw error;
  }
}

/** The new record of an item. An item without a row wrote nothing. */
export interface IdRow extends ItemRow {
  readonly id: SqlId;
}

const ITEMS = 'select item, at from jsonb_array_elements($2::jsonb) with ordinality as sent (item, at)';

/**
 * The statement for `TenantDb.each` that writes new records and their commits, and gives an `IdRow` for each. An item
 * has `operation` and `naturalKey`; `values` has the SQL for each column. `items` selects the items and their position
 * `at`, if some items are not written or one item makes several records.
 */
export function creating(kind: string, values: Readonly<Record<string, string>>, items = ITEMS): string {
  const table = `service.${kind}s`;
  return `
    with sent as materialized (select nextval('${table}_id_seq') as id, made.* from (${items}) made),
    written as (
      insert into ${table} (tenant_id, id, ${Object.keys(values)}) overriding system value
      select $1, id, ${Object.values(values)} from sent
    ),
    logged as (
      insert into service.commits (tenant_id, operation, kind, record_id, natural_key)
      select $1, item->>'operation', '${kind}', id, item->>'naturalKey' from sent
    )
    select at, id from sent`;
}

/** Wraps a write that returns ids; `$1` is the tenant, `$2` the operation and `$3` the natural key. */
export function logged(write: string, kind: string): string {
  return `
    with written as (${write}),
    logged as (
      insert into service.commits (tenant_id, operation, kind, record_id, natural_key)
      select $1, $2, '${kind}', id, $3::text from written
    )
    select id from written`;
}

const FIELDS = { fields: "item->'fields'" };
const LINK = "(item->>'link')::bigint";

const createSql = perKind((kind) => {
  const { link } = kinds[kind];
  const folded = kind === 'contact' && { folded: "item->'folded'" };
  return creating(kind, { ...FIELDS, ...folded, ...(link && { [link.column]: LINK }) });
});

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
