/**
 * Creates customers that a load needs and that do not exist. A separate run creates them and locks the account's customers
 * like a contact sync, so that the two wait for each other and no customer is created twice.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import { unsettledForMs } from '../baseline-wait.ts';
import { prepareSetWork } from '../match-index.ts';
import { type NewRun, type Run, startRun } from '../runs.ts';
import { settleRows } from '../transitions.ts';
import { IS_ACKED, MAY_EXIST, MAY_HAVE_ARRIVED } from '../unsettled.ts';
import { IS_CREATION_DECIDED_SINCE } from './apply-order-decisions.ts';
import { REBOUND_AT } from './check-links.ts';
import { CONTACT_LINK, NAMES_OF_CONTACT } from './contact-links.ts';
import { planFirst, planStaged } from './first-created.ts';
import { oweForEarlierCustomers } from './matching-keys.ts';
import { CUSTOMER, EARLIER, ORDERS, STAGED } from './staged-orders.ts';

/** SQL: the name of a row's customer in the run that creates it: all rows with the same name share one customer. */
const NAME = (row: string) =>
  `coalesce('email ' || ${row}.email, 'phone ' || ${row}.phone, 'name ' || ${row}.name || coalesce(', ' || ${row}.org, ''))`;

/**
 * SQL: the customers that loads of scope `$2` have created by one of the names that the SQL `called` gives. One `join lateral` for each
 * run: a hash join would read all inputs.
 */
export const CREATED_BY_LOADS = (called: string) => `
  select m.called, u.id as run_id, c.record_id, c.at
  from ledger.runs u cross join lateral (
      select i.source_id, v.record_id, v.at from ledger.inputs i join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
      where i.run_id = u.id and v.record_id is not null offset 0
    ) c join (${called}) m on m.called = c.source_id
  where u.scope = $2 and u.job = 'customers'`;

/** SQL: the customers that loads of scope `$2` have created, and those of the contacts with an e-mail, by the names `called` of undecided rows. */
export const KNOWN_CUSTOMERS = `(
  with missing as (select distinct ${NAME('s')} as called from (${STAGED}) s where s.client_id is null)
  ${CREATED_BY_LOADS('select * from missing')}
  union all select m.called, l.run_id, l.record_id, l.linked_at
  from ledger.links l join missing m on m.called = 'email ' || (l.contact->>'email')
  where l.scope = $2 and l.kind = '${CONTACT_LINK}')`;

/** The resource that a contact sync also writes. */
export const CUSTOMERS = 'customers';

export type Creating =
  /** A run creates them. */
  | { readonly status: 'started'; readonly run: Run }
  /** Another run is writing the account's customers. */
  | { readonly status: 'busy'; readonly run: Run }
  /** Another run has written customers since they were read: the missing customers have to be determined again. */
  | { readonly status: 'stale' };

/** How many customers would be created for the rows without one. */
export async function countMissing(db: Queryable, run: Run): Promise<number> {
  const counted = await db.query<{ n: number }>(
    `select count(distinct ${NAME('i')})::int as n from ${ORDERS}
       left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
     where i.run_id = $1 and ${CUSTOMER} is null and (v.n is null or v.reason = 'PLANNED')`,
    [run.id],
  );
  return counted.rows[0]?.n ?? 0;
}

/**
 * Starts the run that creates the customers of all rows that have none; run it in one transaction. It writes only if it
 * returns `started`. Rows that may refer to one of these customers (a phone without an e-mail that another row gives with
 * one) wait for the result. `readAt`: when the customers were read, on the database's clock.
 */
