/** The rows of a load: staged while its file is read, decided, and read in pages for its results. */
import type pg from 'pg';
import { absenceAfterMs } from '../../../base/absence.ts';
import type { Facts } from '../../../base/reasons/reason.ts';
import type { Queryable, Stored } from '../../../storage/queryable.ts';
import { readCursor } from '../read-cursor.ts';
import type { RowState, Verdict } from '../rows.ts';
import { reopenRows, type Selection, unmatchRows } from '../transitions.ts';
import { MAY_EXIST, OPEN_REASON } from '../unsettled.ts';
import { applyOrderDecisions, IS_CREATION_DECIDED } from './apply-order-decisions.ts';

/** A row of a file, with the ledger's column names. */
export interface StagedOrder {
  /** The line where the row begins. */
  readonly n: number;
  /** `4-6`, for an order of several lines. */
  readonly source_id?: string | undefined;
  /**
   * The cells, or for an order of several lines each line with its cells (`FileLine`). JSON as text, because it may contain
   * characters that jsonb cannot store.
   */
  readonly cells: string;
  readonly label?: string | undefined;
  readonly client_id?: string | undefined;
  readonly email?: string | undefined;
  readonly phone?: string | undefined;
  readonly name?: string | undefined;
  readonly org?: string | undefined;
  readonly fields?: Readonly<Record<string, unknown>> | undefined;
  readonly customer?: Readonly<Record<string, unknown>> | undefined;
  /** Set if nothing is left to decide. */
  readonly verdict?: Verdict | undefined;
  readonly reason?: string | undefined;
  readonly facts?: Facts | undefined;
}

export interface FileLine {
  readonly line: number;
  readonly cells: readonly string[];
}

export interface LoadedRow {
  readonly line: number;
  /** One, or all lines of an order that has several. */
  readonly lines: readonly FileLine[];
  readonly label: string | undefined;
  readonly state: RowState;
  /** Undefined while the row is not decided. */
  readonly verdict: Verdict | undefined;
  readonly reason: string | undefined;
  readonly facts: Facts | undefined;
  /** The service's id of the order. */
  readonly recordId: string | undefined;
}

/** SQL: the customer of row `i`: its match `m`, otherwise the customer id of the file. */
export const CUSTOMER = 'coalesce(m.record_id, i.client_id)';

/** SQL: inputs `i` of any run, each with the match `m` of its customer. */
export const ORDERS = `ledger.inputs i
  left join ledger.matches m on m.run_id = i.run_id and m.n = i.n and m.kind = 'customer'`;

const HAS = (table: string) => `exists (select from ledger.${table} t where t.run_id = i.run_id and t.n = i.n)`;

/** SQL: row `i` is settled. */
export const IS_SETTLED = HAS('verdicts');

/** SQL: undecided rows of run `$1`, with their customer in `client_id`; `given_id` is the id from the file. */
export const STAGED = `select i.n, i.label, i.fields, i.customer, i.email, i.phone, i.name, i.org, i.client_id as given_id,
    ${CUSTOMER} as client_id
  from ${ORDERS} where i.run_id = $1 and not ${IS_SETTLED} and not ${HAS('plans')}`;

/**
 * SQL: rows `e` of earlier loads of scope `$2` with the label of row `s`, their customer, and the order that they have become; of dry runs
 * those whose order exists. `offset 0`: each step is looked up by an index, because joins would read all loads.
 */
export const EARLIER = (same: string): string => `(
  select e.* from (select i.run_id, i.email, i.phone, i.name, i.org, v.record_id, v.reason, v.facts, v.at,
      coalesce((select m.record_id from ledger.matches m where m.run_id = i.run_id and m.n = i.n and m.kind = 'customer' offset 0), i.client_id) as client_id
    from ledger.inputs i
      left join lateral (select v.record_id, v.reason, v.facts, v.at from ledger.verdicts v where v.run_id = i.run_id and v.n = i.n offset 0) v on true
    where i.label = s.label and i.cells is not null and i.run_id <> $1
      and exists (select from ledger.runs u where u.id = i.run_id and u.scope = $2 and u.job = 'orders' and (v.record_id is not null or not u.dry_run) offset 0) offset 0) e
  where ${same} offset 0)`;

