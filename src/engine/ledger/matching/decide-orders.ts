/**
 * Decides every row that has its customer and its key, before the first order is sent: its order exists, will be created
 * or updated, or needs a person. One pass over the rows of the run (`s`) and the orders of its baseline (`k`).
 */
import type { EXISTING } from '../../../settings/schema-sync.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { prepareSetWork } from '../match-index.ts';
import { addNote, type Run } from '../runs.ts';
import { planRows, settleRows, unplanRows } from '../transitions.ts';
import { ARRIVED, MAY_EXIST } from '../unsettled.ts';
import { IS_CREATION_DECIDED_SINCE, OVERWRITTEN } from './apply-order-decisions.ts';
import { contentDiffers, differ, differences, HIDDEN_AMOUNTS, hides, WRITTEN } from './differences.ts';
import { keyScopeOf } from './order-keys.ts';
import { leaveOutUnshown } from './shown-writes.ts';
import { CUSTOMER, IS_SETTLED, ORDERS, STAGED } from './staged-orders.ts';

export interface Planned {
  /** Rows to send, by action. */
  readonly create: number;
  readonly update: number;
  /** Rows that stay undecided: without a customer, and with a key that another load holds. */
  readonly withoutCustomer: number;
  readonly waiting: number;
}

/** `isWhole`: an order missing from the list does not exist. */
export interface Deciding {
  readonly existing: (typeof EXISTING)[number];
  readonly isWhole: boolean;
}

/**
 * Decides; run it in one transaction; safe to repeat. Rows without a customer, or whose key another load holds, stay
 * undecided. A bound run leaves out what was not shown.
 */
export async function decideOrders(db: Queryable, run: Run, { existing, isWhole }: Deciding): Promise<Planned> {
  await findInvisible(db, run);
  await prepareSetWork(db, run.id);
  await db.query(DECIDE, [run.id, keyScopeOf(run), existing, isWhole, run.scope]);
  const { id } = run;
  const hidden = await db.query(`select from decided where facts ? 'hidesAmount' limit 1`);
  if (hidden.rowCount !== 0) await addNote(db, id, HIDDEN_AMOUNTS);
  await settleRows(db, id, {
    sql: 'select n, verdict, nullif(fate, verdict) as reason, facts, record_id from decided where verdict is not null',
  });
  await planRows(db, id, {
    sql: `select n, fate as action, record_id, null::jsonb as fields, was from decided where fate in ('create', 'update')`,
  });
  if (run.isBound) await leaveOutUnshown(db, run);
  const counted = await db.query<Planned>(
    `with open as (
       select count(*) filter (where action = 'create') as create, count(*) filter (where action = 'update') as update
       from ledger.plans p
       where run_id = $1 and not exists (select from ledger.verdicts v where v.run_id = $1 and v.n = p.n)
     )
     select open.create::int, open.update::int, (count(*) filter (where not d.has_customer))::int as "withoutCustomer",
       (count(*) filter (where d.has_customer))::int as waiting
     from open left join decided d on d.fate is null and d.n is not null group by 1, 2`,
    [id],
  );
  await db.query('drop table invisible, decided');
  return counted.rows[0] ?? { create: 0, update: 0, withoutCustomer: 0, waiting: 0 };
}

/**
 * Orders that a load has sent and no list has shown: those of other loads, and those that this load or an ended one sent,
 * got an acknowledgement for, and never settled. Sending them again could create duplicates that no list shows. They are
 * few, so they are looked up one by one before `prepareSetWork` disables nested loops.
 */
