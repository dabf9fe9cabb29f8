/** The orders of a list that a load asks for: those whose key it holds, and those that an audit is owed for. */
import { addNote, type Queryable, type Run } from '../runs.ts';
import { keyScopeOf } from './order-keys.ts';

export interface SeenOrder {
  readonly recordId: string;
  readonly clientId: string | undefined;
  readonly label: string;
  /** The label came as a number: zeros before it are lost. */
  readonly isNumber: boolean;
  readonly fields: Readonly<Record<string, string>>;
}

/** Which read keeps them. `isAudit`: audits are due. */
export interface KeepingOrders {
  readonly run: Run;
  readonly pass: number;
  readonly isAudit: boolean;
}

export interface OrderKey {
  readonly clientId: string;
  readonly label: string;
}

const KEYS_AT_ONCE = 10_000;

/** The keys of all orders that `keepOrders` may keep, a batch at a time. */
export async function* wantedOrders(
  db: Queryable,
  { run, isAudit }: Omit<KeepingOrders, 'pass'>,
): AsyncGenerator<readonly OrderKey[]> {
  for (let after: OrderKey | undefined; ; ) {
    const page = await db.query<OrderKey>(
      `select client_id as "clientId", label from ledger.order_keys
       where scope = $1 and run_id = $2 and ($3::text is null or (client_id, label) > ($3, $4::text))
       order by client_id, label limit ${KEYS_AT_ONCE}`,
      [keyScopeOf(run), run.id, after?.clientId ?? null, after?.label ?? null],
    );
    yield page.rows;
    after = page.rows.at(-1);
    if (page.rows.length < KEYS_AT_ONCE) break;
  }
  if (!isAudit) return;
  const owed = await db.query<OrderKey>(
    `select client_id as "clientId", label from ledger.audit_debts
     where scope = $1 and resource = 'orders' and paid_at is null and client_id is not null and label is not null`,
    [run.scope],
  );
  yield owed.rows;
}

/**
 * Keeps the orders among these that the load asks for, under the key it knows them by: a service that makes a number of an
 * order_id shows 0012 as 12. One whose order_id is a key in other letters is kept under its own, and counted in the
 * answer. Safe to repeat. Each key is looked up by itself: an `exists` would be joined, and go through all keys of a large
 * load for every batch. Orders that are kept for an audit alone are of the baseline's pass, whenever they are seen: the
 * load has not created them.
 */
export async function keepOrders(
  db: Queryable,
  { run, pass, isAudit }: KeepingOrders,
  orders: readonly SeenOrder[],
): Promise<number> {
  const distinct = [...new Map(orders.map((order) => [order.recordId, order])).values()];
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
      keyScopeOf(run),
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
export async function takeOtherLetters(db: Queryable, run: Run, pass: number): Promise<void> {
  const taken = await db.query<{ asked: string; shown: string }>(
    `update ledger.records r set label = k.label from ledger.order_keys k
     where r.run_id = $1 and r.kind = 'order' and r.last_pass = $2 and r.name is not null and k.scope = $3 and k.run_id = $1
       and k.client_id = r.client_id and lower(k.label) = lower(r.name)
       and not exists (select from ledger.records e where e.run_id = $1 and e.kind = 'order' and e.last_pass = $2
         and e.client_id = r.client_id and e.label = k.label and e.name is null)
     returning k.label as asked, r.name as shown`,
    [run.id, pass, keyScopeOf(run)],
  );
  const [first] = taken.rows;
  if (first)
    await addNote(db, run.id, `the service shows order_ids in other letters, such as ${first.asked} as ${first.shown}`);
}

/** SQL: the orders of a debt, by its key. */
export const SAME_ORDER = `select d.run_id, d.source_id, k.record_id from due d join ledger.records k
  on k.run_id = $1 and k.last_pass = $2 and k.client_id = d.client_id and k.label = d.label`;
