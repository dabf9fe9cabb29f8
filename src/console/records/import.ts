/** Imports one contact as a customer by hand, where the next contact sync recognises the customer. */
import { z } from 'zod';
import { LockstepError } from '../../base/errors.ts';
import { importBody } from '../../client/call/dialect.ts';
import type { Json, JsonObject } from '../../client/call/json.ts';
import type { Account } from '../../engine/account/account.ts';
import { linksOf } from '../../engine/ledger/matching/contact-links.ts';
import type { Queryable } from '../../storage/queryable.ts';
import { readRecord } from './read.ts';
import { valueWords } from './words.ts';

/** Members by which a sync recognises the customer of a contact. */
const KEYS = ['email', 'phone'] as const;

export function hasKey(contact: JsonObject): boolean {
  return KEYS.some((name) => valueWords(contact[name]).trim() !== '');
}

/**
 * What is sent to import a contact: read live, and put into the template of the dialect.
 * @throws LockstepError CONTACT_IMPORTED, CONTACT_UNREAD, CONTACT_WITHOUT_KEY
 */
export async function importOf(db: Queryable, account: Account, body: unknown): Promise<Json> {
  const contact = String(z.object({ contact_id: z.union([z.string(), z.number()]) }).parse(body).contact_id);
  const [link] = await linksOf(db, account, [contact]);
  if (link) {
    const message = `Contact ${contact} is linked with customer ${link.customer} already. Nothing was sent`;
    throw new LockstepError('CONTACT_IMPORTED', message);
  }
  const read = await readRecord(account, 'contacts', contact);
  if (read.status === 'failed')
    throw new LockstepError('CONTACT_UNREAD', `Contact ${contact} cannot be read, so nothing was sent. ${read.why}`);
  if (!hasKey(read.value)) {
    const message = `Contact ${contact} has neither an e-mail address nor a phone number. Nothing was sent: the next contact sync could not recognise its customer, and would import it again. Add one of them, or let a sync import it`;
    throw new LockstepError('CONTACT_WITHOUT_KEY', message);
  }
  return importBody(account.dialect, contact, read.value);
}
