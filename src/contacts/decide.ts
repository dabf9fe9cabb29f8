/**
 * Decides every staged contact before the first write: it exists already (matched and linked), is ambiguous (named, never
 * guessed), or is to be imported. Set-based SQL over the run's rows (`s`) and the customers its baseline saw (`k`).
 */

import { type Level, levelsFor, type MatchKey, SAME_PERSON } from '../engine/ledger/matching/customer-levels.ts';
import { prepareSetWork } from '../engine/ledger/records.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import { checkLinks, KNOWN } from './check-links.ts';
import { reportDuplicates } from './duplicates.ts';
import { MAPPED_FIELDS } from './mapping.ts';
import { CONTACT_LINK } from './staging.ts';

export interface DecideOptions {
  readonly matchBy: readonly MatchKey[];
  /** What a contact without a customer is sent as. */
  readonly action: 'import' | 'create';
  /** What the list of customers does not show is not there. */
  readonly isWhole: boolean;
}

/** Decides all staged rows; to be run in one transaction, safe to repeat. In a dry run no link is kept. */
export async function decideContacts(db: Queryable, run: Run, options: DecideOptions): Promise<void> {
  await prepareSetWork(db, run.id);
  await checkLinks(db, run);
  await reopenLostLinks(db, run);
  await takeLinked(db, run);
  await matchLevel(db, run, { by: 'contact id', agrees: 's.source_id = k.contact_id' });
  for (const level of levelsFor(options.matchBy)) await matchLevel(db, run, level);
  await matchLevel(db, run, { by: 'e-mail, phone, name and organization', agrees: SAME_PERSON }); // whatever matchBy says
  await keepLinks(db, run);
  await reportDuplicates(db, run, { free: UNCLAIMED, pass: 0 });
  await reviewTheUnclear(db, run);
  if (!options.isWhole) await reviewTheUnproven(db, run);
  await sendTheRest(db, run, options.action);
  await prepareUpdates(db, run);
  if (run.dryRun) await planOnly(db, run);
}

const UNCLAIMED = 'k.run_id = $1 and k.last_pass = $2 and k.taken_by is null and not k.is_disputed';

/** A linked customer that is gone may have been made again, or merged into another one: its contact is matched anew. */
async function reopenLostLinks(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows s set state = 'staged', action = null, verdict = null, reason = null
     where s.run_id = $1 and s.record_id is not null and s.verdict is distinct from 'existing'
       and not exists (select 1 from ledger.records k where k.run_id = $1 and k.record_id = s.record_id)`,
    [run.id],
  );
}

/**
 * A linked customer is its contact's, and nobody else's while that contact is there. One that was deleted and made again
 * has another id: its customer is found by its keys. A scan that may have missed contacts tells of none that it is gone.
 */
async function takeLinked(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.records k set taken_by = l.source_id
     from ledger.links l left join ledger.rows s on s.run_id = $1 and s.source_id = l.source_id
     where k.run_id = $1 and l.scope = $2 and l.kind = $3 and l.record_id = k.record_id and (s.source_id is not null
       or (select coalesce(scan, 'unproven') from ledger.runs where id = $1) = 'unproven')`,
    [run.id, run.scope, CONTACT_LINK],
  );
}

/**
 * Links pairs that are each other's only candidate, or, where several share the key (a family's mailbox), each other's
 * only candidate of the same name. What has candidates left after that is for a person, and so are those candidates: a
 * weaker key must not give away what a stronger one disputes.
 *
 * Linked contacts and customers count as candidates although they cannot be had: else what is ambiguous today would look
 * certain tomorrow, when a link has taken the alternative away, and a second run would write.
 */
async function matchLevel(db: Queryable, run: Run, level: Level): Promise<void> {
  const agreeing = (among: string) => `
       select s.source_id, k.record_id, s.name = k.name as same_name, k.is_disputed,
         s.state = 'staged' and k.taken_by is null as is_open
       from ledger.rows s join ledger.records k on k.run_id = s.run_id and ${level.agrees}
       where s.run_id = $1 and ${among} and (k.contact_id is null or k.contact_id = s.source_id or not exists
         (select 1 from ledger.rows o where o.run_id = $1 and o.source_id = k.contact_id))`;
  // In two halves, each over few rows or few records: a thousand linked people with one switchboard are no million pairs.
  await db.query(
    `with pairs as (
       select *, count(*) over (partition by source_id) as customers, count(*) over (partition by record_id) as contacts
       from (${agreeing(`s.state = 'staged'`)} union all ${agreeing(`s.state <> 'staged' and k.taken_by is null`)}) p
     ), named as (
       select *, count(*) over (partition by source_id) as namesakes_there,
         count(*) over (partition by record_id) as namesakes_here
       from pairs where same_name
     ), sure as (
       select source_id, record_id from pairs where is_open and not is_disputed and customers = 1 and contacts = 1
       union select source_id, record_id from named
       where is_open and not is_disputed and namesakes_there = 1 and namesakes_here = 1
     ), left_over as (
       select source_id, record_id from pairs
       where is_open and source_id not in (select source_id from sure) and record_id not in (select record_id from sure)
     ), taken as (
       update ledger.records k set taken_by = sure.source_id from sure where k.run_id = $1 and k.record_id = sure.record_id
     ), disputed as (
       update ledger.records k set is_disputed = true
       where k.run_id = $1 and k.record_id in (select record_id from left_over)
     ), ambiguous as (
       update ledger.rows s set state = 'settled', verdict = 'review', reason = 'AMBIGUOUS_MATCH',
         detail = format('by %s it could be customer %s; other contacts or customers share it', $2::text, candidates)
       from (select source_id, string_agg(record_id, ', ' order by length(record_id), record_id) as candidates
             from left_over group by source_id) l
       where s.run_id = $1 and s.source_id = l.source_id
     )
     update ledger.rows s set state = 'settled', verdict = 'existing', record_id = sure.record_id,
       reason = 'MATCHED', detail = 'matched by ' || $2::text
     from sure where s.run_id = $1 and s.source_id = sure.source_id`,
    [run.id, level.by],
  );
}

