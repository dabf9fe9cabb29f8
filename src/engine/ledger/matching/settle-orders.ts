/**
 * Settles what was sent, from one read of the orders: each row is found by its key, gets the id that create did not
 * return, and is compared with the order.
 */
import { absenceAfterMs } from '../../../base/absence.ts';
import type { Queryable } from '../../../storage/queryable.ts';
import { prepareSetWork } from '../records.ts';
import { MAX_SENDS } from '../rows.ts';
import type { Run } from '../runs.ts';
import {
  decideMissing,
  gatherSent,
  LACKS_MUCH,
  rejectRefused,
  repeatUpdates,
  type Settled,
  whatIsOpen,
} from '../settling.ts';
import { reviseRows, settleRows } from '../transitions.ts';
import { differ, differences, WRITTEN } from './differences.ts';
import { CUSTOMER, ORDERS } from './staged-orders.ts';

/** The result of one read of the orders. */
export interface OrdersRead {
  /** When the read began, on the database's clock. */
  readonly readAt: Date;
  /** Number of all orders; undefined if the list came in pages. */
  readonly records: number | undefined;
  /** True if an order missing from the list does not exist: its pages are proven, and its witnesses are in it. */
  readonly isWhole: boolean;
}

export interface SettleOptions extends OrdersRead {
  /** The pass of the read, as stored with the records. */
  readonly pass: number;
  /** Number of orders before the first write, if known. */
  readonly recordsBefore: number | undefined;
  /** How long the service may take to commit or show a request (assumptions A1 and A2 in docs/protocol.md). */
  readonly settleMs: number;
}

/** Settles; run it in one transaction; safe to repeat with the same or a later read. */
export async function settleOrders(db: Queryable, run: Run, options: SettleOptions): Promise<Settled> {
  await prepareSetWork(db, run.id);
  await gatherSent(db, run.id);
  await repeatUpdates(db, run.id);
  await findDoubled(db, run, options.pass);
  await settleUpdated(db, run, options);
  await settleCreated(db, run, options.pass);
  await reviseSettled(db, run, options.pass);
  if (options.isWhole) await rejectRefused(db, run.id);
  await judgeMissing(db, run, options);
  const open = await whatIsOpen(db, run.id, options.settleMs);
  await db.query('drop table sent, doubled');
  return open;
}

/** SQL: the orders that the read has shown. */
const SHOWN = `ledger.records k where k.run_id = $1 and k.kind = 'order' and k.last_pass = $2`;

async function findDoubled(db: Queryable, run: Run, pass: number): Promise<void> {
  await db.query(
    `create temp table doubled on commit drop as
     select client_id, label, (array_agg(record_id order by length(record_id), record_id))[1:10] as ids
     from ${SHOWN} and label is not null group by client_id, label having count(*) > 1`,
    [run.id, pass],
  );
  await db.query('analyze doubled');
}

/** Settles updates by the values that the list shows, after the time the list may lag. */
async function settleUpdated(db: Queryable, run: Run, options: SettleOptions): Promise<void> {
  await settleRows(db, run.id, {
    sql: `select s.n, case when k.record_id is null or ${differ(WRITTEN)} then 'review' else 'updated' end as verdict,
        case when k.record_id is null then 'ORDER_GONE' when ${differ(WRITTEN)} then 'CONTENT_DIFFERS' end as reason,
        case when k.record_id is null then jsonb_build_object('updated', true, 'order', s.record_id)
          when ${differ(WRITTEN)} then ${contentDiffers('updated', 's.record_id')} end as facts, s.record_id
      from (select t.n, t.since, p.record_id, coalesce(p.fields, i.fields) as fields from sent t
          join ledger.plans p on p.run_id = $1 and p.n = t.n join ledger.inputs i on i.run_id = $1 and i.n = t.n
          where t.action = 'update' and t.state = 'acked') s
        left join (select * from ${SHOWN}) k on k.record_id = s.record_id
      where s.since + $4 * interval '1 ms' <= $3 or (k.record_id is not null and not ${differ(WRITTEN)})`,
    values: [options.pass, options.readAt, absenceAfterMs(options.settleMs)],
  });
}

