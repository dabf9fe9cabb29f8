/** Keeps scanned contacts as rows: settled at once where the link says nothing changed, else staged to be decided. */
import { idOf, isJsonObject, type Json } from '../client/dialect.ts';
import type { CustomerFields } from '../contract/records.ts';
import { type Keys, keysOf, labelOf, personFieldsOf } from '../customers/keys.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import type { Kept, ScannedRecord } from '../scan/scan.ts';
import type { SeenIds } from '../scan/seen-ids.ts';
import type { Account } from '../worker/accounts.ts';
import { withoutId } from '../worker/without-id.ts';
import { hashOf } from './mapping.ts';

/** The kind of link between a contact and the customer made from it. */
export const CONTACT_LINK = 'contact-customer';

export interface ScannedContact extends ScannedRecord, Keys {
  readonly label: string;
  readonly hash: string;
  readonly fields: CustomerFields;
}

/** @throws RunFailed RECORD_WITHOUT_ID: a contact that cannot be named cannot be followed. */
export function toScannedContact(record: Json, account: Account): ScannedContact {
  const id = idOf(record, 'contacts', account.dialect);
  if (id === undefined || !isJsonObject(record)) throw withoutId('contact', record, account);
  const fields = personFieldsOf(record);
  return { id, label: labelOf(fields), hash: hashOf(fields), fields, ...keysOf(fields) };
}

export interface Staging {
  /** The run's contacts so far. */
  readonly seen: SeenIds;
  readonly pass: number;
  /** The place of the first contact of the window in the run's order. */
  readonly first: number;
  readonly onChange: 'update' | 'ignore';
}

export interface Staged extends Omit<Kept, 'otherwise'> {
  /** Contacts that were seen with other content in this pass, and at which place. */
  readonly otherwise: readonly { readonly id: string; readonly place: number }[];
}

/** Keeps a window of contacts for a pass of the scan: those that no window before has shown. */
export async function stageContacts(
  db: Queryable,
  run: Run,
  contacts: readonly ScannedContact[],
  { seen, pass, first, onChange }: Staging,
): Promise<Staged> {
  const fresh: { readonly contact: ScannedContact; readonly n: number }[] = [];
  const otherwise: { readonly id: string; readonly place: number }[] = [];
  let newInPass = 0;
  for (const [i, contact] of contacts.entries()) {
    const n = first + i + 1;
    const { lastPass, otherwiseAt } = seen.note(contact.id, pass, contact.hash, n);
    if (otherwiseAt !== undefined) otherwise.push({ id: contact.id, place: otherwiseAt });
    if (lastPass !== pass) newInPass++;
    if (lastPass === undefined) fresh.push({ contact, n });
  }
  if (fresh.length > 0) await keepContacts(db, run, fresh, onChange);
  return { newInPass, newInAll: fresh.length, otherwise };
}

async function keepContacts(
  db: Queryable,
  run: Run,
  fresh: readonly { readonly contact: ScannedContact; readonly n: number }[],
  onChange: Staging['onChange'],
): Promise<void> {
  const column = <K extends keyof ScannedContact>(name: K) => fresh.map(({ contact }) => contact[name] ?? null);
  await db.query(
    `with rebound as (
       -- A link that is older may be dropped, and its contact sent again.
       select coalesce((select rebound_at from ledger.scopes where id = $9), '-infinity') as at
     ), input as (
       select i.*, l.record_id, l.hash is distinct from i.hash as has_changed, l.source_id is not null as is_linked,
         l.source_id is null or l.hash <> i.hash or l.linked_at < rebound.at as is_open
       from rebound, unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[], $10::bigint[])
         as i(source_id, label, hash, email, phone, name, org, fields, n)
         left join ledger.links l on l.scope = $9 and l.kind = $11 and l.source_id = i.source_id
     ), kept as (
       insert into ledger.inputs (run_id, n, source_id, label, hash, email, phone, name, org, fields)
       select $12, n, source_id, label, hash, email, phone, name, org, case when is_open then fields end from input
     ), linked as (
       insert into ledger.matches (run_id, n, kind, record_id, by) select $12, n, 'customer', record_id, 'link' from input where is_linked
     ), planned as (
       insert into ledger.plans (run_id, n, action, record_id)
       select $12, n, 'update', record_id from input where is_linked and has_changed and $13
     )
     insert into ledger.verdicts (run_id, n, verdict, reason, record_id)
     select $12, n, 'unchanged', case when has_changed then 'CHANGE_IGNORED' end, record_id from input
     where is_linked and not (has_changed and $13)`,
    [
      column('id'),
      column('label'),
      column('hash'),
      column('email'),
      column('phone'),
      column('name'),
      column('org'),
      fresh.map(({ contact }) => JSON.stringify(contact.fields)),
      run.scope,
      fresh.map(({ n }) => n),
      CONTACT_LINK,
      run.id,
      onChange === 'update',
    ],
  );
}
