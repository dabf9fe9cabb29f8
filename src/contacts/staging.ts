/** Keeps scanned contacts as inputs of the run where something about them is new; of the others it remembers hashes. */
import { idOf, isJsonObject, type Json } from '../client/dialect.ts';
import type { CustomerFields } from '../contract/records.ts';
import { type Keys, keysOf, labelOf, personFieldsOf } from '../customers/keys.ts';
import { keepContacts } from '../engine/ledger/matching/contact-inputs.ts';
import { linksOf } from '../engine/ledger/matching/contact-links.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import type { Kept, ScannedRecord } from '../scan/scan.ts';
import type { Account } from '../worker/accounts.ts';
import { withoutId } from '../worker/without-id.ts';
import { hashOf } from './mapping.ts';
import type { ContactSightings } from './sightings.ts';

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
  readonly sightings: ContactSightings;
  readonly pass: number;
  /** The place of the first contact of the window in the run's order. */
  readonly first: number;
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
  { sightings, pass, first }: Staging,
): Promise<Staged> {
  const fresh: { readonly contact: ScannedContact; readonly n: number }[] = [];
  const otherwise: { readonly id: string; readonly place: number }[] = [];
  let newInPass = 0;
  for (const [i, contact] of contacts.entries()) {
    const n = first + i + 1;
    const { lastPass, otherwiseAt } = sightings.contacts.note(contact.id, pass, contact.hash, n);
    if (otherwiseAt !== undefined) otherwise.push({ id: contact.id, place: otherwiseAt });
    if (lastPass !== pass) newInPass++;
    if (lastPass === undefined) fresh.push({ contact, n });
  }
  const found = await linksOf(
    db,
    run,
    fresh.map(({ contact }) => contact.id),
  );
  const links = new Map(found.map((link) => [link.contact, link]));
  const inputs = fresh.filter(({ contact, n }) => {
    const link = links.get(contact.id);
    sightings.lastN = n;
    if (link?.known && link.hash === contact.hash) sightings.noteUnchanged(contact, link.customer, link.known);
    else sightings.noteRow(contact, link);
    return !(link?.known && link.hash === contact.hash);
  });
  await keepContacts(db, run, inputs);
  return { newInPass, newInAll: fresh.length, otherwise };
}
