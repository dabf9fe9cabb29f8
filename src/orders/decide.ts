/**
 * Decides every row that has its customer and its key, before the first order is sent: it is there already, is to be
 * created, to be updated, or for a person. Set-based SQL over the run's rows (`s`) and the orders its baseline saw (`k`).
 */
import { prepareSetWork } from '../engine/ledger/records.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import { differences } from './differences.ts';
import { keyScopeOf } from './keys.ts';
import type { OrdersOptions } from './options.ts';

export interface Planned {
  readonly create: number;
  readonly update: number;
}

/** Decides; to be run in one transaction, safe to repeat. Rows without a customer, or whose key
 * another load holds, stay undecided. */
export async function decideOrders(
  db: Queryable,
  run: Run,
  { existing, isWhole }: Pick<OrdersOptions, 'existing'> & { readonly isWhole: boolean },
): Promise<Planned> {
  await prepareSetWork(db, run.id, 'records');
  await reviewTheDoubled(db, run);
  await reviewOtherLetters(db, run);
  await decideExisting(db, run, existing);
  await reviewTheInvisible(db, run);
  if (!isWhole) await reviewTheUnproven(db, run);
  await db.query(
    `update ledger.rows set state = 'ready', action = 'create'
     where run_id = $1 and state = 'staged' and exists (select 1 from ledger.order_keys k
       where k.scope = $2 and k.client_id = ledger.rows.client_id and k.label = ledger.rows.label and k.run_id = $1)`,
    [run.id, keyScopeOf(run)],
  );
  const planned = await db.query<Planned>(
    `select (count(*) filter (where action = 'create'))::int as create, (count(*) filter (where action = 'update'))::int as update
     from ledger.rows where run_id = $1 and state = 'ready'`,
    [run.id],
  );
  return planned.rows[0] ?? { create: 0, update: 0 };
}

/** Takes back what was decided and not sent: it is decided anew from what is there by then. What was planned stays on show. */
export async function undecide(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows set state = 'staged'
     where run_id = $1 and state = 'ready'`,
    [run.id],
  );
}

/** A dry run says what it would have done; an order without a customer would have been created after that. */
export async function planOnly(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows set state = 'settled', reason = 'PLANNED',
       verdict = case action when 'update' then 'updated' else 'created' end,
       detail = case when client_id is null then 'its customer would be created first' end
     where run_id = $1 and state in ('ready', 'staged')`,
    [run.id],
  );
}

/** There more than once already: whatever is done, a person has to look. */
async function reviewTheDoubled(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `with doubled as (
       select client_id, label, array_to_string((array_agg(record_id order by length(record_id), record_id))[1:10], ', ') as ids
       from ledger.records where run_id = $1 and label is not null group by client_id, label having count(*) > 1
     )
     update ledger.rows s set state = 'settled', verdict = 'review', reason = 'DUPLICATE',
       detail = format('it was there more than once before: orders %s; remove what is too many by hand', d.ids)
     from doubled d
     where s.run_id = $1 and s.state = 'staged' and s.client_id = d.client_id and s.label = d.label`,
    [run.id],
  );
}

/** There in other letters: the same order at a service that changes them, another one at a service that does not. */
async function reviewOtherLetters(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows s set state = 'settled', verdict = 'review', reason = 'OTHER_LETTERS', record_id = k.record_id,
       detail = format('order %s of this customer is there as %s: is it the same? If not, give this one another order_id',
         k.record_id, k.name)
     from ledger.records k
     where s.run_id = $1 and s.state = 'staged' and k.run_id = $1 and k.name is not null
       and k.client_id = s.client_id and k.label = s.label`,
    [run.id],
  );
}

/** Sent before and never seen in the list: sent again it would be there twice, and no list would tell. */
async function reviewTheInvisible(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `with invisible as (
       select distinct on (o.client_id, o.label) o.client_id, o.label, o.reason, o.run_id
       from ledger.rows o join ledger.runs u on u.id = o.run_id and u.scope = $2 and u.job = 'orders'
       where o.reason in ('NOT_RECOGNISED', 'NOT_IN_LIST') and o.run_id <> $1
     )
     update ledger.rows s set state = 'settled', verdict = 'review', reason = i.reason,
       detail = format('load %s may have sent it, and the list of orders cannot tell: look for it by hand', i.run_id)
     from invisible i
     where s.run_id = $1 and s.state = 'staged' and s.client_id = i.client_id and s.label = i.label`,
    [run.id, run.scope],
  );
}

/** The list may lack them: created because of that, they might be there twice. */
async function reviewTheUnproven(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `update ledger.rows s set state = 'settled', verdict = 'review', reason = 'LIST_PARTIAL',
       detail = 'it is not in the list of orders, and the list does not show everything: look for it by hand'
     from ledger.order_keys k where s.run_id = $1 and s.state = 'staged'
       and k.scope = $2 and k.client_id = s.client_id and k.label = s.label and k.run_id = $1`,
    [run.id, keyScopeOf(run)],
  );
}

async function decideExisting(db: Queryable, run: Run, existing: OrdersOptions['existing']): Promise<void> {
  // An update sends the order as it stands with what the row says over it: what the row leaves out is not emptied.
  await db.query(
    `with there as (
       select s.source_id, k.record_id, k.fields || s.fields as merged, ${differences()} as how,
         s.fields ? 'amount' and not k.fields ? 'amount' as hides_amount
       from ledger.rows s join ledger.records k on k.run_id = $1 and k.client_id = s.client_id and k.label = s.label
       where s.run_id = $1 and s.state = 'staged'
     )
     update ledger.rows s set record_id = there.record_id,
       state = case when how <> '' and $2 = 'update' then 'ready' else 'settled' end,
       action = case when how <> '' and $2 = 'update' then 'update' end,
       fields = case when how <> '' and $2 = 'update' then there.merged else s.fields end,
       verdict = case when $2 = 'fail' then 'rejected' when how = '' then 'existing' when $2 = 'skip' then 'review' end,
       reason = case when $2 = 'fail' then 'ORDER_EXISTS' when how = '' then 'EXISTS' when $2 = 'skip' then 'DIFFERS' end,
       detail = case when how = '' and hides_amount then format('order %s is there; its amount is not shown, and was not compared', there.record_id)
         when how = '' then format('order %s is there with this content', there.record_id)
         when $2 <> 'update' then format('order %s is there and differs: %s', there.record_id, how) end
     from there where s.run_id = $1 and s.source_id = there.source_id`,
    [run.id, existing],
  );
}
