/**
 * Settles what was sent, from one read of the orders: each row is found by its key, gets the id that create did not
 * return, and is compared with the order.
 */
import { absenceAfterMs } from '../../../base/absence.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { addNote, type Run } from '../runs.ts';
import { IS_LAST_UPDATE, type ReadBack, type Settled, settleSent } from '../settling.ts';
import { reviseRows, settleRows } from '../transitions.ts';
import { contentDiffers, differ, HIDDEN_AMOUNTS, LOST, WRITTEN } from './differences.ts';
import { keyScopeOf } from './order-keys.ts';
import { spelling } from './order-records.ts';
import { CUSTOMER, ORDERS } from './staged-orders.ts';

/** SQL: order `x` of the customer of row `m` has the row's amount, which a service may round, or a part of its label. */
const MAY_BE = `(coalesce(abs(x.amount::numeric - m.amount::numeric) < 1, true)
  or strpos(lower(m.label), lower(x.label)) > 0 or strpos(lower(x.label), lower(m.label)) > 0)`;

/** Settles; run it in one transaction; safe to repeat with the same or a later read. */
export async function settleOrders(db: Queryable, run: Run, options: ReadBack): Promise<Settled> {
  const { pass } = options;
  const settled = await settleSent(db, run, options, {
    resource: 'orders',
    // An order with the customer and the label of a row of an unfinished load is that row's. `is_named`: it has the label of some row.
    strangers: `select k.record_id, k.client_id, k.label, k.fields->>'amount' as amount, exists (
        select from ledger.inputs o join ledger.runs u on u.id = o.run_id where o.label = k.label and u.scope = $6) as is_named
      from ledger.records k where k.run_id = $1 and k.kind = 'order' and k.last_pass = $5 and k.first_pass > 0
        and not exists (select from ledger.order_keys h where h.scope = $7 and h.client_id = k.client_id and h.label = k.label)`,
    candidates: `select unnest(d.ids) from doubled d where d.client_id = m.client_id and ${isShownAs('m.label')}
      union all select x.record_id from strangers x where x.label = m.label
        or (not x.is_named and coalesce(x.client_id = m.client_id, true) and ${MAY_BE})`,
    values: [pass, run.scope, keyScopeOf(run)],
    async settleFound() {
      await findDoubled(db, run, pass);
      await settleUpdated(db, run, options);
      await settleCreated(db, run, pass);
      await noteAmounts(db, run, pass);
      await reviseSettled(db, run, pass);
    },
  });
  await db.query('drop table sent, doubled');
  return settled;
}

/** SQL: the orders that the read has shown. */
const SHOWN = `ledger.records k where k.run_id = $1 and k.kind = 'order' and k.last_pass = $2`;

/** SQL: the service may show this label as that of the orders `d`: abc and ABC as ABC, or 0015 and 15 as the number 15. */
const isShownAs = (label: string): string =>
  `(${spelling(label)} = ${spelling('d.label')} or (d.is_number and ltrim(${label}, '0') = ltrim(d.label, '0')))`;

/** `is_shared`: one of the orders may be that of another row, whose label the service shows in the same way. */
async function findDoubled(db: Queryable, run: Run, pass: number): Promise<void> {
  await db.query(
    `create temp table doubled on commit drop as
     select d.*, exists (select from ledger.order_keys h where h.scope = $3 and h.run_id = $1 and h.client_id = d.client_id
       and h.label <> d.label and ${isShownAs('h.label')}
       and not exists (select from ${SHOWN} and k.client_id = h.client_id and k.label = h.label)) as is_shared
     from (select client_id, label, coalesce(bool_or(is_number), false) as is_number,
         (array_agg(record_id order by length(record_id), record_id))[1:10] as ids
       from ${SHOWN} and label is not null group by client_id, label having count(*) > 1) d`,
    [run.id, pass, keyScopeOf(run)],
  );
  await db.query('analyze doubled');
}

/** Settles updates by the values that the list shows, after the time the list may lag. */
async function settleUpdated(db: Queryable, run: Run, options: ReadBack): Promise<void> {
  await settleRows(db, run.id, {
    sql: `select s.n, case when f.reason is null then 'updated' else 'review' end as verdict, f.reason,
        case f.reason when 'ORDER_GONE' then jsonb_build_object('updated', s.state = 'acked', 'order', s.record_id)
          when 'UPDATE_UNCONFIRMED' then jsonb_build_object('order', s.record_id, 'sends', s.sends, 'answer', s.answer)
          when 'CONTENT_DIFFERS' then ${contentDiffers('updated', 's.record_id', `coalesce(${LOST}, '[]')`)} end as facts, s.record_id
      from (select t.n, t.state, t.since, t.sends, t.facts->>'answer' as answer, p.record_id, coalesce(p.fields, i.fields) as fields, p.was - array(
            select jsonb_object_keys(coalesce(p.fields, i.fields))) as kept from sent t
          join ledger.plans p on p.run_id = $1 and p.n = t.n join ledger.inputs i on i.run_id = $1 and i.n = t.n
          where ${IS_LAST_UPDATE('t')}) s
        left join (select * from ${SHOWN}) k on k.record_id = s.record_id
        cross join lateral (select case when k.record_id is null then 'ORDER_GONE'
          when s.state = 'unknown' and ${differ(WRITTEN)} then 'UPDATE_UNCONFIRMED'
          when ${differ(WRITTEN)} or ${LOST} is not null then 'CONTENT_DIFFERS' end as reason offset 0) f
      where f.reason is null or s.since + $4 * interval '1 ms' <= $3`,
    values: [options.pass, options.readAt, absenceAfterMs(options.settleMs)],
  });
}

