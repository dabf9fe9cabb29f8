/**
 * What a person has seen of the writes that a run plans, as fingerprints: of the source of each row, and of its write with
 * the record that it changes. A bound run compares its own writes with them and leaves out every other write.
 */
import type { Queryable } from '../../../storage/queryable.ts';
import type { Run } from '../runs.ts';
import { settleRows } from '../transitions.ts';
import { FOUND_BY } from './differences.ts';
import { CUSTOMER, ORDERS } from './staged-orders.ts';

const HASH = (...parts: readonly string[]) =>
  `sha256(convert_to(jsonb_build_array(${parts.join(', ')})::text, 'utf8'))`;

/** SQL: a part of one of these loads has created the customer of row `i`. */
const IS_MADE_BY = (loads: string) => `m.record_id in (select made.record_id from ledger.runs c
    join ledger.verdicts made on made.run_id = c.id
    where ${loads} and made.verdict = 'created' and made.record_id is not null)`;

/** SQL: the customer of row `i`, unless a part of the run created it: its id was not known when it was shown. */
const KNOWN_CUSTOMER = `case when ${IS_MADE_BY('c.part_of = $1')} then null else ${CUSTOMER} end`;

const WRITE = (customer: string) =>
  HASH(`coalesce(p.action, 'create')`, 'p.record_id', customer, 'p.fields', 'k.fields');

/** SQL: the write as it was shown before another load created the customer of row `i`. */
const EARLIER_WRITE = `case when ${IS_MADE_BY('c.part_of is not null and c.scope = u.scope')} then ${WRITE('null')} end`;

/**
 * SQL: the writes of run `$1` that are not sent. An order that is not planned yet, because it waits for its customer or its
 * key, counts as a creation.
 */
const WRITES = (earlier = '') => `
  select i.n, coalesce(i.source_id, i.n::text) as source_id, p.n is not null or ${CUSTOMER} is null as is_decided,
    ${HASH('i.label', 'i.hash', 'i.fields', 'i.client_id', 'i.email', 'i.customer')} as source,
    ${WRITE(KNOWN_CUSTOMER)} as write,${earlier}
    k.fields as present
  from ledger.runs u join ${ORDERS} on i.run_id = u.id
    left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
    left join ledger.plans p on p.run_id = i.run_id and p.n = i.n
    left join ledger.records k on p.action = 'update' and k.run_id = i.run_id and k.record_id = p.record_id
      and k.kind = case u.job when 'orders' then 'order' else 'customer' end
  where u.id = $1 and (v.n is null or v.reason = 'PLANNED')
    and (p.n is null or p.n >= u.next_n or exists (select from ledger.again g where g.run_id = p.run_id and g.n = p.n))`;

/** SQL: row `w` of the run was shown as `s`. */
const SHOWN = 's.run_id = $1 and s.source_id = w.source_id';

/** SQL: what has changed since row `w` was shown as `s`. */
const MOVED = `case when s.n is null then null when s.source <> w.source then '{"ownContent": true}'::jsonb
    when s.was <> w.present then jsonb_build_object('changed', (
      select jsonb_agg(key order by key) from jsonb_each(s.was) a full join jsonb_each(w.present) b using (key)
      where a.value is distinct from b.value))
    else '{"otherRecord": true}' end`;

/** Stores what the run would write, and names it. Runs in the transaction of its decision, while the records that it read exist. */
export async function keepShown(db: Queryable, { id }: Pick<Run, 'id'>): Promise<void> {
  await db.query('delete from ledger.shown where run_id = $1', [id]);
  await db.query(
    `insert into ledger.shown (run_id, n, source_id, source, write, was)
     select $1, n, source_id, source, write, present from (${WRITES()}) w order by n`,
    [id],
  );
  await db.query('update ledger.runs set plan_id = left(gen_random_uuid()::text, 8) where id = $1', [id]);
  await reopenDecisions(db, id, 'v.n is null');
}

/**
 * Settles rows of a bound run whose write was not shown: their source or record has changed since, or they are new. A customer
 * that the run would have created, and that another load has created since, is the one that was shown. Runs in the transaction
 * of the decision. Returns how many.
 */
export async function leaveOutUnshown(db: Queryable, { id }: Pick<Run, 'id'>): Promise<number> {
  const leftOut = await settleRows(db, id, {
    sql: `select w.n, 'rejected' as verdict, case when s.n is null then 'NOT_IN_PLAN' else 'PLAN_MOVED' end as reason,
        ${MOVED} as facts, null::text as record_id
      from (${WRITES(` ${EARLIER_WRITE} as earlier,`)}) w left join ledger.shown s on ${SHOWN}
      where w.is_decided and (s.source, s.write) is distinct from (w.source, w.write)
        and (s.source, s.write) is distinct from (w.source, w.earlier)`,
  });
  if (leftOut > 0) await reopenDecisions(db, id, `v.reason in ('NOT_IN_PLAN', 'PLAN_MOVED')`);
  return leftOut;
}

