/** Importing contacts as customers: the fields are mapped in the database, in the statement that writes the customer. */
import type { SqlId, TenantDb } from './tenant-db.ts';

export type Imported =
  | { readonly status: 'imported'; readonly ids: readonly number[] }
  | { readonly status: 'absent' }
  | { readonly status: 'exists-already' };

/** What a second import of the same contact does: makes a second customer, or nothing. */
export type ImportTwice = 'create' | 'refuse';

/** Imports all of the contacts or, if one of them is absent from the tenant, none. */
export async function importContacts(
  db: TenantDb,
  contactIds: readonly number[],
  twice: ImportTwice,
): Promise<Imported> {
  const wanted = [...new Set(contactIds)];
  const values = ['customers.import', wanted];
  if (twice === 'create') return imported(await db.query<{ id: SqlId }>(importSql, values));
  return db.transaction(async (inside): Promise<Imported> => {
    await inside.query(lockSql, [wanted]); // two imports of one contact at once: the second waits and sees the first
    const existing = await inside.query(existingSql, [wanted]);
    if (existing.length > 0) return { status: 'exists-already' };
    return imported(await inside.query<{ id: SqlId }>(importSql, values));
  });
}

function imported(rows: readonly { readonly id: SqlId }[]): Imported {
  if (rows.length === 0) return { status: 'absent' };
  return { status: 'imported', ids: rows.map((row) => Number(row.id)) };
}

const importSql = `
  with wanted as (
    select id, fields from service.contacts where tenant_id = $1 and id = any ($3::bigint[])
  ), written as (
    insert into service.customers (tenant_id, contact_id, fields)
    select $1, id, jsonb_strip_nulls(jsonb_build_object(
      'full_name', nullif(concat_ws(' ', nullif(fields->>'first_name', ''), nullif(fields->>'last_name', '')), ''),
      'email', nullif(fields->>'email', ''),
      'phone_number', nullif(fields->>'phone', ''),
      'organization', nullif(fields->>'organization', ''),
      'picture_url', nullif(fields->>'picture_url', '')
    ))
    from wanted
    where (select count(*) from wanted) = cardinality($3::bigint[])
    returning id, contact_id
  ), logged as (
    insert into service.commits (tenant_id, operation, kind, record_id, natural_key)
    select $1, $2, 'customer', id, contact_id::text from written
  )
  select id from written`;

const lockSql =
  'select id from service.contacts where tenant_id = $1 and id = any ($2::bigint[]) order by id for update';
const existingSql = 'select id from service.customers where tenant_id = $1 and contact_id = any ($2::bigint[]) limit 1';
