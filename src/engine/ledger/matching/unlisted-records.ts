/** Known records that a read of the list did not show, so that they are read by their ids. */
import type pg from 'pg';
import { inTransaction } from '../../../storage/transaction.ts';
import { prepareSetWork } from '../match-index.ts';
import type { Run } from '../runs.ts';
import { CONTACT_LINK } from './contact-links.ts';
import { lostLinks, type Sightings } from './recall-contacts.ts';
import { CUSTOMER, ORDERS, STAGED } from './staged-orders.ts';

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

/** Orders of undecided rows that an earlier load has found by their ids only. */
export async function unlistedOrders(pool: pg.Pool, run: Run): Promise<readonly string[]> {
  return idsOf(
    pool,
    run.id,
    `with unlisted as materialized (
       select ${CUSTOMER} as client_id, i.label, v.record_id
       from ledger.verdicts v join ledger.runs u on u.id = v.run_id and u.scope = $2 and u.job = 'orders'
         join ${ORDERS} on i.run_id = v.run_id and i.n = v.n
       where v.reason = 'UNLISTED' and v.record_id is not null
     )
     select distinct o.record_id as id from unlisted o join (${STAGED}) s on s.client_id = o.client_id and s.label = o.label
     where not exists (select from ledger.records k where k.run_id = $1 and k.kind = 'order' and k.record_id = o.record_id)`,
    [run.scope],
  );
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

/** Customers that undecided rows of a load name by their ids. One `not exists` for each form, so that both are hash joins. */
export async function unlistedNamed(pool: pg.Pool, runId: string): Promise<readonly string[]> {
  const unlisted = (id: string) =>
    `not exists (select from ledger.records k where k.run_id = $1 and k.kind = 'customer' and k.record_id = ${id})`;
  return idsOf(
    pool,
    runId,
    `select distinct client_id as id from (${STAGED}) s
     where client_id is not null and ${unlisted('s.client_id')} and ${unlisted(`ltrim(s.client_id, '0')`)}`,
  );
}

/** Customers that contacts of the list are linked with. */
export async function unlistedCustomers(pool: pg.Pool, run: Run, sightings: Sightings): Promise<readonly string[]> {
  const found = await idsOf(
    pool,
    run.id,
    `select l.record_id as id from ledger.inputs i join ledger.links l on l.scope = $2 and l.kind = $3 and l.source_id = i.source_id
     where i.run_id = $1 and not exists (select from ledger.records k
       where k.run_id = $1 and k.kind = 'customer' and k.record_id = l.record_id)`,
    [run.scope, CONTACT_LINK],
  );
  const unlisted = new Set(found);
  if (sightings.lost > 0)
    for await (const links of lostLinks(pool, run, sightings)) for (const { customer } of links) unlisted.add(customer);
  return [...unlisted];
}
