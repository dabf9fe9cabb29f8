/**
 * Contacts that were edited between the scan and their import. The service imports the edited contact, so the customer has
 * other keys than the row. Before such a row counts as missing and is sent again, its contact is read.
 */
import { recordIn } from '../../client/call/decode.ts';
import { toWireId } from '../../client/call/dialect.ts';
import { RunFailed } from '../../engine/account/failure.ts';
import { readCall, readsOf } from '../../engine/account/reads.ts';
import { missingImports } from '../../engine/ledger/matching/missing-imports.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import { type ScannedContact, toScannedContact } from './staging.ts';

/** If more rows than this have no customer, edits are not the cause: the list lacks the customers. */
const MOST = 100;

/** Contacts of missing rows that were edited, as they are now. @throws Stop */
export async function readEdited(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  pass: number,
): Promise<readonly ScannedContact[]> {
  const { run, account } = context;
  if (run.type !== 'contacts') return [];
  const missing = await exclusive.transaction((db) =>
    missingImports(db, run, { pass, settleMs: account.settleMs }, MOST + 1),
  );
  if (missing.length > MOST) return [];
  const edited: ScannedContact[] = [];
  for (const { id, hash } of missing) {
    const contact = await contactNow(context, id);
    if (contact !== undefined && contact.hash !== hash) edited.push(contact);
  }
  return edited;
}

/** Undefined if the service has no such contact any more, or cannot read a single contact. */
async function contactNow(context: JobContext<unknown>, id: string): Promise<ScannedContact | undefined> {
  const { account } = context;
  try {
    const { content } = await readCall(account, 'contacts.get', {
      ...readsOf(context),
      query: { contact_id: toWireId(id) },
    });
    const record = recordIn(content, account.dialect, 'contacts');
    const contact = record === undefined ? undefined : toScannedContact(record, account);
    return contact?.id === id ? contact : undefined;
  } catch (error) {
    if (error instanceof RunFailed) return undefined;
    throw error;
  }
}
