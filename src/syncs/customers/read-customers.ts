/** One read of all customers into the run's match index: the baseline before the first write, and every read-back. */
import { boundedPipeline } from '../../base/bounded-pipeline.ts';
import { idOf, isJsonObject } from '../../client/call/dialect.ts';
import { type Json, LongInteger, storedForm } from '../../client/call/json.ts';
import type { ScanReport } from '../../client/lists/scan.ts';
import type { Kind, WholeKind } from '../../contract/kinds.ts';
import type { Account } from '../../engine/account/account.ts';
import { payAudits } from '../../engine/account/audits.ts';
import { isCutOff } from '../../engine/account/cut-off-lists.ts';
import { withoutId } from '../../engine/account/list-reader.ts';
import { checkShape } from '../../engine/account/list-shapes.ts';
import { isMarkedDeleted } from '../../engine/account/look-up.ts';
import { readsOf } from '../../engine/account/reads.ts';
import { readWholeList } from '../../engine/account/whole-list.ts';
import { openWitnesses } from '../../engine/account/witnessing.ts';
import { areAuditsDue } from '../../engine/ledger/audit-debts.ts';
import { keepCustomers, type SeenCustomer } from '../../engine/ledger/match-index.ts';
import { SAME_CUSTOMER } from '../../engine/ledger/matching/matching-keys.ts';
import { addNote } from '../../engine/ledger/runs.ts';
import type { Exclusive } from '../../engine/worker/exclusive.ts';
import type { JobContext } from '../../engine/worker/job.ts';
import { beginReading, lookUpHidden } from '../read-back.ts';
import { customerFieldsOf, keysOf, maskedIn } from './keys.ts';
import { UnreadMails } from './unread-mails.ts';

/** The pass before the first write of a run. */
export const BASELINE = 0;

export interface CustomersRead {
  /** The list proves absence: its pages are proven, and it shows its witnesses. */
  readonly isWhole: boolean;
}

/**
 * Reads the list once, to its end. `wants`: which customers to keep, and all where an audit is due; a customer may come more
 * than once. Default: all. @throws Stop
 */
export async function readCustomers(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  pass: number,
  wants: (customer: SeenCustomer) => boolean = () => true,
): Promise<CustomersRead> {
  const { pool, run, account } = context;
  const reading = { kind: 'customer', pass } as const;
  await beginReading(context, exclusive, reading);
  const isAudit = await areAuditsDue(pool, run, reading);
  const keeping = boundedPipeline();
  const witnesses = await openWitnesses(context, 'customers');
  const mails = new UnreadMails(account, 'customers');
  let seen = 0;
  let masked: string | undefined;
  let withMask = 0;
  let deleted = 0;
  const read = await readWholeList(account, 'customers.getall', {
    ...readsOf(context),
    awaitMore: witnesses.awaitMore,
    onRecords: async (answered) => {
      const batch = answered.filter((record) => !isMarkedDeleted(record, 'customers'));
      deleted += answered.length - batch.length;
      const records = batch.map((record) => toSeenCustomer(record, account));
      for (const [i, { recordId }] of records.entries()) witnesses.note(recordId, batch[i] ?? null);
      mails.note(records, batch);
      seen += records.length;
      const masks = records.flatMap(({ fields }) => maskedIn(fields) ?? []);
      withMask += masks.length;
      masked ??= masks[0];
      const wanted = records.filter(wants);
      const isWanted = new Set(wanted);
      const others = isAudit ? records.filter((customer) => !isWanted.has(customer)) : [];
      const ids = [...wanted, ...others].map(({ recordId }) => recordId);
      if (ids.length === 0) return;
      const keep = () =>
        exclusive.transaction(async (db) => {
          await keepCustomers(db, run.id, pass, wanted);
          await keepCustomers(db, run.id, pass, others, { firstPass: BASELINE }); // not new to the run
        });
      await keeping.begin(keep, ids);
    },
  });
  await keeping.end();
  mails.check();
  if (read.shape) await checkShape(context, 'customers', read.shape);
  if (read.scan) await noteScan(context, 'customers', read.scan);
  await noteDeleted(context, 'customers', deleted);
  const telling = withMask * 5 > seen ? masked : undefined; // fewer may be addresses that only look like it
  if (telling !== undefined) await addNote(pool, run.id, maskedNote(telling));
  const isProven = (read.scan === undefined || read.scan.proof !== 'unproven') && telling === undefined;
  const isPart = await isCutOff(context, 'customers', read);
  const hasWitnesses = await witnesses.judge(isProven);
  const isWhole = isProven && hasWitnesses && !isPart;
  await payAudits(context, exclusive, { ...reading, isComplete: isWhole, matches: SAME_CUSTOMER });
  return { isWhole };
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

/** Records that say that they are deleted are left out of a list: nothing belongs to them, and nothing is made of them. */
export async function noteDeleted({ pool, run }: JobContext<unknown>, kind: Kind, deleted: number): Promise<void> {
  if (deleted > 0)
    await addNote(pool, run.id, `the list of ${kind} has records that are marked as deleted: they were left out`);
}

function maskedNote(masked: string): string {
  return `the list of customers shows e-mails or phones in part only, such as ${masked}, so it does not show which customers are missing`;
}

export async function noteScan(
  { pool, run }: JobContext<unknown>,
  kind: WholeKind,
  { proof, reasons }: ScanReport,
): Promise<void> {
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  await addNote(pool, run.id, `the list of ${kind} came in pages, and its scan is ${proof}${why}`);
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
