/**
 * Decides every contact of a run before the first write: it exists (matched and linked), is ambiguous (reported, never
 * guessed), or will be imported. Set-based SQL over the run's contacts (`s`, in the temporary table `deciding`) and the
 * customers of its baseline (`k`).
 */
import type { MatchKey } from '../../../settings/schema-sync.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { holdDecisions } from '../decisions.ts';
import { prepareSetWork } from '../match-index.ts';
import { addNote, type Run } from '../runs.ts';
import { IS_ACKED, MAY_EXIST, MAY_HAVE_ARRIVED } from '../unsettled.ts';
import { applyDecisions } from './apply-contact-decisions.ts';
import { CONTACT_CHANGE, checkLinks, IS_ANOTHER_CONTACT, type LinksDisagree, refreshLinks } from './check-links.ts';
import { CONTACT_LINK, FIELDS_OF, NAMES_OF_CONTACT } from './contact-links.ts';
import { noteTwins } from './contact-notes.ts';
import { keepDecisions, keepLinks, reviewMasked } from './keep-contacts.ts';
import { matchByKeys, matchLevel } from './match-contacts.ts';
import { duplicates, IS_CUSTOMER, KEYS_OF_ROW, levelsFor, SAME_PERSON } from './matching-keys.ts';
import { CREATED_BY_LOADS } from './missing-customers.ts';

export interface DecideOptions {
  readonly matchBy: readonly MatchKey[];
  /** How a contact without a customer is sent. */
  readonly action: 'import' | 'create';
  readonly onChange: 'update' | 'ignore';
  /** Fields of a customer that come from its contact. */
  readonly mappedFields: readonly string[];
  /** True if a customer missing from the list does not exist. */
  readonly isWhole: boolean;
  /** Number of unchanged contacts, which have no rows. */
  readonly unchanged: number;
}

/**
 * Run it in one transaction, once per run. A dry run stores no links. Rows of contacts that turn out unchanged are
 * deleted.
 */
export async function decideContacts(
  db: Queryable,
  run: Run,
  options: DecideOptions,
): Promise<{ readonly status: 'decided' } | LinksDisagree> {
  await holdDecisions(db);
  await prepareSetWork(db, run.id);
  await openContacts(db, run, options.onChange);
  const disagree = await checkLinks(db, run, options.unchanged);
  if (disagree) return disagree;
  if (!run.dryRun) await refreshLinks(db, run);
  await reopenLostLinks(db, run);
  await takeLinked(db, run);
  await matchLevel(db, run, { by: `'contact id'`, agrees: 's.source_id = k.contact_id' });
  await matchByKeys(db, run, levelsFor(options.matchBy));
  await matchLevel(db, run, { by: KEYS_OF_ROW, agrees: SAME_PERSON }); // regardless of matchBy
  await reviewDuplicates(db, run);
  await reviewTheUnclear(db, run);
  if (!options.isWhole) await reviewTheUnproven(db);
  await reviewMasked(db, run);
  await applyDecisions(db, run, options);
  await reviewMasked(db, run); // an update that a person has decided on, too
  await db.query(`update deciding set state = 'ready', action = $1 where state = 'staged'`, [options.action]);
  const twins = await noteTwins(db);
  if (twins !== undefined) await addNote(db, run.id, twins);
  if (!run.dryRun) await keepLinks(db, run);
  await keepDecisions(db, run, options);
  return { status: 'decided' };
}

/** SQL: the sync of contacts of run `u` had another mapping than that of run `run`. */
const IS_REMAPPED = (u: string, run: string) =>
  `(${u}.job = 'contacts' and ${u}.options->'map' is distinct from (select options->'map' from ledger.runs where id = ${run}))`;

/**
 * The contacts with what their links say. The states are those of rows: `staged` is not decided yet, `ready` will be
 * sent.
 */
async function openContacts(db: Queryable, run: Run, onChange: DecideOptions['onChange']): Promise<void> {
  await db.query(
    `create temp table deciding (n bigint primary key, source_id text, label text, email text, phone text, name text, org text,
       hash text, has jsonb, record_id text, known jsonb, was jsonb, linked_at timestamptz, is_linked boolean not null, is_remapped boolean not null,
       is_stale boolean not null, state text not null, action text, verdict text, reason text, facts jsonb, by text) on commit drop`,
  );
  await db.query(
    `insert into deciding select n, source_id, label, email, phone, name, org, hash, has, record_id, known, was, linked_at, is_linked, is_remapped, false,
       case when verdict is not null then 'settled' when not is_linked then 'staged' when has_changed and $4 then 'ready' else 'settled' end,
       case when verdict is null and is_linked and has_changed and $4 then 'update' end,
       case when verdict is not null then verdict when is_linked and not (has_changed and $4) then 'unchanged' end,
       case when verdict is not null then reason when is_linked and has_changed and not $4 then 'CHANGE_IGNORED' end
     from (select i.*, coalesce(${FIELDS_OF('i')}, l.contact->'has') as has, l.record_id, l.known, l.contact as was, l.linked_at, l.source_id is not null as is_linked, l.hash is distinct from i.hash as has_changed,
         coalesce(${IS_REMAPPED('u', '$1')}, false) as is_remapped, v.verdict, v.reason
       from ledger.inputs i left join ledger.links l on l.scope = $2 and l.kind = $3 and l.source_id = i.source_id
         left join ledger.runs u on u.id = l.run_id left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
       where i.run_id = $1) linked`,
    [run.id, run.scope, CONTACT_LINK, onChange === 'update'],
  );
  await db.query('analyze deciding');
}

