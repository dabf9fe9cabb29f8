/**
 * Contacts that were edited between the scan and their import: the service imports what they say by then, so that the
 * customer carries other keys than the row. Before such a row is taken for missing and sent again, its contact is read.
 */
import { recordIn } from '../client/decode.ts';
import { toWireId } from '../client/dialect.ts';
import { missingImports, type ReadBack } from '../engine/ledger/matching/missing-imports.ts';
import { recordProgress } from '../engine/ledger/runs.ts';
import type { Exclusive } from '../worker/exclusive.ts';
import type { JobContext } from '../worker/job.ts';
import { readCall } from '../worker/reads.ts';
import { RunFailed } from '../worker/trouble.ts';
import { type ScannedContact, toScannedContact } from './staging.ts';

/** More rows without a customer than this come of no edits: then the list lacks them. */
const MOST = 100;

/** Contacts of missing rows that were edited, as they are now. @throws Stop */
export async function readEdited(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  read: ReadBack,
): Promise<readonly ScannedContact[]> {
  const { run } = context;
  if (run.job !== 'contacts') return [];
  const missing = await exclusive.transaction((db) => missingImports(db, run, read, MOST + 1));
  if (missing.length > MOST) return [];
  const edited: ScannedContact[] = [];
  for (const { id, hash } of missing) {
    const contact = await contactNow(context, id);
    if (contact !== undefined && contact.hash !== hash) edited.push(contact);
  }
  return edited;
}

/** Undefined where the service has no such contact any more, or does not show single ones. */
async function contactNow(context: JobContext<unknown>, id: string): Promise<ScannedContact | undefined> {
  const { pool, run, account, signal } = context;
  try {
    const { content } = await readCall(account, 'contacts.get', {
      lane: run.lane,
      signal,
      query: { contact_id: toWireId(id) },
      onCalls: (made) => recordProgress(pool, run.id, made),
    });
    const record = recordIn(content, account.dialect, 'contacts');
    const contact = record === undefined ? undefined : toScannedContact(record, account);
    return contact?.id === id ? contact : undefined;
  } catch (error) {
    if (error instanceof RunFailed) return undefined;
    throw error;
  }
}
