/** Importing contacts as customers: the fields are mapped in the database, in the statement that writes the customer. */
import type { TenantDb } from './tenant-db.ts';
import { creating, type IdRow } from './writes.ts';

export type Imported =
  | { readonly status: 'imported'; readonly ids: readonly number[] }
  | { readonly status: 'absent' }
  | { readonly status: 'exists-already' };

/** What a second import of the same contact does: makes a second customer, or nothing. */
export type ImportTwice = 'create' | 'refuse';

/** Imports all of the contacts, or none if the tenant does not have one of them. */
export async function importContacts(
  db: TenantDb,
  contactIds: readonly number[],
  twice: ImportTwice,
): Promise<Imported> {
  const wanted = [...new Set(contactIds)];
  if (twice === 'create') return importAll(db, wanted);
  return db.transaction(async (inside): Promise<Imported> => {
    await inside.query(lockSql, [wanted]); // of two concurrent imports of one contact, the second waits and sees the first
    const existing = await inside.query(existingSql, [wanted]);
    return existing.length > 0 ? { status: 'exists-already' } : importAll(inside, wanted);
  });
}

async function importAll(db: TenantDb, contactIds: readonly number[]): Promise<Imported> {
  const rows = await db.each<IdRow>(importSql, contactIds);
  if (rows.length === 0) return { status: 'absent' };
  return { status: 'imported', ids: rows.map((row) => Number(row.id)) };
}

const fieldsSql = `jsonb_strip_nulls(jsonb_build_object(
  'full_name', nullif(concat_ws(' ', nullif(fields->>'first_name', ''), nullif(fields->>'last_name', '')), ''),
  'email', nullif(fields->>'email', ''),
  'phone_number', nullif(fields->>'phone', ''),
  'organization', nullif(fields->>'organization', ''),
  'picture_url', nullif(fields->>'picture_url', '')
))`;

/** An item is a list of contact ids. If one id does not exist, its whole list is left out. */
const importSql = creating(
  'customer',
  { contact_id: 'contact_id', fields: fieldsSql },
  `select at, contact.id as contact_id, contact.fields,
     jsonb_build_object('operation', 'customers.import', 'naturalKey', contact.id) as item
   from jsonb_array_elements($2::jsonb) with ordinality as sent (ids, at),
     lateral (
       select id, fields, count(*) over () as found from service.contacts
       where tenant_id = $1 and id = any (array(select jsonb_array_elements_text(ids)::bigint)) order by id
     ) contact
   where contact.found = jsonb_array_length(ids)`,
);

const lockSql =
  'select id from service.contacts where tenant_id = $1 and id = any ($2::bigint[]) order by id for update';
const existingSql = 'select id from service.customers where tenant_id = $1 and contact_id = any ($2::bigint[]) limit 1';
