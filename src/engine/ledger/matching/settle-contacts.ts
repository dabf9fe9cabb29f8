/**
 * Settles what was sent, from one read of the customers: which contacts exist, with which id, and which do not. Customers
 * of the baseline were not created by this run; each other customer is assigned to one contact by its keys, strongest
 * evidence first. `s` is a contact of the temporary table `unsettled`, `k` a customer.
 */
import { absenceAfterMs } from '../../../base/absence.ts';
import type { MatchKey } from '../../../settings/schema-sync.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { MANY } from '../match-index.ts';
import type { Run } from '../runs.ts';
import { readLearnt } from '../scopes/learnt.ts';
import { type ReadBack, type Settled, settleSent } from '../settling.ts';
import { matchRows, reviseRows, sendAgain, settleRows } from '../transitions.ts';
import type { ContactInput } from './contact-inputs.ts';
import { CONTACT, CONTACT_LINK, FIELDS_OF, LINKED_CUSTOMER } from './contact-links.ts';
import { ACCEPTED, IMPORT_REFUSED, isImportOff } from './import-trial.ts';
import { duplicates, levelsFor, SAME_PERSON } from './matching-keys.ts';
import { settleUpdated } from './updated-customers.ts';

export interface SettleOptions extends ReadBack {
  readonly matchBy: readonly MatchKey[];
  /** Contacts edited after the scan: the service imports their current values. */
  readonly edited?: readonly ContactInput[];
}

/** Settles; run it in one transaction; safe to repeat with the same or a later read. */
export async function settleContacts(db: Queryable, run: Run, options: SettleOptions): Promise<Settled> {
  const { pass, edited = [] } = options;
  const settled = await settleSent(db, run, options, {
    resource: 'customers',
    strangers: `select k.record_id, k.contact_id, k.email, k.phone, k.name from ledger.records k where ${NEW_CUSTOMER('$1', '$5')}`,
    candidates: `select k.record_id from strangers k where ${MAY_BE}`,
    values: [pass],
    async settleFound() {
      await settleUpdated(db, run, options);
      await openUnsettled(db, run, edited);
      await rememberTaken(db, run);
      await takeByContactId(db, run, pass);
      await takeInOrder(db, run, pass, SAME_PERSON, 'certain');
      for (const { agrees } of levelsFor(options.matchBy)) await takeInOrder(db, run, pass, agrees, 'by-count');
      await takeInOrder(db, run, pass, SAME_NAME, 'by-count');
      await keepFound(db, run);
      await reviewDuplicates(db, run, pass);
      if (options.isWhole) await settleRefusedImports(db, run, options);
    },
  });
  if (edited.length > 0) await oweAsEdited(db, run);
  return settled;
}

/** SQL: customers that are new since the baseline. */
export const NEW_CUSTOMER = (run: string, pass: string): string =>
  `k.run_id = ${run} and k.kind = 'customer' and k.first_pass > 0 and k.last_pass = ${pass} and k.taken_by is null`;

const FREE = NEW_CUSTOMER('$1', '$2');

/** A service may write a phone or an organization in another form; a customer new since the baseline still has its name. */
const SAME_NAME = 's.name = k.name and (s.email is null or k.email is null)';

/**
 * A service may change each key of a customer. It is not the customer of contact `m` if it names another contact, or if it
 * was created with another e-mail that is shown in full, phone and name; an imported contact may have been edited meanwhile.
 */
const MAY_BE = `coalesce(k.contact_id = m.source_id, true)
  and (m.action = 'import' or not coalesce(m.email <> k.email and k.email !~ '[*]', false)
    or exists (select from ledger.inputs i where i.run_id = $1 and i.n = m.n and (i.name = k.name or i.phone = k.phone)))`;

/** The contacts that were sent, with the customer that is found for them. */
async function openUnsettled(db: Queryable, run: Run, edited: readonly ContactInput[]): Promise<void> {
  await db.query(
    `create temp table unsettled on commit drop as
     select s.n, i.source_id, s.state, i.label, i.email, i.phone, i.name, i.org, i.hash, ${FIELDS_OF('i')} as has, false as is_edited,
       null::text as record_id, null::boolean as is_certain
     from sent s join ledger.inputs i on i.run_id = $1 and i.n = s.n where s.action in ('import', 'create')`,
    [run.id],
  );
  await db.query('analyze unsettled');
  if (edited.length === 0) return;
  await db.query(
    `update unsettled s set is_edited = true, label = e.label, hash = e.hash, email = e.email, phone = e.phone, name = e.name, org = e.org
     from jsonb_to_recordset($1) as e (id text, label text, hash text, email text, phone text, name text, org text)
     where s.source_id = e.id`,
    [JSON.stringify(edited)],
  );
}

