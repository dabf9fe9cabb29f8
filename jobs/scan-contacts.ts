/**
 * Reads all contacts, then all customers, and decides about each contact before anything is written: unchanged, existing,
 * to import, to update, or to review by hand. Unchanged contacts are only counted.
 */
import { formatCount } from '../src/base/counts.ts';
import { fittingScan } from '../src/client/lists/fitting-scan.ts';
import { pageQuery } from '../src/client/lists/scan.ts';
import { EMBEDDED } from '../src/engine/account/account.ts';
import { RetryLater, RunPaused } from '../src/engine/account/failure.ts';
import { waysOn } from '../src/engine/account/identity.ts';
import { listReader } from '../src/engine/account/list-reader.ts';
import { Witnessing } from '../src/engine/account/witnessing.ts';
import { unsettledForMs } from '../src/engine/ledger/baseline-wait.ts';
import { keepBaseline } from '../src/engine/ledger/baselines.ts';
import { chosenCustomers } from '../src/engine/ledger/decisions.ts';
import { startOfRead } from '../src/engine/ledger/match-index.ts';
import type { LinksDisagree } from '../src/engine/ledger/matching/check-links.ts';
import { noteGone } from '../src/engine/ledger/matching/contact-notes.ts';
import { decideContacts } from '../src/engine/ledger/matching/decide-contacts.ts';
import { planFirst } from '../src/engine/ledger/matching/first-created.ts';
import { planTrial } from '../src/engine/ledger/matching/import-trial.ts';
import { oweForEarlierCustomers } from '../src/engine/ledger/matching/matching-keys.ts';
import { recallContacts } from '../src/engine/ledger/matching/recall-contacts.ts';
import { countNotNeeded, keepShown, leaveOutUnshown } from '../src/engine/ledger/matching/shown-writes.ts';
import { createdForContacts, unlistedCustomers } from '../src/engine/ledger/matching/unlisted-records.ts';
import { forgetAllRows } from '../src/engine/ledger/retention/forget.ts';
import { countRows, openRows } from '../src/engine/ledger/rows.ts';
import { endRun, pauseRun, supersedeRuns } from '../src/engine/ledger/run-status.ts';
import {
  AWAITS_CONFIRMATION,
  addNote,
  movePhase,
  type Run,
  readRun,
  recordLeftOut,
  recordProgress,
} from '../src/engine/ledger/runs.ts';
import { type Exclusive, exclusively } from '../src/engine/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/engine/worker/job.ts';
import type { Queryable } from '../src/storage/queryable.ts';
import type { Transactional } from '../src/storage/transaction.ts';
import { type ContactMapping, mappingOf } from '../src/syncs/contacts/mapping.ts';
import { type ContactsOptions, contactsRunOptions, createsCustomers } from '../src/syncs/contacts/options.ts';
import { ContactSightings } from '../src/syncs/contacts/sightings.ts';
import { type ScannedContact, stageContacts, toScannedContact } from '../src/syncs/contacts/staging.ts';
import { UnreadNames } from '../src/syncs/contacts/unread-names.ts';
import { Baseline } from '../src/syncs/customers/baseline.ts';
import { readCustomers, readUnlisted } from '../src/syncs/customers/read-customers.ts';
import { UnreadMails } from '../src/syncs/customers/unread-mails.ts';
import { exceeds, exceedsMessage } from '../src/syncs/guards.ts';
import { BASELINE, noteDeleted } from '../src/syncs/read-list.ts';

type Context = JobContext<ContactsOptions>;

export const scanContacts = defineJob({
  name: 'scan-contacts',
  options: contactsRunOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, (exclusive) => readAndDecide(context, exclusive)),
});

async function readAndDecide(context: Context, exclusive: Exclusive): Promise<JobResult> {
  const { pool, run, account, options } = context;
  // A dry run writes nothing, so it waits for no other run: it reports what would be written now.
  const waitMs = run.dryRun ? 0 : await unsettledForMs(pool, run, account.settleMs);
  if (waitMs > 0) {
    await addNote(pool, run.id, 'waited for unsettled rows of an earlier run');
    return { status: 'again', inMs: waitMs };
  }
  // An interrupted read has decided nothing and sent nothing, so it starts again.
  await exclusive.transaction((db) => forgetAllRows(db, run.id));
  const mapping = mappingOf(options);
  const sightings = await scanAll(context, exclusive, mapping);
  if (options.where !== undefined) await recordLeftOut(pool, run.id, sightings.leftOut);
  for (const customer of (await chosenCustomers(pool, run.scope)).keys()) sightings.noteChosen(customer);
  for (const customer of await createdForContacts(pool, run)) sightings.noteChosen(customer);
  const baseline = new Baseline();
  const { isWhole } = await readCustomers(
    { ...context, run: await readRun(pool, run.id) },
    exclusive,
    BASELINE,
    (customer) => {
      baseline.add(customer.recordId);
      return sightings.wants(customer);
    },
  );
  const unlisted = await unlistedCustomers(pool, run, sightings);
  await readUnlisted(context, exclusive, unlisted, (customer) => sightings.wants(customer));
  const action = createsCustomers(options) ? 'create' : 'import';
  const { matchBy, onChange } = options;
  const decided = await exclusive.transaction(async (db) => {
    if (!(await startOfRead(db, run.id, { kind: 'customer', pass: BASELINE })))
      return { status: 'again', inMs: 0 } as const;
    const gone = await noteGone(db, run, sightings);
    if (gone !== undefined) await addNote(db, run.id, gone);
    const unchanged = await recallContacts(db, run, sightings);
    const how = { matchBy, onChange, action, isWhole, unchanged, mappedFields: mapping.written } as const;
    const links = await decideContacts(db, run, how);
    if (links.status !== 'decided') return links;
    if (!run.dryRun) await oweForEarlierCustomers(db, run, account.settleMs);
    return continueRun(db, context, baseline);
  });
  if (decided.status === 'links disagree') throw otherCustomers(run, decided);
  return decided;
}