export async function createMissing(
  db: Queryable,
  run: Run,
  {
    readAt,
    settleMs,
    options,
  }: { readonly readAt: Date; readonly settleMs: number; readonly options: NewRun['options'] },
): Promise<Creating> {
  await db.query('savepoint before_creating');
  const begun = await startRun(db, {
    sync: creatorSync(run),
    type: 'customers',
    account: run.account,
    scope: run.scope,
    resource: CUSTOMERS,
    lane: run.lane,
    dryRun: false,
    options,
    phase: 'import-customers',
    partOf: run.id,
    title: `customers for ${run.title}`,
  });
  if (begun.status === 'busy') return begun;
  const creator = begun.run;
  if (await haveCustomersChanged(db, creator, readAt, settleMs)) {
    await db.query('rollback to savepoint before_creating');
    return { status: 'stale' };
  }
  const customers = await stageMissing(db, run, creator.id);
  await planFirst(db, creator, 'customers');
  await oweForEarlierCustomers(db, creator, settleMs);
  await db.query(
    `insert into ledger.records (run_id, kind, record_id, contact_id, email, phone, name, org, fields, first_pass, last_pass)
     select $2, kind, record_id, contact_id, email, phone, name, org, fields, 0, 0 from ledger.records
     where run_id = $1 and kind = 'customer'`,
    [run.id, creator.id],
  );
  await db.query('update ledger.runs set rows_seen = $2, notes = notes || to_jsonb($3::text) where id = $1', [
    creator.id,
    customers,
    `creates customers for the orders of run ${run.id}`,
  ]);
  return { status: 'started', run: creator };
}

/** A run that ended while the customers were read may have had a call in flight that the list does not show. */
async function haveCustomersChanged(db: Queryable, creator: Run, readAt: Date, settleMs: number): Promise<boolean> {
  const others = await db.query(
    `select 1 from ledger.runs where scope = $1 and resource = $2 and id <> $3 and not dry_run and ended_at >= $4 limit 1`,
    [creator.scope, CUSTOMERS, creator.id, readAt],
  );
  return others.rowCount !== 0 || (await unsettledForMs(db, creator, settleMs)) > 0;
}

/** The name of runs that create customers for a load. */
export function creatorSync({ sync }: Pick<Run, 'sync'>): string {
  return sync.replace(/^orders:/, 'customers:');
}

/** Adds the created customers to the customers that were read, so that both are found. */
export async function takeCreated(db: Queryable, run: Run, creatorId: string): Promise<void> {
  await db.query(
    `insert into ledger.records (run_id, kind, record_id, email, phone, name, org, fields, first_pass, last_pass)
     select $1, 'customer', v.record_id, i.email, i.phone, i.name, i.org, i.fields, 0, 0
     from ledger.verdicts v join ledger.inputs i on i.run_id = v.run_id and i.n = v.n
     where v.run_id = $2 and v.record_id is not null and v.verdict = 'created' on conflict do nothing`,
    [run.id, creatorId],
  );
}

/** Settles rows whose customer was not created, or may not have been: their order cannot be sent without a customer. */
export async function settleNotCreated(db: Queryable, run: Run, creatorId: string): Promise<void> {
  const creations = `select c.source_id, c.run_id, v.verdict, v.reason, v.facts, v.at,
      coalesce(v.reason in ${MAY_EXIST}, ${MAY_HAVE_ARRIVED('c.run_id', 'c.n')}) as may_exist
    from ledger.inputs c left join ledger.verdicts v on v.run_id = c.run_id and v.n = c.n where c.run_id = $2`;
  await settleRows(db, run.id, { sql: WITHOUT_CUSTOMER(creations), values: [creatorId] });
}

/**
 * Settles rows whose customer an earlier load or a contact sync has created, or may have, although no list shows it as theirs:
 * creating it again could create it twice, and its orders with it. A contact that is linked since has its customer. Returns how many.
 * Needs `takeUnlisted`.
 */