/** Adds rows to a load that is being received; false if it is no longer received, and nothing was added. */
export async function stageOrders(db: Queryable, runId: string, rows: readonly StagedOrder[]): Promise<boolean> {
  const kept = await db.query(
    `with load as (
       select l.run_id from ledger.loads l join ledger.runs u on u.id = l.run_id
       where l.run_id = $1 and u.status = 'paused' and not l.is_received for share of u
     ), t as materialized (
       select t.* from load, json_to_recordset($2) t (n bigint, source_id text, cells text, label text, client_id text, email text, phone text,
         name text, org text, fields jsonb, customer jsonb, verdict text, reason text, facts jsonb)
     ), kept as (
       insert into ledger.inputs (run_id, n, source_id, cells, label, client_id, email, phone, name, org, fields, customer)
       select $1, n, source_id, cells::json, label, client_id, email, phone, name, org, fields, customer from t
     ), judged as (
       insert into ledger.verdicts (run_id, n, verdict, reason, facts)
       select $1, n, verdict, reason, facts from t where verdict is not null
     )
     select 1 from load`,
    [runId, JSON.stringify(rows)],
  );
  return kept.rowCount !== 0;
}

/** Copies the rows of a load that was received to a new load of the same file, undecided; run it in one transaction. */
export async function copyStaged(db: Queryable, from: string, to: string): Promise<void> {
  const copied = await db.query(
    `insert into ledger.inputs (run_id, n, source_id, cells, label, client_id, email, phone, name, org, fields, customer)
     select $2, n, source_id, cells, label, client_id, email, phone, name, org, fields, customer
     from ledger.inputs where run_id = $1 order by n`,
    [from, to],
  );
  await db.query(
    `insert into ledger.verdicts (run_id, n, verdict, reason, facts)
     select $2, n, case reason when 'DUP_IN_FILE' then 'existing' else verdict end, reason, facts - 'because'
     from ledger.verdicts where run_id = $1 and (verdict = 'invalid' or reason = 'DUP_IN_FILE') order by n`,
    [from, to],
  );
  await db.query('update ledger.runs set rows_seen = $2 where id = $1', [to, copied.rowCount]);
}

/** Whether anything is left to decide or to send. */
export async function isAnyUnsettled(db: Queryable, runId: string): Promise<boolean> {
  const found = await db.query(`select from ledger.inputs i where run_id = $1 and not ${IS_SETTLED} limit 1`, [runId]);
  return found.rowCount === 1;
}

/** Whether anything is left to decide. */
export async function isAnyStaged(db: Queryable, runId: string): Promise<boolean> {
  const found = await db.query(`select from (${STAGED}) s limit 1`, [runId]);
  return found.rowCount === 1;
}

export type StoredCells = readonly string[] | readonly FileLine[];
type StoredLoadedRow = Stored<Omit<LoadedRow, 'line' | 'lines'>> & {
  readonly line: number;
  readonly cells: StoredCells | null;
};

/** The lines of row `n` as they were staged. */
export function linesOf(n: number, stored: StoredCells): readonly FileLine[] {
  const lines = stored.flatMap((one) => (typeof one === 'string' ? [] : one));
  const cells = stored.flatMap((one) => (typeof one === 'string' ? one : []));
  return lines.length > 0 ? lines : [{ line: n, cells }];
}

/** All rows in the order of the file. */
export async function* loadedRows(pool: pg.Pool, runId: string): AsyncGenerator<LoadedRow> {
  const sql = `select n::float8 as line, cells, label, state, verdict, facts, record_id as "recordId",
      coalesce(reason, case when verdict is null then ${OPEN_REASON('n')} end) as reason
    from ledger.rows where run_id = $1 order by n`;
  for await (const { line, cells, label, state, verdict, ...more } of readCursor<StoredLoadedRow>(pool, sql, [runId])) {
    yield {
      line,
      lines: linesOf(line, cells ?? []),
      label: label ?? undefined,
      state: state ?? 'settled',
      verdict: verdict ?? undefined,
      reason: more.reason ?? undefined,
      facts: more.facts ?? undefined,
      recordId: more.recordId ?? undefined,
    };
  }
}

