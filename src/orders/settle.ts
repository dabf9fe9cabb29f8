/**
 * Settles what was sent, from one read of the orders: each row is looked for by its key, gets the id that create did not
 * answer, and is held against what the order says. Orders that the baseline saw are none of this run's.
 */
import { absenceAfterMs } from '../absence.ts';
import { prepareSetWork } from '../engine/ledger/records.ts';
import { MAX_SENDS } from '../engine/ledger/rows.ts';
import type { Queryable, Run } from '../engine/ledger/runs.ts';
import {
  decideMissing,
  gatherSent,
  LACKS_MUCH,
  rejectRefused,
  repeatUpdates,
  type Settled,
  whatIsOpen,
} from '../engine/ledger/settling.ts';
import { differences } from './differences.ts';
import type { OrdersRead } from './read-orders.ts';

export interface SettleOptions extends OrdersRead {
  /** The pass of the read, as kept with the records. */
  readonly pass: number;
  /** How many orders there were before the first write, as far as is known. */
  readonly recordsBefore: number | undefined;
  /** How long the service may take to commit or show a request (assumptions A1 and A2). */
  readonly settleMs: number;
}

/** Settles; to be run in one transaction, safe to repeat with the same or a later read. */
export async function settleOrders(db: Queryable, run: Run, options: SettleOptions): Promise<Settled> {
  await prepareSetWork(db, run.id, 'records');
  await gatherSent(db, run.id);
  await repeatUpdates(db, run.id);
  await settleUpdated(db, run, options);
  await settleFound(db, run, options.pass);
  await reportDoubled(db, run, options.pass);
  if (options.isWhole) await rejectRefused(db, run.id);
  await judgeMissing(db, run, options);
  return whatIsOpen(db, run.id, options.settleMs);
}

/** What an update should have brought in line stands so; a list that lags is given its time first. */
async function settleUpdated(db: Queryable, run: Run, options: SettleOptions): Promise<void> {
  await db.query(
    `with judged as (
       select s.source_id, k.record_id as there, ${differences(['amount', 'status'])} as how,
         s.since + $4 * interval '1 ms' <= $3 as is_late
       from ledger.rows s
         left join ledger.records k on k.run_id = $1 and k.record_id = s.record_id and k.last_pass = $2
       where s.run_id = $1 and s.action = 'update' and s.state = 'acked'
     )
     update ledger.rows s set state = 'settled',
       verdict = case when there is not null and how = '' then 'updated' else 'review' end,
       reason = case when there is null then 'ORDER_GONE' when how <> '' then 'CONTENT_DIFFERS' end,
       detail = case when there is null then format('order %s was updated, and the list does not show it', s.record_id)
         when how <> '' then format('order %s was updated and says otherwise: %s', there, how) end
     from judged where s.run_id = $1 and s.source_id = judged.source_id and (is_late or (there is not null and how = ''))`,
    [run.id, options.pass, options.readAt, absenceAfterMs(options.settleMs)],
  );
}

/** Rows that are there once. What was given up is looked at again: it may have come later than the service promised. */
async function settleFound(db: Queryable, run: Run, pass: number): Promise<void> {
  await db.query(
    `with doubled as (${DOUBLED}), found as (
       select s.n, k.record_id, ${differences(['amount', 'status'])} as how
       from ledger.rows s join ledger.records k on k.client_id = s.client_id and k.label = s.label
       where s.run_id = $1 and s.action = 'create' and (s.state in ('acked', 'unknown') or s.reason in (${GIVEN_UP}))
         and k.run_id = $1 and k.last_pass = $2
         and not exists (select 1 from doubled d where d.client_id = k.client_id and d.label = k.label)
     )
     update ledger.rows s set state = 'settled', record_id = found.record_id,
       verdict = case when how = '' then 'created' else 'review' end,
       reason = case when how <> '' then 'CONTENT_DIFFERS' end,
       detail = case when how <> '' then format('order %s was created and says otherwise: %s', found.record_id, how) end
     from found where s.run_id = $1 and s.n = found.n`,
    [run.id, pass],
  );
}

/** Rows that are there more than once, settled ones too: a second order may have come late. */
async function reportDoubled(db: Queryable, run: Run, pass: number): Promise<void> {
  await db.query(
    `with doubled as (${DOUBLED}), there as (
       select k.client_id, k.label, min(k.record_id) as record_id,
         array_to_string((array_agg(k.record_id order by length(k.record_id), k.record_id))[1:10], ', ') as ids
       from ledger.records k join doubled d on d.client_id = k.client_id and d.label = k.label
       where k.run_id = $1 and k.last_pass = $2 group by k.client_id, k.label
     )
     update ledger.rows s set state = 'settled', record_id = coalesce(s.record_id, k.record_id),
       verdict = 'review', reason = 'DUPLICATE',
       detail = format('it is there more than once: orders %s; remove what is too many by hand', k.ids)
     from there k
     where s.run_id = $1 and s.action = 'create' and s.client_id = k.client_id and s.label = k.label
       and (s.state in ('acked', 'unknown') or s.verdict = 'created'
         or s.reason in (${GIVEN_UP}, 'CONTENT_DIFFERS', 'DUPLICATE'))`,
    [run.id, pass],
  );
}

const DOUBLED = `select client_id, label from ledger.records where run_id = $1 and last_pass = $2 and label is not null
  group by client_id, label having count(*) > 1`;
const GIVEN_UP = `'GAVE_UP', 'NOT_RECOGNISED', 'NOT_IN_LIST'`;

/**
 * Absent although the read began late enough: sent again, unless it may be there under another name, or the list lacks much
 * of what the service took, which says more about the list than about the rows. Sending again would double them.
 */
function judgeMissing(db: Queryable, run: Run, options: SettleOptions): Promise<void> {
  const { pass, records, recordsBefore, isWhole, readAt, settleMs } = options;
  const come = records === undefined || recordsBefore === undefined ? null : records - recordsBefore;
  return decideMissing(db, run, readAt, {
    resource: 'orders',
    settleMs,
    judged: `found as (
       select count(*) as n from ledger.records where run_id = $1 and last_pass = $3 and first_pass > 0
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
