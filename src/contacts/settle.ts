/**
 * Settles what was sent, from one read of the customers: which rows are there, under which id, and which are not.
 * Customers that the baseline saw are none of this run's; of the others each is given to one row, by what it says of
 * itself, strongest evidence first.
 */

import { levelsFor, type MatchKey, SAME_PERSON } from '../engine/ledger/matching/customer-levels.ts';
import { prepareSetWork } from '../engine/ledger/records.ts';
import { MAX_SENDS } from '../engine/ledger/rows.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import {
  decideMissing,
  gatherSent,
  LACKS_MUCH,
  rejectRefused,
  repeatUpdates,
  type Settled,
  whatIsOpen,
} from '../engine/ledger/settling.ts';
import { KNOWN } from './check-links.ts';
import { reportDuplicates } from './duplicates.ts';
import { settleRefusedImports } from './import-mode.ts';
import { CONTACT_LINK } from './staging.ts';

export interface SettleOptions {
  readonly matchBy: readonly MatchKey[];
  /** The pass of the read, as kept with the records. */
  readonly pass: number;
  /** When the read began, on the database's clock. */
  readonly readAt: Date;
  /** What the list does not show is not there. */
  readonly isWhole: boolean;
  /** How long the service may take to commit or show a request (assumptions A1 and A2). */
  readonly settleMs: number;
}

/** Settles; to be run in one transaction, safe to repeat with the same or a later read. */
export async function settleContacts(db: Queryable, run: Run, options: SettleOptions): Promise<Settled> {
  await prepareSetWork(db, run.id);
  await gatherSent(db, run.id);
  await repeatUpdates(db, run.id);
  await takeByContactId(db, run, options.pass);
  await takeInOrder(db, run, options.pass, SAME_PERSON, 'certain');
  for (const { agrees } of levelsFor(options.matchBy)) await takeInOrder(db, run, options.pass, agrees, 'by-count');
  await takeInOrder(db, run, options.pass, SAME_NAME, 'by-count');
  await reportDuplicates(db, run, { free: FREE, pass: options.pass });
  await keepLinks(db, run);
  if (options.isWhole) {
    await settleRefusedImports(db, run);
    await rejectRefused(db, run.id);
  }
  await judgeMissing(db, run, options);
  return whatIsOpen(db, run.id, options.settleMs);
}

const FREE = `k.run_id = $1 and k.first_pass > 0 and k.last_pass = $2 and k.taken_by is null`;
const SENT = `s.run_id = $1 and s.state in ('acked', 'unknown') and s.action in ('import', 'create')`;

/** A service may write a phone or an organization in another form; a customer new since the baseline still has its name. */
const SAME_NAME = 's.name = k.name and (s.email is null or k.email is null)';

/** The service says itself which contact a customer came from: nothing is surer. */
async function takeByContactId(db: Queryable, run: Run, pass: number): Promise<void> {
  await db.query(
    `with found as (
       select distinct on (s.source_id) s.source_id, k.record_id
       from ledger.rows s join ledger.records k on k.contact_id = s.source_id and ${FREE} where ${SENT}
       order by s.source_id, length(k.record_id), k.record_id
     ), taken as (
       update ledger.records k set taken_by = found.source_id from found
       where k.run_id = $1 and k.record_id = found.record_id
     )
     update ledger.rows s set state = 'settled', verdict = 'created', reason = null, detail = null, record_id = found.record_id
     from found where s.run_id = $1 and s.source_id = found.source_id`,
    [run.id, pass],
  );
}

/**
 * Gives free records to rows that agree with them, the n-th to the n-th, acknowledged rows first. Where several stand
 * against several, the count is right but who is who is not known (`by-count`): such rows are created but not linked.
 */
async function takeInOrder(
  db: Queryable,
  run: Run,
  pass: number,
  agrees: string,
  evidence: 'certain' | 'by-count',
): Promise<void> {
  // Once more while it gives: where agreement is no equivalence, two groups may have wanted the same record.
  for (let given = 1; given > 0; ) given = await takeOnce(db, run, pass, agrees, evidence);
}