/** An order that a load would write, for a person to look at. */
export interface SampleOrder {
  readonly order: string;
  readonly amount: string | null;
  /** As the row names the customer: e-mail, phone, name, or id. */
  readonly customer: string | null;
}

/** The first orders that a load would write, or will write once it is approved. */
export async function stagedSample(db: Queryable, runId: string, limit: number): Promise<readonly SampleOrder[]> {
  const found = await db.query<SampleOrder>(
    `select coalesce(i.fields->>'order_id', i.label, i.n::text) as "order", i.fields->>'amount' as amount,
       coalesce(i.customer->>'email', i.customer->>'phone_number', i.customer->>'full_name', i.email, m.record_id, i.client_id) as customer
     from ledger.inputs i left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
       left join ledger.matches m on m.run_id = i.run_id and m.n = i.n and m.kind = 'customer'
     where i.run_id = $1 and (v.n is null or v.reason = 'PLANNED') order by i.n limit $2`,
    [runId, limit],
  );
  return found.rows;
}

/**
 * Rows to decide again. Not included: duplicates, and orders that were written with other content (CONTENT_DIFFERS), which
 * exist; and orders that the list cannot show, which may exist. They are included if a person decided to send one again.
 * Copies of a row follow it.
 */
const FAILED = (more = ''): Selection => ({
  sql: `select i.n, 'customer' as kind from ledger.inputs i
      left join ledger.verdicts v on v.run_id = i.run_id and v.n = i.n
    where i.run_id = $1 ${more} and (v.n is null or v.verdict in ('rejected', 'review', 'unknown'))
      and (coalesce(v.reason, '') not in ('DUPLICATE', 'CONTENT_DIFFERS', 'DUP_IN_FILE') and (coalesce(v.reason, '') not in ${MAY_EXIST}
          or exists (select from ledger.plans p where p.run_id = $1 and p.n = i.n and p.action = 'update'))
        or ${IS_CREATION_DECIDED('i.n')})`,
});

/**
 * Reopens the failed rows of a load, and counts the rows that are still settled. A customer found by name is looked up
 * again; an id from the file stays. Returns the number of reopened rows.
 */
export async function reopenOrders(db: Queryable, runId: string): Promise<number> {
  await unmatchRows(db, runId, FAILED('and i.customer is not null'));
  const reopened = await reopenRows(db, runId, FAILED());
  await applyOrderDecisions(db, runId);
  await db.query(
    `update ledger.runs set rows_settled = (select count(distinct a.n) from ledger.attempts a
       join ledger.verdicts v on v.run_id = a.run_id and v.n = a.n where a.run_id = $1 and a.sends > 0) where id = $1`,
    [runId],
  );
  return reopened;
}

/** Whether `reopenOrders` would reopen a row in review. */
export async function hasReviewToReopen(db: Queryable, runId: string): Promise<boolean> {
  const { sql } = FAILED("and v.verdict = 'review'");
  return (await db.query(`${sql} limit 1`, [runId])).rowCount !== 0;
}

/** Milliseconds until the earlier calls of a load's undecided rows have settled; 0 if they have. */
export async function sentBeforeUnsettledForMs(db: Queryable, runId: string, settleMs: number): Promise<number> {
  const found = await db.query<{ ms: number }>(
    `select coalesce(greatest(0, extract(epoch from max(i.at) - clock_timestamp()) * 1000 + $2), 0)::float8 as ms
     from ledger.attempts i where i.run_id = $1 and not ${IS_SETTLED} and not ${HAS('plans')}`,
    [runId, absenceAfterMs(settleMs)],
  );
  return found.rows[0]?.ms ?? 0;
}
