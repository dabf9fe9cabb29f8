/** The orders of a list that a load needs: orders whose key it holds, and orders with a due audit. */
import type { Queryable } from '../../../storage/queryable.ts';
import { prepareSetWork } from '../match-index.ts';
import { addNote, type Run } from '../runs.ts';
import { keyScopeOf } from './order-keys.ts';

export interface SeenOrder {
  readonly recordId: string;
  readonly clientId: string | undefined;
  readonly label: string;
  /** The label came as a number: leading zeros are lost. */
  readonly isNumber: boolean;
  readonly fields: Readonly<Record<string, string>>;
  /** It existed before the run sent anything. */
  readonly isOld: boolean;
}

/** The read that stores them. `isAudit`: audits are due. */
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
      [keyScopeOf(run), run.id, after?.clientId, after?.label],
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
 * Stores orders as the service shows them. After the read, `takeAsked` decides which of them the load needs. `isListed`:
 * false for orders that were read by their ids. Safe to repeat.
 */
export async function keepOrders(
  db: Queryable,
  { run, pass }: KeepingOrders,
  orders: readonly SeenOrder[],
  { isListed = true }: { readonly isListed?: boolean } = {},
): Promise<void> {
  const distinct = new Map<string, object>();
  for (const { recordId, clientId, label, isNumber, fields, isOld } of orders)
    distinct.set(recordId, {
      record_id: recordId,
      client_id: clientId,
      label,
      is_number: isNumber,
      fields,
      is_old: isOld,
    });
  await db.query(
    `insert into ledger.records (run_id, kind, record_id, client_id, label, is_number, fields, first_pass, last_pass, is_listed)
     select $1, 'order', record_id, client_id, label, is_number, fields, case when is_old then 0 else $2 end, $2, $4
     from json_to_recordset($3) t (record_id text, client_id text, label text, is_number bool, fields jsonb, is_old bool)
     on conflict (run_id, kind, record_id) do update set last_pass = excluded.last_pass, client_id = excluded.client_id,
       label = excluded.label, is_number = excluded.is_number, name = null, fields = excluded.fields, is_listed = excluded.is_listed`,
    [run.id, pass, JSON.stringify([...distinct.values()]), isListed],
  );
}

/** SQL: the same for labels that differ only in case, spaces, punctuation (of ASCII, dashes and quotes) or Unicode form, as services change them. */
export const spelling = (label: string): string =>
  `nullif(trim(lower(regexp_replace(normalize(${label}, nfkc), '[\\s!-/:-@[-\`{-~\\u2010-\\u201F\\u2212]+', ' ', 'g'))), '')`;

/** SQL: whether a customer's id is a UUID, which a service may show in capitals here and in small letters there. */
const IS_UUID = (id: string) => `(length(${id}) = 36 and ${id} ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$')`;

/**
 * Assigns the load's keys to the stored orders, and deletes old orders that are not needed; a new order may be one of the
 * load's under another label. A service that turns an order_id into a number shows 0012 as 12, and a service may change its
 * spelling (o-1 to O-1, #1001 to 1001). Such an order counts as the row's if no order has exactly its key; otherwise the row
 * would be sent again. `name` stores the spelling of the service. Orders that
 * only an audit needs belong to the baseline's pass, because the load has not created them.
 */
export async function takeAsked(db: Queryable, { run, pass, isAudit }: KeepingOrders): Promise<void> {
  await prepareSetWork(db, run.id, 'records');
  await db.query(
    `update ledger.records r set client_id = k.client_id
     from (select client_id from ledger.order_keys where scope = $3 and run_id = $1
       union select client_id from ledger.audit_debts where scope = $4 and resource = 'orders' and paid_at is null) k
     where r.run_id = $1 and r.kind = 'order' and r.last_pass = $2 and ${IS_UUID('r.client_id')} and ${IS_UUID('k.client_id')}
       and lower(r.client_id) = lower(k.client_id) and r.client_id <> k.client_id`,
    [run.id, pass, keyScopeOf(run), run.scope],
  );
  const taken = await db.query<{ asked: string; shown: string | null }>(
    `with shown as materialized (
       select r.record_id, r.client_id, r.label, r.is_number from ledger.records r
       where r.run_id = $1 and r.kind = 'order' and r.last_pass = $2 and not exists (select from ledger.order_keys k
         where k.scope = $3 and k.run_id = $1 and k.client_id = r.client_id and k.label = r.label)
     ), near as materialized ( -- a spelling costs several times as much as the rest of this statement
       select k.client_id, k.label, ${spelling('k.label')} as spelling from ledger.order_keys k
       where k.scope = $3 and k.run_id = $1 and k.client_id in (select client_id from shown where not is_number)
     ), owed as materialized (
       select client_id, label from ledger.audit_debts d
       where $5 and d.scope = $4 and d.resource = 'orders' and d.paid_at is null
     ), asked as materialized (
       select distinct on (record_id) * from (
         select s.record_id, 'number' as by, k.label, false as is_there from shown s join ledger.order_keys k
           on k.scope = $3 and k.run_id = $1 and k.client_id = s.client_id and ltrim(k.label, '0') = s.label
         where s.is_number and k.label ~ '^0+[0-9]+$'
         union all select s.record_id, 'other spelling', k.label, e.record_id is not null from shown s join near k
             on k.client_id = s.client_id and k.spelling = ${spelling('s.label')}
           left join ledger.records e on e.run_id = $1 and e.kind = 'order' and e.last_pass = $2 and e.client_id = k.client_id
             and e.label = k.label
         where not s.is_number
         union all select s.record_id, 'owed', d.label, false from shown s join owed d on d.client_id = s.client_id and (d.label = s.label
             or (s.is_number and d.label ~ '^0+[0-9]+$' and ltrim(d.label, '0') = s.label))
         union all select s.record_id, 'owed in other spelling', d.label, e.record_id is not null from shown s join owed d
             on d.client_id = s.client_id and ${spelling('d.label')} = ${spelling('s.label')}
           left join shown e on e.client_id = d.client_id and e.label = d.label
         where not s.is_number) each
       order by record_id, array_position(array['number', 'other spelling', 'owed', 'owed in other spelling'], by), is_there
     ), forgotten as (
       delete from ledger.records r using shown s where r.run_id = $1 and r.kind = 'order' and r.record_id = s.record_id
         and r.first_pass = 0 and s.record_id not in (select record_id from asked)
     )
     update ledger.records r set label = case when a.is_there then r.label else a.label end,
       name = case by when 'other spelling' then r.label end, first_pass = case when by like 'owed%' then 0 else r.first_pass end
     from asked a where r.run_id = $1 and r.kind = 'order' and r.record_id = a.record_id
     returning r.label as asked, r.name as shown`,
    [run.id, pass, keyScopeOf(run), run.scope, isAudit],
  );
  const spelt = taken.rows.filter(({ asked, shown }) => shown !== null && shown !== asked);
  const visible = spelt.find(({ asked, shown }) => asked.normalize() !== shown?.normalize());
  const [hidden] = spelt;
  const how = visible
    ? `spelling, such as ${visible.asked} as ${visible.shown}`
    : `Unicode form, such as ${hidden?.asked}`;
  if (hidden) await addNote(db, run.id, `the service shows order_ids in another ${how}`);
}

/** SQL: the orders of a debt, by its key. */
export const SAME_ORDER = `select d.run_id, d.source_id, k.record_id from due d join ledger.records k
  on k.run_id = $1 and k.last_pass = $2 and k.client_id = d.client_id and k.label = d.label`;