/** SQL: the verdicts of created rows `s (n, client_id, label, fields)`, by the orders of the read. */
const FOUND = (rows: string) => `
  select s.n, case when f.reason is null then 'created' else 'review' end as verdict,
    coalesce(f.reason, case when not k.is_listed then 'UNLISTED' end) as reason,
    case when f.reason = 'NOT_RECOGNISED' then jsonb_build_object('what', 'order', 'ids', d.ids)
      when f.reason = 'DUPLICATE' then jsonb_build_object('what', 'order', 'ids', d.ids)
      when f.reason = 'CONTENT_DIFFERS' then ${contentDiffers('created', 'k.record_id')}
        || case when k.is_listed then '{}' else '{"isUnlisted": true}' end::jsonb
      when not k.is_listed then jsonb_build_object('what', 'order', 'id', k.record_id) end as facts,
    case when f.reason is distinct from 'NOT_RECOGNISED' then k.record_id end as record_id
  from (${rows}) s join (select * from ${SHOWN}) k on k.client_id = s.client_id and k.label = s.label
    left join doubled d on d.client_id = k.client_id and d.label = k.label
    -- offset 0: compared once for each row
    cross join lateral (select case when d.is_shared then 'NOT_RECOGNISED' when d.ids is not null then 'DUPLICATE'
      when ${differ(WRITTEN)} then 'CONTENT_DIFFERS' end as reason offset 0) f
  where d.ids is null or k.record_id = d.ids[1]`;

async function settleCreated(db: Queryable, run: Run, pass: number): Promise<void> {
  const rows = `select i.n, ${CUSTOMER} as client_id, i.label, i.fields
    from sent t join ${ORDERS} on i.run_id = $1 and i.n = t.n where t.action = 'create'`;
  await settleRows(db, run.id, { sql: FOUND(rows), values: [pass] });
}

/** Amounts that the service does not show, or in a form that cannot be read, were not compared. */
async function noteAmounts(db: Queryable, run: Run, pass: number): Promise<void> {
  const silent = await db.query(
    `with silent as materialized (select k.label from ${SHOWN} and not k.fields ? 'amount')
     select from silent join ledger.inputs i on i.run_id = $1 and i.label = silent.label where i.fields ? 'amount' limit 1`,
    [run.id, pass],
  );
  if (silent.rowCount !== 0) await addNote(db, run.id, HIDDEN_AMOUNTS);
}

/**
 * Checks settled rows again: an order that was given up may have appeared later than the service promised, and a second
 * order of a row may have appeared late.
 */
async function reviseSettled(db: Queryable, run: Run, pass: number): Promise<void> {
  const settled = (only: string) => `select i.n, ${CUSTOMER} as client_id, i.label, i.fields, v.reason as was
    from ledger.verdicts v join ledger.plans p on p.run_id = v.run_id and p.n = v.n and p.action = 'create'
      join ${ORDERS} on i.run_id = v.run_id and i.n = v.n
    where v.run_id = $1 and ${only}`;
  const givenUp = settled(`v.reason in ('GAVE_UP', 'NOT_RECOGNISED', 'NOT_IN_LIST', 'LOST')`);
  const found = `select * from (${FOUND(givenUp)}) found where reason is distinct from 'NOT_RECOGNISED'`;
  await reviseRows(db, run.id, { sql: found, values: [pass] });
  const doubled = settled(`(v.verdict = 'created' or v.reason in ('CONTENT_DIFFERS', 'DUPLICATE'))`);
  await reviseRows(db, run.id, {
    sql: `select s.n, 'review' as verdict, 'DUPLICATE' as reason, jsonb_build_object('what', 'order', 'ids', d.ids) as facts,
        coalesce(v.record_id, d.ids[1]) as record_id
      from doubled d join (${doubled}) s on s.client_id = d.client_id and s.label = d.label
        join ledger.verdicts v on v.run_id = $1 and v.n = s.n
      where not d.is_shared and v.facts->'ids' is distinct from to_jsonb(d.ids)`,
  });
}