/** Restores the customers that the run assigned to contacts, if a crash of the database has emptied the records since. */
async function rememberTaken(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.records k set taken_by = i.source_id
     from ledger.matches m join ledger.inputs i on i.run_id = m.run_id and i.n = m.n
     where m.run_id = $1 and m.kind = 'customer' and k.run_id = $1 and k.kind = 'customer' and k.record_id = m.record_id
       and k.taken_by is null`,
    [run.id],
  );
}

/** The service reports which contact a customer came from: this is the strongest evidence. */
async function takeByContactId(db: Queryable, run: Run, pass: number): Promise<void> {
  await db.query(
    `with found as (
       select distinct on (s.n) s.n, s.source_id, k.record_id
       from unsettled s join ledger.records k on k.contact_id = s.source_id and ${FREE}
       order by s.n, length(k.record_id), k.record_id
     ), taken as (
       update ledger.records k set taken_by = found.source_id from found
       where k.run_id = $1 and k.kind = 'customer' and k.record_id = found.record_id
     )
     update unsettled s set record_id = found.record_id, is_certain = true from found where s.n = found.n`,
    [run.id, pass],
  );
}

/**
 * Assigns free records to matching contacts, the n-th to the n-th, acknowledged contacts first. If several contacts match
 * several records, the count is right but the pairs are unknown (`by-count`): such contacts are created but not linked.
 */
async function takeInOrder(
  db: Queryable,
  run: Run,
  pass: number,
  agrees: string,
  evidence: 'certain' | 'by-count',
): Promise<void> {
  // Repeats while it assigns records: if agreement is not an equivalence, two groups may compete for the same record.
  for (let given = 1; given > 0 && (await isAnyWithout(db)); ) given = await takeOnce(db, run, pass, agrees, evidence);
}

/** Mostly the first way finds all records, and planning each of the others takes longer than this. */
async function isAnyWithout(db: Queryable): Promise<boolean> {
  return (await db.query('select from unsettled where record_id is null limit 1')).rowCount !== 0;
}

async function takeOnce(
  db: Queryable,
  run: Run,
  pass: number,
  agrees: string,
  evidence: 'certain' | 'by-count',
): Promise<number> {
  const given = await db.query(
    `with pairs as (
       select s.n, s.source_id, k.record_id, s.state,
         count(*) over (partition by s.n) as customers, count(*) over (partition by k.record_id) as contacts,
         min(k.record_id) over (partition by s.n) as shared_by
       from unsettled s join ledger.records k on ${agrees} and ${FREE} and k.contact_id is null where s.record_id is null
     ), contacts as (
       select n, source_id, shared_by, bool_and(customers = 1 and contacts = 1) as alone,
         row_number() over (partition by shared_by order by state, n) as nth
       from pairs group by n, source_id, shared_by, state
     ), customers as (
       select record_id, shared_by,
         row_number() over (partition by shared_by order by length(record_id), record_id) as nth
       from (select distinct record_id, shared_by from pairs) p
     ), given as (
       select distinct on (record_id) * from (
         select distinct on (c.n) c.n, c.source_id, r.record_id, c.alone
         from contacts c join customers r using (shared_by, nth)
         join pairs p on p.n = c.n and p.record_id = r.record_id
         order by c.n, r.record_id) g order by record_id, source_id
     ), taken as (
       update ledger.records k set taken_by = given.source_id from given
       where k.run_id = $1 and k.kind = 'customer' and k.record_id = given.record_id
     )
     update unsettled s set record_id = given.record_id, is_certain = given.alone or $3 from given where s.n = given.n`,
    [run.id, pass, evidence === 'certain'],
  );
  return given.rowCount ?? 0;
}

/**
 * Stores verdicts, matches and links of the contacts that were found. Customers created for a load of orders have no
 * contact.
 */
async function keepFound(db: Queryable, run: Run): Promise<void> {
  await settleRows(db, run.id, {
    sql: `select s.n, 'created' as verdict, case when not is_certain then 'LINK_UNCERTAIN' when not k.is_listed then 'UNLISTED' end as reason,
        case when is_certain and not k.is_listed then jsonb_build_object('what', 'customer', 'id', k.record_id) end as facts,
        case when is_certain then s.record_id end as record_id
      from unsettled s join ledger.records k on k.run_id = $1 and k.kind = 'customer' and k.record_id = s.record_id`,
  });
  await matchRows(db, run.id, {
    sql: `select n, 'customer' as kind, record_id, case when is_certain then 'read-back' else 'count' end as by
      from unsettled where record_id is not null`,
  });
  if (run.type !== 'contacts') return;
  const linked = await db.query(
    `insert into ledger.links (scope, kind, source_id, record_id, hash, run_id, known, contact)
     select $2, $3, s.source_id, s.record_id, s.hash, $1, ${LINKED_CUSTOMER('k')}, ${CONTACT('s')}
     from unsettled s join ledger.records k on k.run_id = $1 and k.kind = 'customer' and k.record_id = s.record_id
     where s.is_certain on conflict do nothing`,
    [run.id, run.scope, CONTACT_LINK],
  );
  // Without statistics of new links, the next sync would read all of them for each page of contacts.
  if ((linked.rowCount ?? 0) >= MANY) await db.query('analyze ledger.links');
}

/** Reviews free customers that are the same person as a contact that has its customer. */
async function reviewDuplicates(db: Queryable, run: Run, pass: number): Promise<void> {
  const free = `select * from ledger.records k where ${FREE}`;
  if ((await db.query(`${free} limit 1`, [run.id, pass])).rowCount === 0) return;
  const had = `select i.*, v.record_id from ledger.verdicts v join ledger.inputs i on i.run_id = v.run_id and i.n = v.n
    where v.run_id = $1 and v.record_id is not null and (v.verdict in ('created', 'existing') or v.reason = 'DUPLICATE')`;
  await reviseRows(db, run.id, {
    sql: `select extra.n, 'review' as verdict, 'DUPLICATE' as reason, f.facts, v.record_id
      from (${duplicates(had, free)}) extra join ledger.verdicts v on v.run_id = $1 and v.n = extra.n
        cross join lateral (select jsonb_build_object('what', 'customer', 'ids', extra.ids) as facts) f
      where v.facts is distinct from f.facts`,
    values: [pass],
  });
}

/**
 * Contacts whose import was refused and whose customer does not exist: rejected if importing works for others; otherwise
 * their customers are created. A service may refuse inside an HTTP 200 and still import.
 */
async function settleRefusedImports(db: Queryable, run: Run, { readAt, settleMs }: ReadBack): Promise<void> {
  const isRefused = `state = 'unknown' and reason = '${IMPORT_REFUSED}' and (facts->>'http' <> '200' or since <= $2)`;
  const values = [new Date(readAt.getTime() - absenceAfterMs(settleMs))];
  // A lost attempt may have created the customer after its import was refused.
  const imported = await db.query(
    `select from ledger.last_attempts a where a.run_id = $1 and a.action = 'import' and a.outcome not in ('unsent', 'lost') and (a.outcome = 'acked'
       or exists (select from ledger.verdicts v where v.run_id = $1 and v.n = a.n and v.verdict = 'created')) limit 1`,
    [run.id],
  );
  const works =
    imported.rowCount !== 0 ||
    ((await readLearnt(db, run.scope)).get(ACCEPTED) === true && !(await isImportOff(db, run)));
  if (!works) {
    await sendAgain(db, run.id, { sql: `select n, 'create' as action from sent where ${isRefused}`, values });
    return;
  }
  await settleRows(db, run.id, {
    sql: `select n, 'rejected' as verdict, 'REFUSED_BY_SERVICE' as reason, facts, null::text as record_id from sent where ${isRefused}`,
    values,
  });
}

/** An edited contact that is sent again is audited by its current values. */
async function oweAsEdited(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.audit_debts d set label = s.label, email = s.email, phone = s.phone, name = s.name, org = s.org
     from unsettled s where d.run_id = $1 and d.source_id = s.source_id and s.is_edited and d.paid_at is null`,
    [run.id],
  );
}
