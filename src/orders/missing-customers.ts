/**
 * Customers that a load needs and that are not there: created by a run of their own, which writes the account's customers
 * as a contact sync does, so that one of them waits for the other and nobody is created twice.
 */

import { unsettledForMs } from '../engine/ledger/horizon.ts';
import { oweForEarlierCustomers } from '../engine/ledger/matching/customer-levels.ts';
import { prepareSetWork } from '../engine/ledger/records.ts';
import { type NewRun, type Queryable, type Run, startRun } from '../engine/ledger/runs.ts';

/** SQL: what a row's customer is called in the run that creates it: one customer for all rows that say this. */
const NAME = (row: string) =>
  `coalesce('email ' || ${row}.email, 'phone ' || ${row}.phone, 'name ' || ${row}.name || coalesce(', ' || ${row}.org, ''))`;

/** What a contact sync writes, too. */
export const CUSTOMERS = 'customers';

export type Creating =
  /** A run creates them. */
  | { readonly status: 'started'; readonly run: Run; readonly customers: number }
  /** Another run writes the account's customers at this moment. */
  | { readonly status: 'busy'; readonly run: Run }
  /** Another run has written customers since they were read: who is missing has to be read again. */
  | { readonly status: 'stale' };

/** How many customers the rows that have none would need. */
export async function countMissing(db: Queryable, run: Run): Promise<number> {
  const counted = await db.query<{ n: number }>(
    `select count(distinct ${NAME('s')})::int as n from ledger.rows s
     where s.run_id = $1 and (s.state = 'staged' or s.reason = 'PLANNED') and s.client_id is null`,
    [run.id],
  );
  return counted.rows[0]?.n ?? 0;
}

/**
 * Starts the run that creates the customers of all rows that have none, to be called in one transaction that is rolled
 * back unless it answers `started`. Rows that may turn out to mean one of these (a phone without an e-mail that another
 * row gives with one) wait for what it finds. `readAt`: when the customers were read, on the database's clock.
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
  const begun = await startRun(db, {
    sync: creatorSync(run),
    job: 'customers',
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
  const others = await db.query(
    `select 1 from ledger.runs where scope = $1 and resource = $2 and id <> $3 and not dry_run and ended_at >= $4 limit 1`,
    [run.scope, CUSTOMERS, creator.id, readAt],
  );
  if (others.rowCount !== 0) return { status: 'stale' };
  // One that was ended while they were read may have had a call on its way that they do not show.
  if ((await unsettledForMs(db, creator, settleMs)) > 0) return { status: 'stale' };
  const customers = await stageMissing(db, run, creator.id);
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
    `creates customers for the orders of ${run.id}`,
  ]);
  return { status: 'started', run: creator, customers };
}

/** The name that runs creating customers for a load go by. */
export function creatorSync({ sync }: Pick<Run, 'sync'>): string {
  return sync.replace(/^orders:/, 'customers:');
}

/** Puts the customers that were created beside those that were read, to be found like them. */
export async function takeCreated(db: Queryable, run: Run, creatorId: string): Promise<void> {
  await db.query(
    `insert into ledger.records (run_id, kind, record_id, email, phone, name, org, fields, first_pass, last_pass)
     select $1, 'customer', record_id, email, phone, name, org, fields, 0, 0 from ledger.rows
     where run_id = $2 and record_id is not null and verdict = 'created' on conflict do nothing`,
    [run.id, creatorId],
  );
}

/** Rows whose customer was to be created and is not there after all: nobody to send an order for. */
export async function settleNotCreated(db: Queryable, run: Run, creatorId: string): Promise<void> {
  await db.query(
    `update ledger.rows s set state = 'settled', verdict = case c.verdict when 'rejected' then 'rejected' else 'review' end,
       reason = 'CUSTOMER_NOT_CREATED',
       detail = concat_ws(': ', format('its customer was not created (run %s)', c.run_id), c.reason, c.detail)
     from ledger.rows c
     where s.run_id = $1 and s.state = 'staged' and s.client_id is null
       and c.run_id = $2 and c.source_id = ${NAME('s')}`,
    [run.id, creatorId],
  );
}

async function stageMissing(db: Queryable, run: Run, creatorId: string): Promise<number> {
  await prepareSetWork(db, run.id);
  const staged = await db.query(
    `with missing as (
       select ${NAME('s')} as called, s.* from ledger.rows s
       where s.run_id = $1 and s.state = 'staged' and s.client_id is null
     ), chosen as (
       select distinct on (called) * from missing m
       where not (m.email is null and m.phone is not null
           and m.phone in (select phone from missing where email is not null and phone is not null))
         and not (m.email is null and m.phone is null
           and m.name in (select name from missing where coalesce(email, phone) is not null and name is not null))
       order by called, num_nulls(email, phone, name, org), n
     )
     insert into ledger.rows (run_id, source_id, n, label, email, phone, name, org, fields, state, action)
     select $2, called, n, coalesce(customer->>'full_name' || ' <' || (customer->>'email') || '>', customer->>'full_name',
       customer->>'email', customer->>'phone_number'), email, phone, name, org, customer, 'ready', 'create' from chosen`,
    [run.id, creatorId],
  );
  return staged.rowCount ?? 0;
}