/** How many writes were shown that the run does not plan: their source is gone, or they are not needed any more. */
export async function countNotNeeded(db: Queryable, { id }: Pick<Run, 'id'>): Promise<{ shown: number; left: number }> {
  const counted = await db.query<{ shown: number; left: number }>(
    `select count(*)::int as shown, (count(*) filter (where p.n is null))::int as left
     from ledger.shown s left join ledger.inputs i on i.run_id = $1 and coalesce(i.source_id, i.n::text) = s.source_id
       left join ledger.plans p on p.run_id = $1 and p.n = i.n
     where s.run_id = $1`,
    [id],
  );
  return counted.rows[0] ?? { shown: 0, left: 0 };
}

/** A decision of a person whose row is not sent now is in force again. `rows`: SQL over the row's verdict `v`. */
async function reopenDecisions(db: Queryable, runId: string, rows: string): Promise<void> {
  await db.query(
    `update ledger.decisions d set applied_at = null, applied_by = null
     from ledger.inputs i join ledger.plans p on p.run_id = i.run_id and p.n = i.n
       left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
     where d.kind = 'contact' and d.applied_by = $1 and i.run_id = $1 and i.source_id = d.subject and ${rows}`,
    [runId],
  );
}

/** A write for people to read. */
export interface ShownWrite {
  readonly n: number;
  readonly source: string;
  readonly label: string | null;
  /** Not known to be an update, nor which record, while the run awaits approval: it decides again afterwards. */
  readonly action: 'import' | 'create' | 'update';
  /** The record to update. */
  readonly record: string | null;
  readonly fields: Readonly<Record<string, unknown>>;
  /** The present fields of the record to update; null for a new record. */
  readonly was: Readonly<Record<string, unknown>> | null;
  /** For an order: its customer, or the fields of the customer that is created first. */
  readonly customer: string | Readonly<Record<string, unknown>> | null;
  /** For an order: the e-mail, phone or name of its customer in the file. */
  readonly customerName: string | null;
}

const PAGE = 1_000;

/** The writes of a dry run that has stored them, in the order of its rows. */
export async function* shownWrites(db: Queryable, runId: string): AsyncGenerator<ShownWrite> {
  for (let after: number | undefined; ; ) {
    const page = await pageOfShown(db, runId, { after, limit: PAGE });
    yield* page;
    after = page.at(-1)?.n;
    if (page.length < PAGE) return;
  }
}

interface WhichWrites {
  /** Only updates, or only the others. Default: all. */
  readonly areUpdates?: boolean;
  /** The row after which they begin. */
  readonly after?: number | undefined;
  readonly limit: number;
}

/** The writes that a run has shown, in the order of its rows. */
export async function pageOfShown(
  db: Queryable,
  runId: string,
  { areUpdates, after = -1, limit }: WhichWrites,
): Promise<readonly ShownWrite[]> {
  const found = await db.query<ShownWrite>(
    `select s.n::float8 as n, s.source_id as source, i.label, coalesce(p.action, 'create') as action,
       p.record_id as record, coalesce(p.fields, i.fields) as fields, s.was,
       case when u.job = 'orders' then coalesce(to_jsonb(${CUSTOMER}), i.customer) end as customer,
       case when u.job = 'orders' then coalesce(i.email, i.phone, i.customer->>'full_name', i.name) end as "customerName"
     from ledger.runs u join ledger.shown s on s.run_id = u.id join ${ORDERS} on i.run_id = s.run_id and i.n = s.n
       left join ledger.plans p on p.run_id = s.run_id and p.n = s.n
     where u.id = $1 and s.n > $2 and ($3::boolean is null or (s.was is not null) = $3) order by s.n limit $4`,
    [runId, after, areUpdates, limit],
  );
  return found.rows;
}

/** How many of the writes that a person saw change an existing record. */
export async function countShownUpdates(db: Queryable, runId: string): Promise<number> {
  const counted = await db.query<{ n: number }>(
    'select count(*)::int as n from ledger.shown where run_id = $1 and was is not null',
    [runId],
  );
  return counted.rows[0]?.n ?? 0;
}

export interface ShownChange {
  readonly field: string;
  /** Absent if the record has no such field yet, or is created. */
  readonly from?: unknown;
  readonly to: unknown;
}

/** What a write sets: of an update, only what differs from the record. */
export function changesIn({ fields, was }: ShownWrite): readonly ShownChange[] {
  return Object.entries(fields)
    .filter(([field, to]) => was === null || (field !== FOUND_BY && was[field] !== to))
    .map(([field, to]) => (was?.[field] === undefined ? { field, to } : { field, from: was[field], to }));
}
