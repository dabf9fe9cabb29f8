/** Keeps scanned contacts as rows: settled at once where the link says nothing changed, else staged to be decided. */
import { idOf, isJsonObject, type Json } from '../client/dialect.ts';
import type { CustomerFields } from '../contract/records.ts';
import { type Keys, keysOf, labelOf, personFieldsOf } from '../customers/keys.ts';
import type { Queryable, Run } from '../ledger/runs.ts';
import type { Kept, ScannedRecord } from '../scan/scan.ts';
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

export interface Staged extends Kept {
  /** The places of contacts that were kept with other content in this pass, by their ids. */
  readonly places: Readonly<Record<string, number>> | null;
}

/** Keeps a window of contacts for a pass of the scan; `first` is the place of the first one in the run's order. */
export async function stageContacts(
  db: Queryable,
  run: Run,
  contacts: readonly ScannedContact[],
  { pass, first, onChange }: { pass: number; first: number; onChange: 'update' | 'ignore' },
): Promise<Staged> {
  const distinct = [...new Map(contacts.map((contact) => [contact.id, contact])).values()];
  const column = <K extends keyof ScannedContact>(name: K) => distinct.map((contact) => contact[name] ?? null);
  const staged = await db.query<Staged>(
    `with rebound as (
       -- A link that is older may be dropped, and its contact sent again.
       select coalesce((select rebound_at from ledger.scopes where id = $9), '-infinity') as at
     ), input as (
       select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::jsonb[])
         with ordinality as t(source_id, label, hash, email, phone, name, org, fields, ord)
     ), snapshot as (
       insert into ledger.snapshots (scope, kind, record_id, hash, run_id)
       select $9, 'contact', source_id, hash, $10 from input where not $15
       on conflict (scope, kind, record_id) do update set hash = excluded.hash, run_id = excluded.run_id, seen_at = now()
         where ledger.snapshots.hash <> excluded.hash
     ), kept as (
       insert into ledger.rows
         (run_id, source_id, n, pass, label, hash, email, phone, name, org, fields, record_id, state, action, verdict, reason)
       select $10, i.source_id, $11 + i.ord, $12, i.label, i.hash, i.email, i.phone, i.name, i.org,
         case when l.source_id is null or l.hash <> i.hash or l.linked_at < rebound.at then i.fields end, l.record_id,
         case when l.source_id is null then 'staged' when l.hash <> i.hash and $13 then 'ready' else 'settled' end,
         case when l.hash <> i.hash and $13 then 'update' end,
         case when l.source_id is not null and not (l.hash <> i.hash and $13) then 'unchanged' end,
         case when l.hash <> i.hash and not $13 then 'CHANGE_IGNORED' end
       from input i cross join rebound left join ledger.links l on l.scope = $9 and l.kind = $14 and l.source_id = i.source_id
       on conflict (run_id, source_id) do update set pass = excluded.pass where ledger.rows.pass < excluded.pass
       returning (xmax = 0) as is_new
     )
     select count(*)::int as "newInPass", (count(*) filter (where is_new))::int as "newInAll",
       (select json_object_agg(r.source_id, r.n) from input i
        join ledger.rows r on r.run_id = $10 and r.source_id = i.source_id and r.pass = $12 and r.hash <> i.hash) as places
     from kept`,
    [
      column('id'),
      column('label'),
      column('hash'),
      column('email'),
      column('phone'),
      column('name'),
      column('org'),
      distinct.map((contact) => JSON.stringify(contact.fields)),
      run.scope,
      run.id,
      first,
      pass,
      onChange === 'update',
      CONTACT_LINK,
      run.dryRun,
    ],
  );
  return staged.rows[0] ?? { newInPass: 0, newInAll: 0, places: null };
}
