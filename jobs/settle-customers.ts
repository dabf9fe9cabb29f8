/**
 * Reads the customers back and settles every row that was sent: a row whose customer exists gets its id and its link; the
 * others are sent again after the time a customer may take to appear.
 */
import { readBaseline } from '../src/engine/ledger/baselines.ts';
import { keepCustomers, nextPass, type SeenCustomer } from '../src/engine/ledger/match-index.ts';
import { linkUpdated } from '../src/engine/ledger/matching/contact-links.ts';
import { planOthers, planStaged } from '../src/engine/ledger/matching/first-created.ts';
import { isTrialRefused, learnImported, stopIfIdle } from '../src/engine/ledger/matching/import-trial.ts';
import { reviewIncomplete } from '../src/engine/ledger/matching/incomplete-customers.ts';
import { settleContacts } from '../src/engine/ledger/matching/settle-contacts.ts';
import { openUpdates } from '../src/engine/ledger/matching/updated-customers.ts';
import { openRows } from '../src/engine/ledger/rows.ts';
import { endRun } from '../src/engine/ledger/run-status.ts';
import { type Exclusive, exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/engine/worker/job.ts';
import { type ContactsOptions, contactsRunOptions, createsCustomers } from '../src/syncs/contacts/options.ts';
import { readEdited } from '../src/syncs/contacts/read-edited.ts';
import { readUpdated } from '../src/syncs/contacts/read-updated.ts';
import { Baseline } from '../src/syncs/customers/baseline.ts';
import { readCustomers, toSeenCustomer } from '../src/syncs/customers/read-customers.ts';
import { settleReadBack } from '../src/syncs/read-back.ts';

const IMPORT: JobResult = { status: 'next', job: 'import-customers' };

export const settleCustomers = defineJob({
  name: 'settle-customers',
  options: contactsRunOptions,
  waitsInPlace: true,
  run: (context) =>
    exclusively(context, async (exclusive) => {
      const { pool, run } = context;
      const open = await openRows(pool, run.id);
      const sent = open.acked + open.unknown;
      if (open.ready + open.intent > 0 && sent === 0) return IMPORT;
      const next = sent + open.staged > 0 ? await settle(context, exclusive, open.staged > 0) : undefined;
      if (next) return next;
      await exclusive.transaction(async (db) => {
        await linkUpdated(db, run);
        await learnImported(db, run);
        await reviewIncomplete(db, run);
        await endRun(db, run.id, 'done');
      });
      return { status: 'finished' };
    }),
});

/** Undefined: every row is settled. `hasStaged`: customers wait until the first one that was created is found. */
async function settle(
  context: JobContext<ContactsOptions>,
  exclusive: Exclusive,
  hasStaged: boolean,
): Promise<JobResult | undefined> {
  const { pool, run, account, options } = context;
  const action = run.type === 'contacts' && !createsCustomers(options) ? 'import' : 'create';
  if (hasStaged && (await isTrialRefused(pool, run))) {
    await exclusive.transaction((db) => planStaged(db, run.id, action));
    return IMPORT;
  }
  const pass = await nextPass(pool, run.id);
  const before = await readBaseline(pool, run.id);
  const baseline = before && Baseline.of(before);
  const updates = await openUpdates(pool, run.id);
  const mayReadById = !hasStaged && !updates.isAnyOther;
  const isRead = mayReadById && (await readUpdated(context, exclusive, pass, updates.ids));
  const updated = new Set(updates.ids);
  const wants = ({ recordId }: SeenCustomer) => !baseline?.has(recordId) || updated.has(recordId);
  const isWhole = !isRead && (await readCustomers(context, exclusive, pass, wants)).isWhole;
  const edited = isWhole ? await readEdited(context, exclusive, pass) : [];
  const next = await settleReadBack(context, exclusive, {
    kind: 'customers',
    sender: 'import-customers',
    pass,
    isWhole,
    baseline,
    settle: (db, read) =>
      settleContacts(db, run, { ...read, matchBy: options.matchBy, settleMs: account.settleMs, edited }),
    keep: (db, records) => {
      const customers = records.map((record) => toSeenCustomer(record, account));
      return keepCustomers(db, run.id, pass, customers, { isListed: false });
    },
  });
  if (next || !hasStaged) return next;
  const isAnyPlanned = await exclusive.transaction(async (db) => {
    if (isWhole) await stopIfIdle(db, run);
    return planOthers(db, run, { action, isWhole });
  });
  return isAnyPlanned ? IMPORT : undefined;
}