export function settleUnclear(db: Queryable, run: Run): Promise<number> {
  const creations = `select c.called as source_id, c.run_id, 'review' as verdict, e.reason, e.facts, true as may_exist, e.at
    from ledger.runs u cross join lateral (
        select n, reason, facts, at from ledger.verdicts where run_id = u.id and reason in ${MAY_EXIST}
        union all select p.n, null, null, u.ended_at from ledger.plans p
        where p.run_id = u.id and u.status in ('failed', 'cancelled') and ${IS_ACKED('u.id', 'p.n')}
          and not exists (select from ledger.verdicts v where v.run_id = u.id and v.n = p.n)
      ) e cross join lateral (
        select i.run_id, named.called from ledger.inputs i cross join lateral ${NAMES_OF_CONTACT('i')} named(called)
        where i.run_id = u.id and i.n = e.n and u.job = 'contacts'
          and not exists (select from ledger.links l where l.scope = $2 and l.kind = '${CONTACT_LINK}' and l.source_id = i.source_id)
        union all select run_id, source_id from ledger.inputs where run_id = u.id and n = e.n and u.job = 'customers'
      ) c
    where u.scope = $2 and u.resource = '${CUSTOMERS}' and c.called is not null`;
  // The customer of an order that an earlier load has, and those that a run has created or linked: people may have edited or merged them.
  const known = [
    `select ${NAME('s')}, e.run_id, 'review', null, jsonb_build_object('customer', e.client_id), true, e.at
     from (${STAGED}) s cross join lateral ${EARLIER(`${NAME('e')} = ${NAME('s')}`)} e
     where s.client_id is null and e.record_id is not null and e.client_id is not null and e.at > ${REBOUND_AT}`,
    `select called, run_id, 'review', null, jsonb_build_object('customer', record_id), true, at
     from ${KNOWN_CUSTOMERS} e where at > ${REBOUND_AT}`,
  ];
  const all = [creations, ...known].join(' union all ');
  const latest = `select distinct on (source_id) * from (${all}) every order by source_id, at desc`;
  const sql = `select * from (${WITHOUT_CUSTOMER(latest)}) r where not ${IS_CREATION_DECIDED_SINCE('r.n', 'r.at')}`;
  return settleRows(db, run.id, { sql, values: [run.scope] });
}

/** SQL: verdicts of the rows without a customer, by the customers `c` that loads were to create for them. */
const WITHOUT_CUSTOMER = (creations: string) => `
  select s.n, case c.verdict when 'rejected' then 'rejected' else 'review' end as verdict,
    case when c.may_exist then 'CUSTOMER_UNCLEAR' else 'CUSTOMER_NOT_CREATED' end as reason, null::text as record_id,
    jsonb_strip_nulls(jsonb_build_object('creator', c.run_id, 'id', c.facts->'id', 'customer', c.facts->'customer', 'because', case when c.reason is not null
      then jsonb_build_object('code', c.reason, 'facts', c.facts) end)) as facts, c.at
  from (${STAGED}) s join (${creations}) c on c.source_id = ${NAME('s')} where s.client_id is null`;

/** Adds the customers that the service returns by their ids, and that its list does not show, to the customers that were read. */
export async function takeUnlisted(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `insert into ledger.records (run_id, kind, record_id, email, phone, name, org, fields, first_pass, last_pass, is_listed)
     select distinct on (v.record_id) $1, 'customer', v.record_id, i.email, i.phone, i.name, i.org, coalesce(i.fields, '{}'), 0, 0, false
     from ledger.verdicts v join ledger.runs u on u.id = v.run_id and u.scope = $2 and u.resource = '${CUSTOMERS}'
       join ledger.inputs i on i.run_id = v.run_id and i.n = v.n
     where v.reason = 'UNLISTED' and v.record_id is not null order by v.record_id, v.at desc on conflict do nothing`,
    [run.id, run.scope],
  );
}

async function stageMissing(db: Queryable, run: Run, creatorId: string): Promise<number> {
  await prepareSetWork(db, run.id);
  await db.query(
    `with missing as (select ${NAME('s')} as called, s.* from (${STAGED}) s where s.client_id is null), chosen as (
       select distinct on (called) * from missing m
       where not (m.email is null and m.phone is not null
           and m.phone in (select phone from missing where email is not null and phone is not null))
         and not (m.email is null and m.phone is null
           and m.name in (select name from missing where coalesce(email, phone) is not null and name is not null))
       order by called, num_nulls(email, phone, name, org), n
     )
     insert into ledger.inputs (run_id, source_id, n, label, email, phone, name, org, fields)
     select $2, called, n, coalesce(customer->>'full_name' || ' <' || (customer->>'email') || '>', customer->>'full_name',
       customer->>'email', customer->>'phone_number'), email, phone, name, org, customer from chosen`,
    [run.id, creatorId],
  );
  return planStaged(db, creatorId, 'create');
}
