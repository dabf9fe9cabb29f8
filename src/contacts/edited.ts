/**
 * Contacts that were edited between the scan and their import: the service imports what they say by then, so that the
 * customer carries other keys than the row. Before such a row is taken for missing and sent again, its contact is read.
 */
import { recordIn } from '../client/decode.ts';
import { toWireId } from '../client/dialect.ts';
import { recordProgress } from '../engine/ledger/runs.ts';
import type { Exclusive } from '../worker/exclusive.ts';
import type { JobContext } from '../worker/job.ts';
import { readCall } from '../worker/reads.ts';
import { RunFailed } from '../worker/trouble.ts';
import { type ScannedContact, toScannedContact } from './staging.ts';

/** More rows without a customer than this come of no edits: then the list lacks them. */
const MOST = 100;

export interface ReadBack {
  readonly pass: number;
  readonly readAt: Date;
  readonly settleMs: number;
}

/** Gives rows whose contact was edited the contact's keys of now. @throws Stop */
export async function takeEdits(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  { pass, readAt, settleMs }: ReadBack,
): Promise<void> {
  const { pool, run } = context;
  if (run.job !== 'contacts') return;
  const missing = await pool.query<{ id: string; hash: string }>(
    `with strangers as materialized (
       select * from ledger.records k where k.run_id = $1 and k.first_pass > 0 and k.last_pass = $2 and k.taken_by is null
         and not exists (select from ledger.rows o where o.run_id = $1 and (o.source_id = k.contact_id
           or (o.email = k.email and o.hash is not null) or (k.email is null and o.phone = k.phone)))
     )
     select s.source_id as id, s.hash from ledger.rows s
     where s.run_id = $1 and s.action = 'import' and s.state in ('acked', 'unknown')
       and s.since + $4 * interval '1 ms' <= $3 and exists (select from strangers)
       and not exists (select from ledger.records k where k.run_id = $1 and k.first_pass > 0 and k.last_pass = $2
         and (k.contact_id = s.source_id or k.email = s.email or k.phone = s.phone))
     order by s.n limit $5`,
    [run.id, pass, readAt, settleMs, MOST + 1],
  );
  if (missing.rows.length > MOST) return;
  for (const { id, hash } of missing.rows) {
    const contact = await contactNow(context, id);
    if (contact === undefined || contact.hash === hash) continue;
    await exclusive.transaction((db) =>
      db.query(
        `update ledger.rows set label = $3, hash = $4, email = $5, phone = $6, name = $7, org = $8, fields = $9
         where run_id = $1 and source_id = $2 and state in ('acked', 'unknown')`,
        [
          run.id,
          id,
          contact.label,
          contact.hash,
          contact.email,
          contact.phone,
          contact.name,
          contact.org,
          contact.fields,
        ],
      ),
    );
  }
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
