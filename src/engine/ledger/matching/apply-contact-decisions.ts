/**
 * Applies what people decided about contacts (decisions.ts) after a run has matched them, in the transaction of its
 * decision. A decision applies only while its evidence holds: the contact has the same content, and every customer that it
 * may belong to now was shown, with the same keys, when the person decided. Otherwise it lapses, and the contact stays in
 * review.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import { FILTER_OF, IN_FORCE, NAMED_CUSTOMERS } from '../review-sql.ts';
import { addNote, type Run } from '../runs.ts';
import { LINKED_CUSTOMER } from './contact-links.ts';

/** Decisions that lapsed and are named in notes, at most. */
const MOST_NAMED = 10;

const CUSTOMER = (id: string) => `k.run_id = $1 and k.kind = 'customer' and k.record_id = ${id}`;

/** SQL: a review for one of these reasons is the case that the person decided about. */
const IS_SAME_CASE = `(s.reason is null or s.reason = d.reason
  or (d.reason, s.reason) in (('LOST', 'CUSTOMER_GONE'), ('NOT_RECOGNISED', 'NOT_IN_LIST'), ('NOT_IN_LIST', 'NOT_RECOGNISED'))
  or (d.choice = 'ignore' and s.reason = 'LIST_PARTIAL'))`;

/**
 * SQL: a customer that the contact may belong to is new, or has other keys than the person saw; so has the chosen customer,
 * whether the contact may still belong to it or not.
 */
const HAS_OTHERS = `(exists (select from jsonb_each(e.customers) c where (not d.customers ? c.key and c.key is distinct from d.record_id)
    or (d.customers->c.key <> 'null' and c.value <> 'null' and d.customers->c.key <> c.value))
  or coalesce(d.customers->d.record_id <> 'null' and d.customers->d.record_id <> ${LINKED_CUSTOMER('k')}, false))`;

export interface ApplyOptions {
  /** How a contact without a customer is sent. */
  readonly action: 'import' | 'create';
  readonly onChange: 'update' | 'ignore';
}

/** Needs the temporary table `deciding`, and `holdDecisions`. A dry run shows what the decisions would do, and applies none. */
export async function applyDecisions(db: Queryable, run: Run, options: ApplyOptions): Promise<void> {
  await gatherEvidence(db, run);
  if (!run.dryRun) await reopenUnsent(db, run);
  await judgeDecisions(db, run);
  await useRecords(db, run, options.onChange);
  await createDecided(db, options.action);
  await ignoreDecided(db);
  await acceptDuplicates(db, run);
  if (!run.dryRun) await keepOutcome(db, run);
}

/** The customers that each contact in review may belong to, with their keys. */
async function gatherEvidence(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `create temp table evidence on commit drop as
     with named as materialized (
       select s.n, jsonb_array_elements_text(${NAMED_CUSTOMERS('s.facts')}) as id from deciding s where s.verdict = 'review'
     )
     select c.n, jsonb_object_agg(c.id, case when k.record_id is not null then ${LINKED_CUSTOMER('k')} end) as customers,
       jsonb_object_agg(c.id, k.fields) as written
     from named c left join ledger.records k on ${CUSTOMER('c.id')} group by c.n`,
    [run.id],
  );
}

/**
 * A decision to create a customer counts again if the run that planned it ended before it sent the row. Once the row was
 * sent, it does not: the next run finds the customer, or a person decides again.
 */