/** A missing linked customer may have been created again or merged into another one: its contact is matched again. */
async function reopenLostLinks(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update deciding s set state = 'staged', action = null, verdict = null, reason = null
     where s.record_id is not null
       and not exists (select from ledger.records k where ${IS_CUSTOMER} and k.record_id = s.record_id)`,
    [run.id],
  );
}

/**
 * A linked customer belongs to its contact while that contact exists. A contact that was deleted and created again has
 * another id: its customer is found by its keys. A scan that may have missed contacts does not prove that a contact is
 * gone.
 */
async function takeLinked(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.records k set taken_by = l.source_id
     from ledger.links l left join deciding s on s.source_id = l.source_id
     where ${IS_CUSTOMER} and l.scope = $2 and l.kind = $3 and l.record_id = k.record_id and (s.is_linked
       or s.n is null and (select coalesce(scan, 'unproven') from ledger.runs where id = $1) = 'unproven')`,
    [run.id, run.scope, CONTACT_LINK],
  );
}

/** Reviews free customers that are the same person as a contact that has its customer. */
async function reviewDuplicates(db: Queryable, run: Run): Promise<void> {
  const had = `select * from deciding where state = 'settled' and record_id is not null and verdict in ('existing', 'unchanged')`;
  const free = `select * from ledger.records k where ${IS_CUSTOMER} and k.taken_by is null and not k.is_disputed`;
  await db.query(
    `update deciding s set verdict = 'review', reason = 'DUPLICATE',
       facts = jsonb_build_object('what', 'customer', 'before', true, 'ids', extra.ids)
     from (${duplicates(had, free)}) extra where s.n = extra.n`,
    [run.id],
  );
}

/** SQL: the names by which loads create the customers of the contacts that are not decided. */
const EMAILS = `select distinct 'email ' || email as called from deciding where state = 'staged' and email is not null`;

/**
 * Contacts that are never sent: their customer was deleted there, or they cannot be, or were not, recognised in the list, or a
 * load may have created their customer, or has created it and people have given it another e-mail.
 * What was sent with another mapping has other keys: such a contact is unclear until a person decides, whatever it says now.
 */
async function reviewTheUnclear(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `with unrecognised as (
       select v.run_id, v.n, v.reason, coalesce(v.facts->>'earlier', v.run_id) as run, v.facts->>'id' as id, v.facts->'ids' as ids, v.at
       from ledger.runs u join ledger.verdicts v on v.run_id = u.id and v.reason in ${MAY_EXIST} where u.scope = $2
       union all select u.id, p.n, 'NOT_IN_LIST', u.id, null, null, u.ended_at
       from ledger.runs u cross join lateral (
         select n from ledger.plans p where run_id = u.id and action <> 'update'
           and case when ${IS_REMAPPED('u', '$1')} then ${MAY_HAVE_ARRIVED('u.id', 'p.n')} else ${IS_ACKED('u.id', 'p.n')} end
           and not exists (select from ledger.verdicts v where v.run_id = u.id and v.n = p.n offset 0) offset 0) p
       where u.scope = $2 and u.job = 'contacts' and u.status in ('failed', 'cancelled') and u.id <> $1
     ), earlier as (
       select distinct on (source_id) source_id, reason, run, id, ids from (
         select i.source_id, e.reason, e.run, e.id, e.ids, e.at from unrecognised e
           cross join lateral (select source_id from ledger.inputs i where i.run_id = e.run_id and i.n = e.n offset 0) i
         union all select c.called, 'NOT_RECOGNISED', c.run_id, null, jsonb_build_array(c.record_id), c.at
         from (${CREATED_BY_LOADS(EMAILS)}) c join ledger.records k on ${IS_CUSTOMER} and k.record_id = c.record_id
         where k.taken_by is null and 'email ' || k.email is distinct from c.called
       ) every order by source_id, at desc
     ), named as (
       select distinct on (s.n) s.n, e.* from deciding s
         cross join lateral (select s.source_id as called union all select * from ${NAMES_OF_CONTACT('s')} v) c
         join earlier e on e.source_id = c.called
       where s.state = 'staged' order by s.n, e.source_id = s.source_id desc
     ), unclear as (
       select s.n, f.reason, case when f.reason = 'UNLISTED' then 'existing' else 'review' end as verdict,
         case f.reason when 'CUSTOMER_GONE' then jsonb_build_object('customer', s.record_id) || case when s.was is not null and ${IS_ANOTHER_CONTACT} then ${CONTACT_CHANGE} else '{}' end when 'NO_KEY' then null
           else jsonb_strip_nulls(jsonb_build_object('what', 'customer', 'earlier', e.run, 'id', e.id, 'ids', e.ids)) end as facts
       from deciding s left join named e on e.n = s.n
         cross join lateral (select case when e.reason = 'UNLISTED' then e.reason when s.record_id is not null then 'CUSTOMER_GONE'
           when coalesce(s.email, s.phone, s.name) is null then 'NO_KEY' else e.reason end as reason) f
       where s.state = 'staged'
     )
     update deciding s set state = 'settled', verdict = unclear.verdict, reason = unclear.reason, facts = unclear.facts
     from unclear where s.n = unclear.n and unclear.reason is not null`,
    [run.id, run.scope],
  );
}

/** The list may be incomplete: creating these customers could create them twice. */
async function reviewTheUnproven(db: Queryable): Promise<void> {
  await db.query(
    `update deciding set state = 'settled', verdict = 'review', reason = 'LIST_PARTIAL', facts = '{"what": "customer"}'
     where state = 'staged'`,
  );
}