async function takeOnce(
  db: Queryable,
  run: Run,
  pass: number,
  agrees: string,
  evidence: 'certain' | 'by-count',
): Promise<number> {
  const settled = await db.query(
    `with pairs as (
       select s.source_id, k.record_id, s.state, s.n,
         count(*) over (partition by s.source_id) as customers, count(*) over (partition by k.record_id) as contacts,
         min(k.record_id) over (partition by s.source_id) as shared_by
       from ledger.rows s join ledger.records k on ${agrees} and ${FREE} and k.contact_id is null where ${SENT}
     ), contacts as (
       select source_id, shared_by, bool_and(customers = 1 and contacts = 1) as alone,
         row_number() over (partition by shared_by order by state, n) as place
       from pairs group by source_id, shared_by, state, n
     ), customers as (
       select record_id, shared_by,
         row_number() over (partition by shared_by order by length(record_id), record_id) as place
       from (select distinct record_id, shared_by from pairs) p
     ), given as (
       select distinct on (record_id) * from (
         select distinct on (c.source_id) c.source_id, r.record_id, c.alone
         from contacts c join customers r using (shared_by, place)
         join pairs p on p.source_id = c.source_id and p.record_id = r.record_id
         order by c.source_id, r.record_id) g order by record_id, source_id
     ), taken as (
       update ledger.records k set taken_by = given.source_id from given
       where k.run_id = $1 and k.record_id = given.record_id
     )
     update ledger.rows s set state = 'settled', verdict = 'created',
       record_id = case when given.alone or $3 then given.record_id end,
       reason = case when not (given.alone or $3) then 'LINK_UNCERTAIN' end,
       detail = case when not (given.alone or $3)
         then 'created, but other contacts share its e-mail or phone and the customers do not tell which is whose' end
     from given where s.run_id = $1 and s.source_id = given.source_id`,
    [run.id, pass, evidence === 'certain'],
  );
  return settled.rowCount ?? 0;
}

/** Customers made for a load of orders come from no contact. */
async function keepLinks(db: Queryable, run: Run): Promise<void> {
  if (run.job !== 'contacts') return;
  await db.query(
    `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id, known)
     select $2, $3, source_id, record_id, hash, $1, ${KNOWN('s')} from ledger.rows s
     where run_id = $1 and action in ('import', 'create') and state = 'settled' and record_id is not null
     on conflict do nothing`,
    [run.id, run.scope, CONTACT_LINK],
  );
}

/**
 * Absent although the read began late enough: sent again, unless it might be there under another face, or the list lacks
 * much of what the service took, which says more about the list than about the rows. Sending again would double them.
 */
function judgeMissing(db: Queryable, run: Run, { pass, readAt, isWhole, settleMs }: SettleOptions): Promise<void> {
  return decideMissing(db, run, readAt, {
    resource: 'customers',
    settleMs,
    judged: `strangers as (
       select count(*) as n, count(*) filter (where k.email is null and k.phone is null and k.name is null) as faceless
       from ledger.records k where k.run_id = $1 and k.first_pass > 0 and k.last_pass = $3 and k.taken_by is null
     ), found as (
       select count(*) as n from ledger.rows s
       where s.run_id = $1 and s.state = 'settled' and s.verdict = 'created' and s.action in ('import', 'create')
     ), lost as (
       select count(*) as n from ledger.rows s where ${SENT} and s.state = 'acked' and s.since <= $2
     ), judged as (
       select s.n, case
         when s.sends >= $4 then 'GAVE_UP'
         when strangers.faceless > 0 or (s.state = 'acked' and strangers.n > 0) then 'NOT_RECOGNISED'
         when not $5 or ${LACKS_MUCH('lost.n', 'found.n')} then 'NOT_IN_LIST' end as reason
       from ledger.rows s, strangers, found, lost where ${SENT} and s.since <= $2
     )`,
    values: [pass, MAX_SENDS, isWhole],
  });
}
