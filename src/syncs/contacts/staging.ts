/** Stages scanned contacts that are new or have changed as inputs of the run; of the others it keeps hashes. */
import type { Cause } from '../../base/reasons/reason.ts';
import { idOf, isJsonObject } from '../../client/call/dialect.ts';
import type { Json } from '../../client/call/json.ts';
import type { Kept, ScannedRecord } from '../../client/lists/pass.ts';
import type { CustomerFields } from '../../contract/records.ts';
import type { Account } from '../../engine/account/account.ts';
import { withoutId } from '../../engine/account/list-reader.ts';
import { isMarkedDeleted } from '../../engine/account/look-up.ts';
import { keepContacts } from '../../engine/ledger/matching/contact-inputs.ts';
import { linksOf } from '../../engine/ledger/matching/contact-links.ts';
import type { Run } from '../../engine/ledger/runs.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { type Keys, keysOf, labelOf, maskedIn } from '../customers/keys.ts';
import { fieldsHash, UNMAPPED } from './mapping.ts';
import type { ContactSightings } from './sightings.ts';

export interface ScannedContact extends ScannedRecord, Keys {
  readonly label: string;
  readonly hash: string;
  readonly fields: CustomerFields;
  /** Why the mapping cannot make a customer of it; empty if it can. */
  readonly failures: readonly Cause[];
  /** False if the filter of the sync leaves it out. */
  readonly isSelected: boolean;
  /** It says so of itself: some services list contacts that people have deleted. */
  readonly isDeleted: boolean;
}

/** @throws RunFailed RECORD_WITHOUT_ID: a contact without an id cannot be tracked. */
export function toScannedContact(record: Json, account: Account, mapping = UNMAPPED): ScannedContact {
  const id = idOf(record, 'contacts', account.dialect);
  if (id === undefined || !isJsonObject(record)) throw withoutId('contacts', record, account);
  const { fields, failures: ofMapping } = mapping.map(record);
  const masked = maskedIn(fields);
  const failures =
    masked === undefined ? ofMapping : [{ code: 'MASKED', facts: { value: masked } } as const, ...ofMapping];
  const state = { isSelected: mapping.selects(record), isDeleted: isMarkedDeleted(record, 'contacts') };
  return { id, label: labelOf(fields), hash: fieldsHash(fields), fields, failures, ...state, ...keysOf(fields) };
}

export interface Staging {
  readonly sightings: ContactSightings;
  readonly pass: number;
  /** The ordinal of the window's first contact in the run. */
  readonly first: number;
}

export interface Staged extends Omit<Kept, 'otherwise'> {
  /** Contacts that were seen with other content in this pass, with their ordinals. */
  readonly otherwise: readonly { readonly id: string; readonly n: number }[];
}

/** Stages a window of contacts for a pass of the scan: the contacts that no earlier window has shown. */
export async function stageContacts(
  db: Queryable,
  run: Run,
  contacts: readonly ScannedContact[],
  { sightings, pass, first }: Staging,
): Promise<Staged> {
  const fresh: { readonly contact: ScannedContact; readonly n: number }[] = [];
  const otherwise: { readonly id: string; readonly n: number }[] = [];
  let newInPass = 0;
  for (const [i, contact] of contacts.entries()) {
    const n = first + i + 1;
    const { lastPass, otherwiseAt } = sightings.contacts.note(contact.id, pass, contact.hash, n);
    if (otherwiseAt !== undefined) otherwise.push({ id: contact.id, n: otherwiseAt });
    if (lastPass !== pass) newInPass++;
    if (lastPass === undefined) fresh.push({ contact, n });
  }
  const found = await linksOf(
    db,
    run,
    fresh.map(({ contact }) => contact.id),
  );
  sightings.linked += found.length;
  const links = new Map(found.map((link) => [link.contact, link]));
  const inputs = fresh.filter(({ contact, n }) => {
    const link = links.get(contact.id);
    sightings.lastN = n;
    if (contact.isDeleted || !contact.isSelected) {
      sightings.noteLeftOut(contact, link !== undefined);
      return false;
    }
    if (link?.known && link.hash === contact.hash && contact.failures.length === 0) {
      sightings.noteUnchanged(contact, link.customer, link.known);
      return false;
    }
    sightings.noteRow(contact, link);
    return true;
  });
  await keepContacts(db, run, inputs);
  return { newInPass, newInAll: fresh.length, otherwise };
}
