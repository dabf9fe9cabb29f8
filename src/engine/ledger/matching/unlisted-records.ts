/** Known records that a read of the list did not show, so that they are read by their ids. */
import type pg from 'pg';
import type { Queryable } from '../../../storage/queryable.ts';
import { inTransaction } from '../../../storage/transaction.ts';
import { prepareSetWork } from '../match-index.ts';
import type { Run } from '../runs.ts';
import { settleRows } from '../transitions.ts';
import { IS_CREATION_DECIDED_SINCE } from './apply-order-decisions.ts';
import { CONTACT_LINK } from './contact-links.ts';
import { CREATED_BY_LOADS, KNOWN_CUSTOMERS } from './missing-customers.ts';
import type { SeenOrder } from './order-records.ts';
import { lostLinks, type Sightings } from './recall-contacts.ts';
import { EARLIER, STAGED } from './staged-orders.ts';

/** SQL: no read of the run has shown the record. */
const IS_UNREAD = (kind: 'customer' | 'order', id: string) =>
  `not exists (select from ledger.records k where k.run_id = $1 and k.kind = '${kind}' and k.record_id = ${id})`;

/** The ids that a query over all rows of the run gives. */
async function idsOf(
  pool: pg.Pool,
  runId: string,
  text: string,
  values: readonly unknown[] = [],
): Promise<readonly string[]> {
  const found = await inTransaction(pool, async (db) => {
    await prepareSetWork(db, runId);
    return db.query<{ id: string }>(text, [runId, ...values]);
  });
  return found.rows.map(({ id }) => id);
}

/**
 * Orders that an earlier load has created or found, of undecided rows that the list shows none for: it may hide them, such as those
 * that are cancelled.
 */
export async function unlistedOrders(pool: pg.Pool, run: Run): Promise<readonly string[]> {
  return idsOf(
    pool,
    run.id,
    `with missing as materialized (
       select s.client_id, s.label from (${STAGED}) s left join ledger.records k
         on k.run_id = $1 and k.kind = 'order' and k.client_id = s.client_id and k.label = s.label
       where k.record_id is null and s.client_id is not null
     )
     select distinct e.record_id as id from missing s cross join lateral ${EARLIER('e.client_id = s.client_id')} e
     where e.record_id is not null and ${IS_UNREAD('order', 'e.record_id')}`,
    [run.scope],
  );
}

/**
 * Settles rows whose order an earlier load has created or found, and that has another customer or label now: they would be created
 * again. One that a person has ignored stays so. `found`: the orders of `unlistedOrders` that exist; those that are a row's own are stored.
 */
export async function settleChanged(
  db: Queryable,
  run: Run,
  found: readonly Pick<SeenOrder, 'recordId' | 'clientId' | 'label'>[],
): Promise<void> {
  await settleRows(db, run.id, {
    sql: `select distinct on (s.n) s.n, e.record_id,
        case when is_ignored then 'existing' else 'review' end as verdict, case when is_ignored then e.reason else 'ORDER_CHANGED' end as reason,
        case when is_ignored then e.facts else
          jsonb_strip_nulls(jsonb_build_object('earlier', e.run_id, 'order', e.record_id, 'customer', f."clientId", 'name', f.label)) end as facts
      from (${STAGED}) s cross join lateral ${EARLIER('e.client_id = s.client_id')} e
        join json_to_recordset($3) f ("recordId" text, "clientId" text, label text) on f."recordId" = e.record_id
        cross join lateral (select coalesce(e.reason = 'DECIDED_IGNORE' and e.facts->>'was' = 'ORDER_CHANGED', false) as is_ignored) i
      where ${IS_UNREAD('order', 'e.record_id')} and not ${IS_CREATION_DECIDED_SINCE('s.n', 'e.at')}
      order by s.n, e.at desc`,
    values: [run.scope, JSON.stringify(found.map(({ recordId, clientId, label }) => ({ recordId, clientId, label })))],
  });
}

/** Orders that the run updates, and that the read-back `pass` did not show. */
export async function unlistedUpdates(pool: pg.Pool, runId: string, pass: number): Promise<readonly string[]> {
  return idsOf(
    pool,
    runId,
    `select p.record_id as id from ledger.plans p where p.run_id = $1 and p.action = 'update'
       and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = p.n)
       and not exists (select from ledger.records k
         where k.run_id = $1 and k.kind = 'order' and k.record_id = p.record_id and k.last_pass = $2)`,
    [pass],
  );
}

/**
 * Customers that undecided rows of a load name by their ids, or by an e-mail by which an earlier run knows one. One `not exists` for
 * each form, so that both are hash joins.
 */
export async function unlistedNamed(pool: pg.Pool, run: Run): Promise<readonly string[]> {
  const unlisted = (id: string) => IS_UNREAD('customer', id);
  return idsOf(
    pool,
    run.id,
    `with named as (${STAGED}), missing as materialized (
       select s.label, s.email from named s left join ledger.records k on k.run_id = $1 and k.kind = 'customer' and k.email = s.email
       where s.client_id is null and s.email is not null and k.record_id is null
     )
     select distinct client_id as id from named s
     where client_id is not null and ${unlisted('s.client_id')} and ${unlisted(`ltrim(s.client_id, '0')`)}
     union select e.client_id from missing s cross join lateral ${EARLIER('e.email = s.email')} e
     where e.client_id is not null and ${unlisted('e.client_id')}
     union select e.record_id from ${KNOWN_CUSTOMERS} e where exists (select from missing) and ${unlisted('e.record_id')}`,
    [run.scope],
  );
}

/** Customers that loads have created with the e-mail of a contact that has none; the list may show them with another one. */
export async function createdForContacts(pool: pg.Pool, run: Run): Promise<readonly string[]> {
  const emails = `select distinct 'email ' || i.email as called from ledger.inputs i where i.run_id = $1
    and not exists (select from ledger.links l where l.scope = $2 and l.kind = '${CONTACT_LINK}' and l.source_id = i.source_id)`;
  return idsOf(pool, run.id, `select record_id as id from (${CREATED_BY_LOADS(emails)}) e`, [run.scope]);
}

/** Customers that contacts of the list are linked with. */
export async function unlistedCustomers(pool: pg.Pool, run: Run, sightings: Sightings): Promise<readonly string[]> {
  const found = await idsOf(
    pool,
    run.id,
    `select l.record_id as id from ledger.inputs i join ledger.links l on l.scope = $2 and l.kind = $3 and l.source_id = i.source_id
     where i.run_id = $1 and ${IS_UNREAD('customer', 'l.record_id')}`,
    [run.scope, CONTACT_LINK],
  );
  const unlisted = new Set(found);
  if (sightings.lost > 0)
    for await (const links of lostLinks(pool, run, sightings)) for (const { customer } of links) unlisted.add(customer);
  return [...unlisted];
}
