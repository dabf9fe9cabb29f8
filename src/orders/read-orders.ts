/** One read of all orders, of which those are kept whose keys a load holds: its baseline, and every read-back. */

import { behind } from '../behind.ts';
import { amountOf, idOf, isJsonObject, type Json, type JsonObject, memberNamed } from '../client/dialect.ts';
import { textOf } from '../customers/keys.ts';
import { areAuditsDue } from '../engine/ledger/debts.ts';
import { beginRead } from '../engine/ledger/records.ts';
import { addNote, type Queryable, type Run, recordProgress } from '../engine/ledger/runs.ts';
import { ledgerNow } from '../engine/ledger/set-clock.ts';
import type { Account } from '../worker/accounts.ts';
import { payAudits } from '../worker/audits.ts';
import type { Exclusive } from '../worker/exclusive.ts';
import type { JobContext } from '../worker/job.ts';
import { checkShape } from '../worker/shapes.ts';
import { RunFailed } from '../worker/trouble.ts';
import { readWholeList } from '../worker/whole-list.ts';
import { withoutId } from '../worker/without-id.ts';
import { openWitnesses } from '../worker/witnessing.ts';
import { keyScopeOf } from './keys.ts';

export interface OrdersRead {
  /** When the read began, on the database's clock. */
  readonly readAt: Date;
  /** How many orders there are in all; undefined where the list came in pages. */
  readonly records: number | undefined;
  /** What the list does not show is not there: its pages are proven, and its witnesses are in it. */
  readonly isWhole: boolean;
}

/** @throws Stop; RunFailed SERVICE_UNREADABLE where no order of the list says whose it is, or what it is called */
export async function readOrders(
  context: JobContext<unknown>,
  exclusive: Exclusive,
  pass: number,
): Promise<OrdersRead> {
  const { pool, run, account, signal } = context;
  const readAt = await ledgerNow(pool);
  await exclusive.transaction((db) => beginRead(db, run.id, { kind: 'order', pass }));
  const isAudit = await areAuditsDue(pool, run, 'orders', readAt);
  const scope = keyScopeOf(run);
  const says = { orders: false, customers: false, labels: false };
  const keeping = behind();
  const witnesses = await openWitnesses(context, 'orders');
  let seen: SeenOrder[] = [];
  let hasOtherLetters = false;
  const keep = async () => {
    const orders = seen;
    seen = [];
    const ids = orders.map(({ recordId }) => recordId);
    await keeping.begin(
      async () => {
        const inOtherLetters = await exclusive.transaction((db) =>
          keepOrders(db, { run, scope, pass, isAudit }, orders),
        );
        hasOtherLetters ||= inOtherLetters > 0;
      },
      ids, // an order that moves from page to page comes again
    );
  };
  const read = await readWholeList(account, 'orders.getall', {
    lane: run.lane,
    signal,
    onCalls: (made) => recordProgress(pool, run.id, made),
    onRecords: async (batch) => {
      const orders = batch.map((record) => toSeenOrder(record, account));
      for (const [i, { recordId }] of orders.entries()) witnesses.note(recordId, batch[i] ?? null);
      says.orders ||= orders.length > 0;
      says.customers ||= orders.some(({ clientId }) => clientId !== undefined);
      says.labels ||= batch.some((record) => isJsonObject(record) && memberNamed(record, LABEL_NAMES) !== undefined);
      seen.push(...orders);
      if (seen.length >= KEPT_AT_ONCE) await keep();
    },
  });
  await keep();
  await keeping.end();
  if (hasOtherLetters) await exclusive.transaction((db) => takeOtherLetters(db, run, pass));
  if (read.shape) await checkShape(context, 'orders', read.shape);
  if (says.orders && !says.customers) throw unreadable(account, 'customer', CUSTOMER_NAMES);
  if (says.orders && !says.labels) throw unreadable(account, 'order_id', LABEL_NAMES);
  const isProven = read.scan === undefined || read.scan.proof !== 'unproven';
  if (read.scan) {
    const why = read.scan.reasons.length === 0 ? '' : `: ${read.scan.reasons.join('; ')}`;
    await addNote(pool, run.id, `the list of orders came in pages; scan of orders ${read.scan.proof}${why}`);
  }
  const isWhole = (await witnesses.isWhole()) && isProven;
  const audit = { resource: 'orders', pass, readAt, isComplete: isWhole, matches: SAME_ORDER } as const;
  if (isAudit) await payAudits(context, exclusive, audit);
  return { readAt, records: read.records, isWhole };
}

const SAME_ORDER = `select d.run_id, d.source_id, k.record_id from due d join ledger.records k
  on k.run_id = $1 and k.last_pass = $2 and k.client_id = d.client_id and k.label = d.label`;

/** Each transaction costs four round trips. */
const KEPT_AT_ONCE = 4_000;

interface SeenOrder {
  readonly recordId: string;
  readonly clientId: string | undefined;
  readonly label: string;
  /** The label came as a number: zeros before it are lost. */
  readonly isNumber: boolean;
  readonly fields: Readonly<Record<string, string>>;
}

/**
 * Keeps the orders among these that the load asks for, under the key it knows them by: a service that makes a number of an
 * order_id shows 0012 as 12. One whose order_id is a key in other letters is kept under its own, and counted in the
 * answer. Safe to repeat. Each key is looked up by itself: an `exists` would be joined, and go through all keys of a large
 * load for every batch. Orders that are kept for an audit alone are of the baseline's pass, whenever they are seen: the
 * load has not created them.
 */
