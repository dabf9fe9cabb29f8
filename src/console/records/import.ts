/** Imports one contact as a customer by hand, where there is no such customer and the next contact sync recognises it. */
import { z } from 'zod';
import { importBody } from '../../client/call/dialect.ts';
import type { Json, JsonObject } from '../../client/call/json.ts';
import type { Account } from '../../engine/account/account.ts';
import { linksOf } from '../../engine/ledger/matching/contact-links.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { type ListedPage, listWhere, readRecord } from './read.ts';
import { valueWords } from './record-words.ts';

export type Prepared =
  | { readonly status: 'ready'; readonly body: unknown }
  /** It must not be sent. */
  | { readonly status: 'not-sent'; readonly message: string };

export function hasKey(contact: JsonObject): boolean {
  return keysOf(contact.email, contact.phone).length > 0;
}

/** The body to send for a contact that is read live, if no customer is like it. */
export async function prepareImport(db: Queryable, account: Account, body: unknown): Promise<Prepared> {
  const contact = String(z.object({ contact_id: z.union([z.string(), z.number()]) }).parse(body).contact_id);
  const [link] = await linksOf(db, account, [contact]);
  if (link) return not(`contact ${contact} is already linked with customer ${link.customer}`);
  const read = await readRecord(account, 'contacts', contact);
  if (read.status === 'failed') return not(`contact ${contact} cannot be read. ${read.why}`);
  if (!hasKey(read.value))
    return not(
      `contact ${contact} has neither an e-mail address nor a phone number, so the next contact sync could not recognise its customer and would import it again`,
    );
  const { records, next, problem } = await customersLike(account, read.value);
  const [customer] = records;
  if (customer) return not(`customer ${customer.id} has the same e-mail address or phone number`);
  if (problem !== undefined || next !== undefined)
    return not(`the customers could not be read to the end, so one of them may be this contact. ${problem ?? ''}`);
  return { status: 'ready', body: importBody(account.dialect, contact, read.value) };
}

/** The customers with the e-mail address or the phone number of a contact. */
export function customersLike(account: Account, contact: JsonObject): Promise<ListedPage> {
  const wanted = new Set(keysOf(contact.email, contact.phone));
  return listWhere(account, 'customers', ({ email, phone_number }) =>
    keysOf(email, phone_number).some((key) => wanted.has(key)),
  );
}

function keysOf(email: Json | undefined, phone: Json | undefined): readonly string[] {
  const keys = [valueWords(email).trim().toLowerCase(), valueWords(phone).replaceAll(/\D/g, '')];
  return keys.filter((key) => key !== '');
}

function not(why: string): Prepared {
  return { status: 'not-sent', message: `Nothing was sent: ${why.trim().replace(/\.$/, '')}.` };
}
