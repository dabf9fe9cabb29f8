/** One read of all customers into the run's match index: the baseline before the first write, and every read-back. */
import { idOf, isJsonObject } from '../../client/call/dialect.ts';
import { type Json, LongInteger, storedForm } from '../../client/call/json.ts';
import type { Account } from '../../engine/account/account.ts';
import { withoutId } from '../../engine/account/list-reader.ts';
import { keepCustomers, type SeenCustomer } from '../../engine/ledger/match-index.ts';
import { SAME_CUSTOMER } from '../../engine/ledger/matching/matching-keys.ts';
import { addNote } from '../../engine/ledger/runs.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import { lookUpHidden } from '../read-back.ts';
import { BASELINE, type ListRead, openList } from '../read-list.ts';
import { customerFieldsOf, keysOf, maskedIn } from './keys.ts';
import { UnreadMails } from './unread-mails.ts';

/**
 * Reads the list once, to its end. `wants`: which customers to keep, and all where an audit is due; a customer may come more
 * than once. Default: all. @throws Stop
 */
export async function readCustomers(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  pass: number,
  wants: (customer: SeenCustomer) => boolean = () => true,
): Promise<ListRead> {
  const { pool, run, account } = context;
  const list = await openList(context, exclusive, 'customers', pass);
  const mails = new UnreadMails(account, 'customers');
  let seen = 0;
  let masked: string | undefined;
  let withMask = 0;
  return list.read({
    toSeen: (record) => toSeenCustomer(record, account),
    async take(batch, records) {
      mails.note(batch, records);
      seen += batch.length;
      const masks = batch.flatMap(({ fields }) => maskedIn(fields) ?? []);
      withMask += masks.length;
      masked ??= masks[0];
      const wanted = batch.filter(wants);
      const isWanted = new Set(wanted);
      const others = list.isAudit ? batch.filter((customer) => !isWanted.has(customer)) : [];
      const ids = [...wanted, ...others].map(({ recordId }) => recordId);
      if (ids.length === 0) return;
      await list.keep(async (db) => {
        await keepCustomers(db, run.id, pass, wanted);
        await keepCustomers(db, run.id, pass, others, { firstPass: BASELINE }); // not new to the run
      }, ids);
    },
    async check() {
      mails.check();
      if (masked === undefined || withMask * 5 <= seen) return true; // fewer may be addresses that only look like it
      await addNote(pool, run.id, maskedNote(masked));
      return false;
    },
    matches: SAME_CUSTOMER,
  });
}

/** Reads customers by their ids, as part of the baseline: the list does not show them, and may hide them. */
export async function readUnlisted(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  ids: readonly string[],
  wants: (customer: SeenCustomer) => boolean = () => true,
): Promise<void> {
  const { run, account } = context;
  const records = await lookUpHidden(context, 'customers', ids);
  const customers = records.map((record) => toSeenCustomer(record, account)).filter(wants);
  await exclusive.transaction((db) => keepCustomers(db, run.id, BASELINE, customers, { isListed: false }));
}

function maskedNote(masked: string): string {
  return `the list of customers shows e-mails or phones in part only, such as ${masked}, so it does not show which customers are missing`;
}

export function toSeenCustomer(record: Json, account: Account): SeenCustomer {
  const recordId = idOf(record, 'customers', account.dialect);
  if (recordId === undefined || !isJsonObject(record)) throw withoutId('customers', record, account);
  const fields = customerFieldsOf(record);
  const { contact_id, tenant_id } = record;
  return {
    recordId,
    contactId: isReference(contact_id) ? String(contact_id) : undefined,
    ...keysOf(fields),
    fields: { ...fields, ...(isReference(tenant_id) && { tenant_id: storedForm(tenant_id) }) },
  };
}

/** Ids begin at 1; services that know no null write 0 or nothing. */
function isReference(value: unknown): value is number | string | LongInteger {
  if (typeof value === 'number') return value !== 0;
  return value instanceof LongInteger || (typeof value === 'string' && !['', '0'].includes(value));
}