function contentDiffers(action: 'created' | 'updated', order: string): string {
  return `jsonb_build_object('order', ${order}, 'action', '${action}', 'differences', ${differences(WRITTEN)})`;
}

/** SQL: the verdicts of created rows `s (n, client_id, label, fields)`, by the orders of the read. */
const FOUND = (rows: string) => `
  select s.n, case when f.reason is null then 'created' else 'review' end as verdict, f.reason,
    case f.reason when 'DUPLICATE' then jsonb_build_object('what', 'order', 'ids', d.ids)
      when 'CONTENT_DIFFERS' then ${contentDiffers('created', 'k.record_id')} end as facts, k.record_id
  from (${rows}) s join (select * from ${SHOWN}) k on k.client_id = s.client_id and k.label = s.label
    left join doubled d on d.client_id = k.client_id and d.label = k.label
    -- offset 0: compared once for each row
    cross join lateral (select case when d.ids is not null then 'DUPLICATE'
      when ${differ(WRITTEN)} then 'CONTENT_DIFFERS' end as reason offset 0) f
  where d.ids is null or k.record_id = d.ids[1]`;

async function settleCreated(db: Queryable, run: Run, pass: number): Promise<void> {
  const rows = `select i.n, ${CUSTOMER} as client_id, i.label, i.fields
    from sent t join ${ORDERS} on i.run_id = $1 and i.n = t.n where t.action = 'create'`;
  await settleRows(db, run.id, { sql: FOUND(rows), values: [pass] });
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
  const givenUp = settled(`v.reason in ('GAVE_UP', 'NOT_RECOGNISED', 'NOT_IN_LIST')`);
  await reviseRows(db, run.id, { sql: FOUND(givenUp), values: [pass] });
  const doubled = settled(`(v.verdict = 'created' or v.reason in ('CONTENT_DIFFERS', 'DUPLICATE'))`);
  await reviseRows(db, run.id, {
    sql: `select s.n, 'review' as verdict, 'DUPLICATE' as reason, jsonb_build_object('what', 'order', 'ids', d.ids) as facts,
        coalesce(v.record_id, d.ids[1]) as record_id
      from doubled d join (${doubled}) s on s.client_id = d.client_id and s.label = d.label
        join ledger.verdicts v on v.run_id = $1 and v.n = s.n
      where v.facts->'ids' is distinct from to_jsonb(d.ids)`,
  });
}

/**
 * Missing although the read began late enough: sent again, unless the order may exist under another name, or the list
 * lacks many accepted rows. Then the list is not reliable, and sending again could create duplicates.
 */
function judgeMissing(db: Queryable, run: Run, options: SettleOptions): Promise<void> {
  const { pass, records, recordsBefore, isWhole, readAt, settleMs } = options;
  const come = records === undefined || recordsBefore === undefined ? null : records - recordsBefore;
  return decideMissing(db, run, readAt, {
    resource: 'orders',
    settleMs,
    judged: `found as (
       select count(*) as n from ledger.records
       where run_id = $1 and kind = 'order' and last_pass = $3 and first_pass > 0
     ), missing as (
       select n, state, sends, since <= $2 as is_late from sent where action = 'create'
     ), all_of_them as (
       select found.n as found, coalesce($5::bigint, found.n) > found.n as has_strangers,
         coalesce($5::bigint, found.n) < found.n as has_shrunk,
         (select count(*) from missing where state = 'acked' and is_late) as acked from found
     ), judged as (
       select m.n, case
         when m.sends >= $4 then 'GAVE_UP'
         when not $6 or a.has_shrunk or ${LACKS_MUCH('a.acked', 'a.found')} then 'NOT_IN_LIST'
         when m.state = 'acked' and a.has_strangers then 'NOT_RECOGNISED' end as reason
       from missing m, all_of_them a where m.is_late
     )`,
    values: [pass, MAX_SENDS, come, isWhole],
  });
}