/** Runs in the transaction of the decision: a later read would delete rows that have been sent since. */
async function continueRun(
  db: Transactional,
  { run, options, account }: Context,
  baseline: Baseline,
): Promise<JobResult> {
  if (options.savePlan) await keepShown(db, run);
  if (!run.dryRun) await supersedeRuns(db, run);
  if (run.isBound) await writeOnlyShown(db, run);
  const { ready: writes } = await openRows(db, run.id);
  if (writes === 0) {
    await endRun(db, run.id, 'done');
    return { status: 'finished' };
  }
  const extent = { writes, of: (await countRows(db, run.id)).in };
  if (!run.isBound && exceeds(options, extent)) {
    await keepShown(db, run);
    await pauseRun(db, run.id, { code: AWAITS_CONFIRMATION, message: exceedsMessage('contacts', options, extent) });
    return { status: 'paused' };
  }
  await keepBaseline(db, run.id, baseline.hashes());
  await planFirst(db, run, 'customers');
  if (options.importWith === 'auto' && !createsCustomers(options) && account.service !== EMBEDDED)
    await planTrial(db, run);
  await movePhase(db, run.id, 'scan-contacts', 'import-customers');
  return { status: 'next', job: 'import-customers' };
}

/** A bound run; a contact that needs no write has no row, so a note accounts for it. */
async function writeOnlyShown(db: Queryable, run: Run): Promise<void> {
  const { shown, left } = await countNotNeeded(db, run);
  if (left > 0) {
    const share = `${formatCount(left)} of ${formatCount(shown)}`;
    await addNote(db, run.id, `${share} planned contacts did not need a write any more, or were gone`);
  }
  await leaveOutUnshown(db, run);
}

async function scanAll(context: Context, exclusive: Exclusive, mapping: ContactMapping): Promise<ContactSightings> {
  const { pool, run, account, options } = context;
  const witnesses = await Witnessing.open(context, 'contacts');
  let rowsBefore = 0;
  const sightings = new ContactSightings(options.matchBy);
  const firsts: number[] = []; // the row number before the first contact of each call to `keep`
  const keptIn = (n: number) => firsts.findLastIndex((first) => first < n);
  const readList = listReader(context, 'contacts');
  const mails = new UnreadMails(account, 'contacts');
  const names = new UnreadNames(account);
  const report = await fittingScan<ScannedContact>({
    rowsPerPage: options.rowsPerPage,
    hasFailed: (error) => error instanceof RetryLater && error.isFailure,
    read: async (...asked) => {
      const { records: list, beside } = await readList({ query: pageQuery(account.dialect, ...asked) });
      const contacts = list.map((contact) => toScannedContact(contact, account, mapping));
      mails.note(contacts, list);
      names.note(list);
      for (const [i, { id }] of contacts.entries()) witnesses.note(id, list[i] ?? null);
      return { records: contacts, beside };
    },
    keep: async (contacts, pass) => {
      const first = rowsBefore;
      rowsBefore += contacts.length;
      firsts.push(first);
      const kept = await exclusive.transaction(async (db) => {
        const staged = await stageContacts(db, run, contacts, { sightings, pass, first });
        await recordProgress(db, run.id, { rowsSeen: staged.newInAll });
        return staged;
      });
      const otherwise = kept.otherwise.map(({ id, n }) => ({ id, keptIn: keptIn(n) }));
      return { ...kept, otherwise };
    },
  });
  mails.check();
  names.check();
  const isWhole = await witnesses.judge(report.proof !== 'unproven');
  await recordProgress(pool, run.id, { scan: isWhole ? report.proof : 'unproven' });
  await noteDeleted(context, 'contacts', sightings.deleted);
  for (const reason of report.reasons)
    await addNote(pool, run.id, `the scan of contacts is ${report.proof}: ${reason}`);
  return sightings;
}

function otherCustomers({ account, id }: Run, { others, all, example }: LinksDisagree): RunPaused {
  const words = (known: readonly string[]) => known.join(', ') || 'without name';
  const changed = `customer ${example.customer} was ${words(example.was)} and is ${words(example.is)}`;
  return new RunPaused(
    'IDENTITY_UNCLEAR',
    `${others} of ${all} linked customers of account "${account}" are now different people: ${changed}. ` +
      `It may be another tenant, or a service that was restored from a backup. Nothing was written. ${waysOn(account)} ` +
      `Then resume with: \`lockstep runs resume ${id}\``,
  );
}