async function findInvisible(db: Queryable, run: Run): Promise<void> {
  await db.query(
    `create temp table invisible on commit drop as
     select distinct on (client_id, label) * from (
       select ${CUSTOMER} as client_id, i.label, v.reason, v.facts, v.run_id, v.at
       from ledger.verdicts v join ledger.runs u on u.id = v.run_id and u.scope = $2 and u.job = 'orders'
         join ${ORDERS} on i.run_id = v.run_id and i.n = v.n
       where (v.reason in ${MAY_EXIST} or v.reason = 'DECIDED_IGNORE' and v.facts->>'was' in ${MAY_EXIST}) and v.run_id <> $1
       union all select ${CUSTOMER}, i.label, 'NOT_IN_LIST', a.facts, a.run_id, a.at
       from ledger.runs u join ledger.attempts a on a.run_id = u.id and a.outcome = 'acked' and a.action = 'create'
         join ${ORDERS} on i.run_id = a.run_id and i.n = a.n
         left join ledger.verdicts v on v.run_id = a.run_id and v.n = a.n
       where u.scope = $2 and u.job = 'orders' and (u.id = $1 or u.status in ('failed', 'cancelled'))
         and (v.n is null or v.reason = 'ORDER_IN_ANOTHER_LOAD')) o
     order by client_id, label, at desc`,
    [run.id, run.scope],
  );
  await db.query('analyze invisible');
}

/**
 * SQL: order `k` is that of a row of a load, of `which` and with a verdict of `verdicts`. `offset 0`: each step is looked up by an index,
 * because joins read whole tables here.
 */
const IS_OF_LOAD = (
  which: string,
  verdicts: string,
) => `exists (select from ledger.inputs i where i.label = s.label and i.cells is not null and ${which}
  and exists (select from ledger.runs u where u.id = i.run_id and u.scope = $5 and u.job = 'orders' offset 0)
  and exists (select from ledger.verdicts v where v.run_id = i.run_id and v.n = i.n and v.record_id = k.record_id and ${verdicts} offset 0) offset 0)`;

/**
 * SQL: order `k` is the one that row `s` names, and the service spells its label otherwise: this load has sent the row before, and found
 * no such order then, or an earlier load has found it.
 */
const IS_KNOWN = `(exists (select from ledger.attempts a where a.run_id = $1 and a.n = s.n and a.action = 'create' offset 0)
  or ${IS_OF_LOAD('true', `(v.verdict in ('created', 'updated', 'existing') or v.reason = 'CONTENT_DIFFERS')`)})`;

/** SQL: the rows that this load has sent before it was opened again, each with its last attempt. */
const SENT_BEFORE = `select distinct on (a.n) a.n, a.action, a.outcome from ledger.attempts a where a.run_id = $1 order by a.n, a.id desc`;

/** SQL: what the attempt `b` of row `s` has made of order `k`, as a read after the sends would settle it; null if something else made it. */
const MADE_BEFORE = `case
  when b.action = 'update' then case when not ${differ(WRITTEN)} then 'updated' end
  when b.action is null or ${IS_OF_LOAD('i.run_id <> $1', `v.verdict = 'created'`)} then null
  when ${differ(WRITTEN)} then 'CONTENT_DIFFERS' else 'created' end`;

/**
 * An update sends the row's values; what the order holds beside them is stored, in case the service empties it. `other`: the service
 * spells the labels of the orders in different ways, such as abc and ABC, so they are no copies of one order.
 */