async function keepLinks(db: Queryable, run: Run): Promise<void> {
  if (run.dryRun) return;
  await db.query(
    `delete from ledger.links l using ledger.rows s where s.run_id = $1 and s.verdict = 'existing'
       and l.scope = $2 and l.kind = $3 and l.source_id = s.source_id and l.record_id <> s.record_id`,
    [run.id, run.scope, CONTACT_LINK],
  );
  await db.query(
    `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id, known)
     select $2, $3, s.source_id, s.record_id, s.hash, $1, ${KNOWN('k')}
     from ledger.rows s join ledger.records k on k.run_id = $1 and k.record_id = s.record_id
     where s.run_id = $1 and s.verdict = 'existing'
     on conflict (scope, kind, record_id) do update set source_id = excluded.source_id, hash = excluded.hash,
       run_id = excluded.run_id, known = excluded.known, linked_at = now()`,
    [run.id, run.scope, CONTACT_LINK],
  );
}

/** What is never sent: what a person has deleted there, and what could not be, or was not, recognised in the list. */
async function reviewTheUnclear(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows set state = 'settled', verdict = 'review', reason = 'CUSTOMER_GONE',
       detail = 'customer ' || record_id || ', which this contact was imported as, is no longer there'
     where run_id = $1 and state = 'staged' and record_id is not null`,
    [run.id],
  );
  await db.query(
    `update ledger.rows set state = 'settled', verdict = 'review', reason = 'NO_KEY',
       detail = 'it has no e-mail, phone or name: a customer made from it could not be recognised'
     where run_id = $1 and state = 'staged' and email is null and phone is null and name is null`,
    [run.id],
  );
  await db.query(
    `update ledger.rows s set state = 'settled', verdict = 'review', reason = earlier.reason,
       detail = 'an earlier run sent it and did not find it in the list of customers; it is sent again once the contact has changed'
     from (select o.source_id, o.hash, max(o.reason) as reason
       from ledger.rows o join ledger.runs u on u.id = o.run_id and u.scope = $2
       where o.reason in ('NOT_RECOGNISED', 'NOT_IN_LIST') group by o.source_id, o.hash) earlier
     where s.run_id = $1 and s.state = 'staged' and s.source_id = earlier.source_id and s.hash = earlier.hash`,
    [run.id, run.scope],
  );
}

/** The list may lack their customers: created because of that, they might be there twice. */
async function reviewTheUnproven(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows set state = 'settled', verdict = 'review', reason = 'LIST_PARTIAL',
       detail = 'no customer in the list is its own, and the list does not show everything: look for it by hand'
     where run_id = $1 and state = 'staged'`,
    [run.id],
  );
}

async function sendTheRest(db: Queryable, run: Run, action: 'import' | 'create'): Promise<void> {
  await db.query(`update ledger.rows set state = 'ready', action = $2 where run_id = $1 and state = 'staged'`, [
    run.id,
    action,
  ]);
}

/** An update sends the customer as it stands with the contact's fields over it; one emptied at the contact is emptied there. */
async function prepareUpdates(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows s set fields = k.fields
         || coalesce((select jsonb_object_agg(key, '') from jsonb_object_keys(k.fields) key where key = any($2)), '{}')
         || s.fields
     from ledger.records k
     where s.run_id = $1 and s.state = 'ready' and s.action = 'update' and k.run_id = $1 and k.record_id = s.record_id`,
    [run.id, MAPPED_FIELDS],
  );
}

/** A dry run says what it would have done. */
async function planOnly(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows set state = 'settled', reason = 'PLANNED',
       verdict = case action when 'update' then 'updated' else 'created' end
     where run_id = $1 and state = 'ready'`,
    [run.id],
  );
}