async function keepOrders(
  db: Queryable,
  { run, scope, pass, isAudit }: { run: Run; scope: string; pass: number; isAudit: boolean },
  orders: readonly SeenOrder[],
): Promise<number> {
  const named = orders.filter(({ clientId, label }) => clientId !== undefined && label !== '');
  const distinct = [...new Map(named.map((order) => [order.recordId, order])).values()];
  if (distinct.length === 0) return 0;
  const column = <K extends keyof SeenOrder>(name: K) => distinct.map((order) => order[name]);
  const kept = await db.query<{ n: number }>(
    `with asked as materialized (select t.*, coalesce(
         (select k.label from ledger.order_keys k
          where k.scope = $7 and k.client_id = t.client_id and k.label = t.label and k.run_id = $1),
         case when t.is_number then (select k.label from ledger.order_keys k
           where k.scope = $7 and k.client_id = t.client_id and k.run_id = $1
             and k.label ~ '^0+[0-9]+$' and ltrim(k.label, '0') = t.label limit 1) end) as held,
         lower(t.label) <> upper(t.label) and exists (select from ledger.order_keys k
           where k.scope = $7 and k.client_id = t.client_id and lower(k.label) = lower(t.label) and k.run_id = $1 offset 0)
           as is_known,
         case when $9 then (select d.label from ledger.audit_debts d where d.scope = $10 and d.resource = 'orders'
           and d.paid_at is null and d.client_id = t.client_id and (d.label = t.label
             or (t.is_number and d.label ~ '^0+[0-9]+$' and ltrim(d.label, '0') = t.label)) limit 1) end as owed
       from unnest($3::text[], $4::text[], $5::text[], $6::jsonb[], $8::bool[]) t (record_id, client_id, label, fields, is_number)
     ), kept as (
       insert into ledger.records (run_id, kind, record_id, client_id, label, name, fields, first_pass, last_pass)
       select $1, 'order', record_id, client_id, coalesce(held, owed, label), case when held is null and is_known then label end, fields,
         case when held is null and not is_known then 0 else $2 end, $2
       from asked where held is not null or is_known or owed is not null
       on conflict (run_id, kind, record_id) do update set last_pass = excluded.last_pass, client_id = excluded.client_id,
         label = excluded.label, name = excluded.name, fields = excluded.fields
       returning name
     )
     select count(name)::int as n from kept`,
    [
      run.id,
      pass,
      column('recordId'),
      column('clientId'),
      column('label'),
      distinct.map(({ fields }) => JSON.stringify(fields)),
      scope,
      column('isNumber'),
      isAudit,
      run.scope,
    ],
  );
  return kept.rows[0]?.n ?? 0;
}

/**
 * A service may write an order_id in other letters than it was sent in (o-1 as O-1): such an order is taken for the row's
 * where none has exactly its key. Not found, the row would be sent again. `name` keeps what the service shows.
 */
async function takeOtherLetters(db: Queryable, run: Run, pass: number): Promise<void> {
  const taken = await db.query<{ asked: string; shown: string }>(
    `update ledger.records r set label = k.label from ledger.order_keys k
     where r.run_id = $1 and r.last_pass = $2 and r.name is not null and k.scope = $3 and k.run_id = $1
       and k.client_id = r.client_id and lower(k.label) = lower(r.name)
       and not exists (select from ledger.records e where e.run_id = $1 and e.last_pass = $2
         and e.client_id = r.client_id and e.label = k.label and e.name is null)
     returning k.label as asked, r.name as shown`,
    [run.id, pass, keyScopeOf(run)],
  );
  const [first] = taken.rows;
  if (first)
    await addNote(db, run.id, `the service shows order_ids in other letters, such as ${first.asked} as ${first.shown}`);
}

function toSeenOrder(record: Json, account: Account): SeenOrder {
  const recordId = idOf(record, 'orders', account.dialect);
  if (recordId === undefined || !isJsonObject(record)) throw withoutId('order', record, account);
  const label = memberNamed(record, LABEL_NAMES);
  const value = label === undefined ? undefined : record[label];
  return {
    recordId,
    clientId: customerIdOf(record),
    label: textOf(value),
    isNumber: typeof value === 'number',
    fields: fieldsOf(record),
  };
}

/** The contract's name first, then what other services may call it; in lower case, as names are compared without case. */
const CUSTOMER_NAMES = ['client_id', 'customer_id', 'clientid', 'customerid'];
const OWNER_NAMES = ['client', 'customer'];

function customerIdOf(record: JsonObject): string | undefined {
  for (const name of CUSTOMER_NAMES) {
    const member = memberNamed(record, [name]);
    const id = member === undefined ? '' : textOf(record[member]);
    if (id !== '') return id;
  }
  for (const name of OWNER_NAMES) {
    const owner = record[memberNamed(record, [name]) ?? ''];
    const member = isJsonObject(owner) ? memberNamed(owner, ['id']) : undefined;
    const id = isJsonObject(owner) && member !== undefined ? textOf(owner[member]) : '';
    if (id !== '') return id;
  }
  return undefined;
}

const LABEL_NAMES = ['order_id', 'orderid'];

/** What it says, in one spelling; what it does not say is left out. */
function fieldsOf({ amount, status, description }: JsonObject): Readonly<Record<string, string>> {
  const said = { amount: amountOf(amount) ?? '', status: textOf(status), description: textOf(description) };
  return Object.fromEntries(Object.entries(said).filter(([, value]) => value !== ''));
}

function unreadable({ name }: Account, what: string, names: readonly string[]): RunFailed {
  return new RunFailed(
    'SERVICE_UNREADABLE',
    `The service of account "${name}" lists orders without their ${what} (members looked for: ${names.join(', ')}): ` +
      'what was created could not be told from what is missing, so nothing is sent.',
  );
}