const DECIDE = `create temp table decided on commit drop as
  with staged as (${STAGED}), doubled as (
    select client_id, label, (array_agg(record_id order by length(record_id), record_id))[1:10] as ids,
      case when count(distinct coalesce(name, label)) > 1
        then (array_agg(coalesce(name, label) order by length(record_id), record_id))[1] end as other
    from ledger.records where run_id = $1 and kind = 'order' and label is not null
    group by client_id, label having count(*) > 1
  )
  select s.n, f.fate, s.client_id is not null as has_customer,
    case when f.fate = 'UNLISTED' then i.facts->>'id' when d.ids is null then k.record_id end as record_id,
    case f.fate when 'update' then k.fields end as was,
    case when f.fate is null or f.fate in ('create', 'update') then null when f.fate in ('created', 'updated') then f.fate
      when f.fate = 'ORDER_EXISTS' then 'rejected'
      when f.fate in ('EXISTS', 'UNLISTED', 'DECIDED_IGNORE') then 'existing' else 'review' end as verdict,
    case f.fate
      when 'DUPLICATE' then jsonb_build_object('before', b.action is distinct from 'create', 'what', 'order', 'ids', d.ids)
      when 'OTHER_LETTERS' then jsonb_build_object('order', coalesce(k.record_id, d.ids[1]), 'name', coalesce(k.name, d.other))
      when 'EXISTS' then jsonb_strip_nulls(jsonb_build_object('order', k.record_id,
        'hidesAmount', case when ${hides(['amount'])} then true end))
      when 'LIST_PARTIAL' then jsonb_build_object('what', 'order')
      when 'DECIDED_IGNORE' then i.facts
      when 'CONTENT_DIFFERS' then ${contentDiffers('created', 'k.record_id')}
      when i.reason then jsonb_strip_nulls(jsonb_build_object('earlier', i.run_id, 'what', 'order', 'id', i.facts->'id', 'ids', i.facts->'ids'))
      else case when f.fate in ('ORDER_EXISTS', 'DIFFERS')
        then jsonb_strip_nulls(jsonb_build_object('order', k.record_id, 'differences', ${differences()})) end
    end as facts
  from staged s
    left join doubled d on d.client_id = s.client_id and d.label = s.label
    left join ledger.records k on k.run_id = $1 and k.kind = 'order' and k.client_id = s.client_id and k.label = s.label
      and d.ids is null
    left join (${OVERWRITTEN}) w on w.n = s.n and w.record_id = k.record_id
    left join (${SENT_BEFORE}) b on b.n = s.n and b.outcome in ${ARRIVED}
    left join invisible i on i.client_id = s.client_id and i.label = s.label and not ${IS_CREATION_DECIDED_SINCE('s.n', 'i.at')}
    left join ledger.order_keys o on o.scope = $2 and o.client_id = s.client_id and o.label = s.label and o.run_id = $1
    cross join lateral (select case when k.record_id is not null then ${MADE_BEFORE} end as fate offset 0) m
    cross join lateral (select case
      when d.other is not null then 'OTHER_LETTERS'
      when d.ids is not null and i.reason is distinct from 'NOT_RECOGNISED' then 'DUPLICATE'
      when k.name is not null and not ${IS_KNOWN} then 'OTHER_LETTERS'
      when m.fate is not null then m.fate
      when k.record_id is not null then case when $3 = 'fail' then 'ORDER_EXISTS' when not ${differ()} and not ($3 = 'update' and ${hides()}) then 'EXISTS'
        when $3 = 'skip' and w.n is null then 'DIFFERS' else 'update' end
      when i.reason is not null then i.reason
      when o.run_id is null then null
      when not $4::boolean and not ${IS_CREATION_DECIDED_SINCE('s.n', `'-infinity'`)} then 'LIST_PARTIAL'
      else 'create' end as fate) f`;

/** Removes plans that were not sent: the rows are decided again later from the then current data. */
export async function undecide(db: Queryable, { id }: Run): Promise<void> {
  await unplanRows(db, id, { sql: 'select n from ledger.plans where run_id = $1' });
}

/** A dry run reports what it would have done; for an order without a customer it would have created the customer first. */
export async function planOnly(db: Queryable, { id }: Run): Promise<void> {
  await settleRows(db, id, {
    sql: `select i.n, case p.action when 'update' then 'updated' else 'created' end as verdict, 'PLANNED' as reason,
        case when ${CUSTOMER} is null then '{"createsCustomer": true}'::jsonb else '{}' end as facts, p.record_id
      from ${ORDERS} left join ledger.plans p on p.run_id = i.run_id and p.n = i.n
      where i.run_id = $1 and not ${IS_SETTLED}`,
  });
}
