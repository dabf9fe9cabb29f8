/**
 * Reads the customers that are there and the contacts as they are, and decides about each contact before anything is
 * written: unchanged, existing, to import, to update, or for a person to review.
 */

import { listIn, whyNoRecords } from '../src/client/decode.ts';
import { type Json, type LongIds, longIdsOf } from '../src/client/dialect.ts';
import { pathTo, shapeOf } from '../src/client/shape.ts';
import { decideContacts } from '../src/contacts/decide.ts';
import { type ContactsOptions, contactsOptions } from '../src/contacts/options.ts';
import { type ScannedContact, stageContacts, toScannedContact } from '../src/contacts/staging.ts';
import { readCustomers } from '../src/customers/read-customers.ts';
import { unsettledForMs } from '../src/engine/ledger/horizon.ts';
import { oweForEarlierCustomers } from '../src/engine/ledger/matching/customer-levels.ts';
import { openRows } from '../src/engine/ledger/rows.ts';
import {
  addNote,
  endRun,
  forgetRows,
  movePhase,
  type Queryable,
  type Run,
  type RunProgress,
  recordProgress,
  supersedeRuns,
} from '../src/engine/ledger/runs.ts';
import { scan } from '../src/scan/scan.ts';
import { SeenIds } from '../src/scan/seen-ids.ts';
import type { Account } from '../src/worker/accounts.ts';
import { type Exclusive, exclusively } from '../src/worker/exclusive.ts';
import { defineJob, type JobContext, type JobResult } from '../src/worker/job.ts';
import { readCall } from '../src/worker/reads.ts';
import { checkShape } from '../src/worker/shapes.ts';
import { RunFailed } from '../src/worker/trouble.ts';
import { openWitnesses } from '../src/worker/witnessing.ts';

const BASELINE = 0;

type Context = JobContext<ContactsOptions>;

export const scanContacts = defineJob({
  name: 'scan-contacts',
  summary: 'reads customers and contacts, and decides about each contact',
  options: contactsOptions,
  waitsInPlace: true,
  run: (context) => exclusively(context, (exclusive) => readAndDecide(context, exclusive)),
});

async function readAndDecide(context: Context, exclusive: Exclusive): Promise<JobResult> {
  const { pool, run, account, options } = context;
  // A dry run writes nothing, so it waits for no other run: it says what would be written now.
  const waitMs = run.dryRun ? 0 : await unsettledForMs(pool, run, account.settleMs);
  if (waitMs > 0) {
    await addNote(pool, run.id, 'waited for what an earlier run left unsettled');
    return { status: 'again', inMs: waitMs };
  }
  await startAfresh(exclusive, run.id);
  const { isWhole } = await readCustomers(context, exclusive, BASELINE);
  await scanAll(context, exclusive);
  const action = options.importWith === 'create' ? 'create' : 'import';
  return exclusive.transaction(async (db) => {
    await decideContacts(db, run, { matchBy: options.matchBy, action, isWhole });
    if (!run.dryRun) await oweForEarlierCustomers(db, run, account.settleMs);
    return goOn(db, run);
  });
}

/** With the decision, not after it: a read that began anew would forget what has been sent since. */
async function goOn(db: Queryable, run: Run): Promise<JobResult> {
  if (!run.dryRun) await supersedeRuns(db, run);
  if ((await openRows(db, run.id)).ready === 0) {
    await endRun(db, run.id, 'done');
    return { status: 'finished' };
  }
  await movePhase(db, run.id, 'scan-contacts', 'import-customers');
  return { status: 'next', job: 'import-customers' };
}

/** A read that broke off has decided nothing and sent nothing: what it kept is dropped, and the read begins again. */
async function startAfresh(exclusive: Exclusive, runId: string): Promise<void> {
  await exclusive.transaction(async (db) => {
    await forgetRows(db, runId);
    await db.query('delete from ledger.records where run_id = $1', [runId]);
    await db.query('update ledger.runs set rows_seen = 0, rows_settled = 0 where id = $1', [runId]);
  });
}

async function scanAll(context: Context, exclusive: Exclusive): Promise<void> {
  const { pool, run, account, options, signal } = context;
  const witnesses = await openWitnesses(context, 'contacts');
  let place = 0;
  const seen = new SeenIds();
  const firsts: number[] = []; // the place before the first contact of each call to keep
  const keptIn = (n: number) => firsts.findLastIndex((first) => first < n);
  let isShapeKnown = false;
  let longIds: LongIds | undefined;
  const noteShape = async (list: readonly Json[], content: unknown) => {
    const areNew = longIds === undefined ? longIdsOf(list, 'contacts', account.dialect) : undefined;
    longIds ??= areNew;
    if ((isShapeKnown && areNew === undefined) || list.length === 0) return;
    isShapeKnown = true;
    const shape = shapeOf(pathTo(list, content) ?? [], list[0], 'contacts', account.dialect);
    await checkShape(context, 'contacts', { ...shape, ...(areNew && { longIds: areNew }) });
  };
  const report = await scan<ScannedContact>({
    rowsPerPage: options.rowsPerPage,
    read: async (page, size) => {
      const { pageParam, rowsPerPageParam } = account.dialect;
      const query = { [pageParam]: page, [rowsPerPageParam]: size };
      const onCalls = (made: RunProgress) => recordProgress(pool, run.id, made);
      const answer = await readCall(account, 'contacts.getall', { lane: run.lane, signal, query, onCalls });
      const list = listIn(answer.content, account.dialect, 'contacts', 'content');
      if (!list) throw noList(account, answer.content);
      await noteShape(list, answer.content);
      const contacts = list.map((contact) => toScannedContact(contact, account));
      for (const [i, { id }] of contacts.entries()) witnesses.note(id, list[i] ?? null);
      return contacts;
    },
    keep: async (contacts, pass) => {
      const first = place;
      place += contacts.length;
      firsts.push(first);
      const kept = await exclusive.transaction(async (db) => {
        const staged = await stageContacts(db, run, contacts, { seen, pass, first, onChange: options.onChange });
        await recordProgress(db, run.id, { rowsSeen: staged.newInAll });
        return staged;
      });
      const otherwise = kept.otherwise.map(({ id, place: n }) => ({ id, keptIn: keptIn(n) }));
      return { ...kept, otherwise };
    },
  });
  const isWhole = await witnesses.isWhole();
  await recordProgress(pool, run.id, { scan: isWhole ? report.proof : 'unproven' });
  for (const reason of report.reasons) await addNote(pool, run.id, `scan of contacts ${report.proof}: ${reason}`);
}

function noList({ name, dialect }: Account, content: unknown): RunFailed {
  const why = whyNoRecords(content, dialect, 'contacts');
  const idField = `Name the member that holds the id under accounts.${name}.dialect.idField.contacts, or, `;
  return new RunFailed(
    'SERVICE_UNREADABLE',
    `The service's answer to contacts.getall holds no list of contacts that Lockstep recognises${why ? `; ${why}` : ''}. ` +
      `${why ? `${idField}if these are not the contacts, where` : 'Name where'} the list stands under accounts.${name}.dialect.listPath.contacts.`,
  );
}
