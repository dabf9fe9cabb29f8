/**
 * Matches the contacts of a run with customers of its baseline, level by level: set-based SQL over the contacts (`s`, in the
 * temporary table `deciding` of decide-contacts.ts) and the customers (`k`). An ambiguous match is left to a person.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import type { Run } from '../runs.ts';
import { IS_CUSTOMER, type Level, type RivalKey } from './matching-keys.ts';

/** SQL: customer `k` does not come from another contact of the run. */
const MAY_BE_ITS = `(k.contact_id is null or k.contact_id = s.source_id or not exists
  (select from deciding o where o.source_id = k.contact_id))`;

/**
 * SQL: a person has chosen customer `k` for another contact. That decides nothing about contact `s`, which was in review, or
 * ignored, in its newest run.
 */
const IS_CONTESTED = `(k.taken_by is not null and exists (select from ledger.decisions d
    where d.scope = $2 and d.kind = 'contact' and d.subject = k.taken_by and d.record_id = k.record_id and d.choice = 'use'
      and d.applied_at is not null and d.undone_at is null and d.lapsed_at is null)
  and coalesce((select v.reason = 'DECIDED_IGNORE' or (v.reason = 'AMBIGUOUS_MATCH' and v.facts->'customers' ? k.record_id)
    from ledger.runs u join ledger.inputs i on i.run_id = u.id and i.source_id = s.source_id
      left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
    where u.scope = $2 and u.job = 'contacts' and u.status = 'done' and not u.dry_run order by u.created_at desc limit 1), false))`;

/**
 * Links pairs that are each other's only candidate or, if several share the key (a family's mailbox), each other's only
 * candidate of the same name. Contacts that still have candidates go to manual review with these candidates: a weaker key
 * must not assign a customer that a stronger key disputes.
 *
 * Linked contacts and customers count as candidates although they are taken. Otherwise an ambiguous match would look
 * certain in the next run, after a link took the alternative away, and that run would write. So does a contact whose last
 * alternative a decision took away: it stays in review.
 */
export async function matchLevel(db: Queryable, run: Run, level: Level): Promise<void> {
  const open = await db.query(`select from deciding where state = 'staged' limit 1`);
  if (open.rowCount === 0) return; // only a pair of an open contact leads to a match or a review
  const agreeing = (among: string) => `
       select s.n, s.source_id, k.record_id, s.name = k.name as same_name, k.is_disputed, ${level.by} as by,
         s.state = 'staged' and k.taken_by is null as is_open,
         case when s.state = 'staged' and ${IS_CONTESTED} then k.taken_by end as owner
       from deciding s join ledger.records k on ${IS_CUSTOMER} and ${level.agrees}
       where ${among} and ${MAY_BE_ITS}`;
  // In two halves, each over few rows or few records, so that a thousand linked people with one switchboard do not form a
  // million pairs.
  await db.query(
    `with pairs as (
       select *, count(*) over (partition by n) as customers, count(*) over (partition by record_id) as contacts
       from (${agreeing(`s.state = 'staged'`)} union all ${agreeing(`s.state <> 'staged' and k.taken_by is null`)}) p
     ), named as (
       select *, count(*) over (partition by n) as namesakes_there, count(*) over (partition by record_id) as namesakes_here
       from pairs where same_name
     ), certain as (
       select n, source_id, record_id, by from pairs where is_open and not is_disputed and customers = 1 and contacts = 1
       union all select n, source_id, record_id, by || ' and name' from named
       where is_open and not is_disputed and namesakes_there = 1 and namesakes_here = 1 and not (customers = 1 and contacts = 1)
     ), left_over as (
       select n, record_id, by, owner from pairs
       where (is_open or owner is not null) and n not in (select n from certain) and record_id not in (select record_id from certain)
     ), taken as (
       update ledger.records k set taken_by = certain.source_id from certain where ${IS_CUSTOMER} and k.record_id = certain.record_id
     ), disputed as (
       update ledger.records k set is_disputed = true
       where ${IS_CUSTOMER} and k.record_id in (select record_id from left_over)
     ), decided as (
       select n, record_id, by, 'existing' as verdict, 'MATCHED' as reason, jsonb_build_object('by', by) as facts from certain
       union all select n, null, by, 'review', 'AMBIGUOUS_MATCH',
         jsonb_strip_nulls(jsonb_build_object('by', by, 'customers', jsonb_agg(record_id order by length(record_id), record_id),
           'owners', jsonb_agg(owner order by length(owner), owner) filter (where owner is not null)))
       from left_over group by n, by
     )
     update deciding s set state = 'settled', verdict = decided.verdict, reason = decided.reason, facts = decided.facts,
       by = decided.by, record_id = coalesce(decided.record_id, s.record_id)
     from decided where s.n = decided.n`,
    [run.id, run.scope],
  );
}

/**
 * A match that is undone frees its customer. Other contacts were passed over, or matched by a weaker key, because it was
 * taken: they are compared with it again.
 */
export async function matchByKeys(db: Queryable, run: Run, levels: readonly Level[]): Promise<void> {
  for (const [i, level] of levels.entries()) {
    await matchLevel(db, run, level);
    const until = levels.slice(0, i + 1);
    while ((await reviewAllDisagreeing(db, run, until)) > 0) {
      for (const earlier of until) await matchLevel(db, run, earlier);
    }
  }
}

async function reviewAllDisagreeing(db: Queryable, run: Run, levels: readonly Level[]): Promise<number> {
  let reviewed = 0;
  for (const rival of levels.flatMap(({ rivals }) => rivals ?? [])) reviewed += await reviewDisagreeing(db, run, rival);
  return reviewed;
}

/**
 * Undoes matches of contacts if their key names other customers and not the matched one, and returns how many. A customer with
 * an id of its contact is certain.
 */
async function reviewDisagreeing(db: Queryable, run: Run, { key, by, names }: RivalKey): Promise<number> {
  const reviewed = await db.query(
    `with disagreeing as (
       select s.n, s.by || ' and ' || ${by} as by, a.record_id as matched, array_agg(k.record_id) as others
       from deciding s join ledger.records a on a.run_id = $1 and a.kind = 'customer' and a.record_id = s.record_id
         join ledger.records k on ${IS_CUSTOMER} and k.taken_by is null and ${names} and ${MAY_BE_ITS}
       where s.reason = 'MATCHED' and s.by <> 'contact id' and a.${key} is distinct from s.${key}
       group by s.n, s.by, a.record_id
     ), freed as (
       update ledger.records k set taken_by = null, is_disputed = true from disagreeing d
       where ${IS_CUSTOMER} and (k.record_id = d.matched or k.record_id = any(d.others))
     )
     update deciding s set verdict = 'review', reason = 'AMBIGUOUS_MATCH', record_id = null, by = null,
       facts = jsonb_build_object('by', d.by, 'customers', to_jsonb(d.matched || d.others))
     from disagreeing d where s.n = d.n`,
    [run.id],
  );
  return reviewed.rowCount ?? 0;
}