async function reopenUnsent(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.decisions d set applied_at = null, applied_by = null
     from ledger.runs u join ledger.inputs i on i.run_id = u.id
     where d.scope = $1 and d.kind = 'contact' and d.choice = 'create' and d.undone_at is null and d.lapsed_at is null
       and u.id = d.applied_by and u.status in ('failed', 'cancelled') and coalesce(i.source_id, i.n::text) = d.subject
       and not exists (select from ledger.verdicts v where v.run_id = u.id and v.n = i.n)
       and not exists (select from ledger.attempts a where a.run_id = u.id and a.n = i.n and a.outcome <> 'unsent')
       and not exists (select from ledger.chunks c where c.run_id = u.id and i.n = any(c.rows))
       and not exists (select from ledger.decisions later where later.scope = d.scope and later.kind = d.kind
         and later.subject = d.subject and later.id > d.id)`,
    [run.scope],
  );
}

/** The decisions in force, each with its contact and, if it cannot be applied, why. */
async function judgeDecisions(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `create temp table decided on commit drop as
     select d.id, d.choice, d.record_id as chosen, d.decided_by, d.decided_at, s.n, s.source_id, s.reason,
       case when s.n is null or not (s.state = 'staged' or s.verdict = 'review') then 'not needed'
         when d.choice = 'use' and k.record_id is null then 'record missing'
         when d.hash is distinct from s.hash or not ${IS_SAME_CASE} or ${HAS_OTHERS} then 'evidence changed'
         when d.choice = 'use' and k.taken_by <> s.source_id then 'record taken' end as lapse
     from ledger.decisions d
       left join deciding s on s.source_id = d.subject
       left join evidence e on e.n = s.n
       left join ledger.inputs i on i.run_id = $1 and i.n = s.n
       left join ledger.records k on ${CUSTOMER('d.record_id')}
     where d.scope = $2 and d.kind = 'contact' and d.choice <> 'later' and ${IN_FORCE}
       and (d.choice = 'ignore' or s.n is null or i.fields is not null)`, // a contact recalled from its link has no fields to send
    [run.id, run.scope],
  );
}

/** Links contacts with the chosen customers; the held update of a contact whose own customer is confirmed is sent. */
async function useRecords(db: Queryable, run: Run, onChange: ApplyOptions['onChange']): Promise<void> {
  await db.query(
    `update ledger.records k set taken_by = d.source_id from decided d
     where d.choice = 'use' and d.lapse is null and ${CUSTOMER('d.chosen')}`,
    [run.id],
  );
  await db.query(
    `update deciding s set state = 'ready', action = 'update', verdict = null, reason = null, facts = null
     from decided d where d.n = s.n and d.choice = 'use' and d.lapse is null and s.is_linked and s.record_id = d.chosen
       and s.reason in ('LINK_DISAGREES', 'CONTACT_REPLACED') and $1`,
    [onChange === 'update'],
  );
  await db.query(
    `update deciding s set state = 'settled', action = null, verdict = 'existing', reason = 'DECIDED_USE',
       facts = jsonb_build_object('customer', d.chosen, 'who', d.decided_by), record_id = d.chosen, by = 'decision'
     from decided d where d.n = s.n and d.choice = 'use' and d.lapse is null and s.action is distinct from 'update'`,
  );
}

async function createDecided(db: Queryable, action: ApplyOptions['action']): Promise<void> {
  await db.query(
    `update deciding s set state = 'ready', action = $1, verdict = null, reason = null, facts = null, record_id = null,
       by = null, is_stale = true
     from decided d where d.n = s.n and d.choice = 'create' and d.lapse is null`,
    [action],
  );
}

const IGNORED = (who: string) => `state = 'settled', action = null, verdict = 'existing', reason = 'DECIDED_IGNORE',
  facts = jsonb_strip_nulls(jsonb_build_object('was', s.reason, 'who', ${who}))`;

async function ignoreDecided(db: Queryable): Promise<void> {
  await db.query(
    `update deciding s set ${IGNORED('d.decided_by')}
     from decided d where d.n = s.n and d.choice = 'ignore' and d.lapse is null`,
  );
}

/** Duplicates that a person saw when choosing or creating the customer of a contact are not reported again. */
async function acceptDuplicates(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update deciding s set ${IGNORED('d.decided_by')}
     from evidence e, ledger.decisions d
     where e.n = s.n and s.verdict = 'review' and s.reason = 'DUPLICATE' and d.scope = $1 and d.kind = 'contact'
       and d.subject = s.source_id and d.choice in ('use', 'create') and d.applied_at is not null and d.undone_at is null
       and not exists (select from jsonb_each(e.customers) c
         where c.key is distinct from s.record_id and c.key is distinct from d.record_id and not d.customers ? c.key)`,
    [run.scope],
  );
}

/** SQL: run `u` reads every contact that the run of decision `d` has read, if it still exists and that run's sync still selects it. */
const READS_THE_SAME = `(${FILTER_OF('u')} is null or exists (select from ledger.runs other
  where other.id = d.run_id and (other.sync = u.sync or ${FILTER_OF('other')} = ${FILTER_OF('u')})))`;

/**
 * Decisions that were made while the run was reading wait for the next run instead of lapsing; so do decisions about contacts that
 * the run does not read.
 */
async function keepOutcome(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.decisions d set applied_at = coalesce(d.applied_at, clock_timestamp()),
       applied_by = coalesce(d.applied_by, $1)
     from decided j where j.id = d.id and j.lapse is null`,
    [run.id],
  );
  const lapsed = await db.query<{ contact: string; customer: string; because: string }>(
    `update ledger.decisions d set lapsed_at = clock_timestamp(), lapsed_because = j.lapse
     from decided j join ledger.runs u on u.id = $1
     where j.id = d.id and j.lapse is not null and d.decided_at < u.created_at
       and (j.n is not null or u.scan is distinct from 'unproven' and ${READS_THE_SAME})
     returning d.subject as contact, d.record_id as customer, d.lapsed_because as because`,
    [run.id],
  );
  const missing = lapsed.rows.filter(({ because }) => because === 'record missing');
  for (const { contact, customer } of missing.slice(0, MOST_NAMED)) {
    const why = `customer ${customer}, which was chosen for it, is not in the list`;
    await addNote(db, run.id, `contact ${contact} stays in review: ${why}`);
  }
  await db.query(
    `insert into ledger.evidence (run_id, n, customers, written)
     select $1, e.n, e.customers, e.written from evidence e join deciding s on s.n = e.n where s.verdict = 'review'`,
    [run.id],
  );
}
